"""OnDisk."""

import copy
import os
from numbers import Integral

import numpy as np

from favard import _core


class OnDisk:
    """A sparse matrix that stays in its file.

    :class:`favard.PCA`, :class:`favard.TruncatedSVD` and :class:`favard.LeastSquares` work on it
    without loading it: each pass over the data reads the file once, a part of the rows after the other, the next while this one
    is worked on. Memory does not grow with the file.

    Parameters
    ----------
    path : str or path-like
        A CSR matrix written by ``scipy.sparse.save_npz(path, X, compressed=False)``, or an AnnData
        ``.h5ad`` file whose X is CSR.
    dtype : {float64, float32}, default=float64
        The type in which the numbers are worked on, whatever the file has.
    part_entries : int, default=4194304
        Entries that are held at a time, twice; the default is 96 MiB for float64.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    nnz : int
        Stored entries.
    row_names, column_names : list of str or None
        The names of ``obs`` and ``var``, where the file has them.

    Notes
    -----
    Ctrl-C stops a fit after the pass that is under way. The entries are checked when they are read:
    what is wrong with them is an error of the fit.

    Examples
    --------
    >>> import tempfile, os, favard, numpy as np
    >>> from scipy.sparse import random_array, save_npz
    >>> X = random_array((1000, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npz")
    ...     save_npz(path, X, compressed=False)
    ...     pca = favard.PCA(n_components=3).fit(favard.OnDisk(path))
    >>> np.allclose(pca.explained_variance_, favard.PCA(n_components=3).fit(X).explained_variance_)
    True
    """

    ndim = 2

    def __init__(self, path, dtype=np.float64, part_entries=1 << 22):
        dtype = _float(dtype)
        if not isinstance(part_entries, Integral) or part_entries < 1:
            raise ValueError(f"part_entries must be an int of at least 1, got {part_entries!r}")
        self.path = os.path.abspath(os.fspath(path))
        self.dtype = dtype
        self.part_entries = int(part_entries)
        self.shape, self.nnz, self.row_names, self.column_names = _core.disk(self.path)

    def astype(self, dtype):
        """The same matrix, worked on in another type.

        Parameters
        ----------
        dtype : {float64, float32}
            The type.

        Returns
        -------
        X : OnDisk
            The matrix.
        """
        other = copy.copy(self)
        other.dtype = _float(dtype)
        return other

    def _core(self):
        """What the core takes."""
        return "disk", self.shape, self.path, self.part_entries, np.empty(0, self.dtype)

    def __repr__(self):
        rows, columns = self.shape
        return f"<OnDisk {rows} x {columns}, {self.nnz} entries of {self.path!r}>"


def _float(dtype):
    """A type in which numbers can be worked on."""
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype}")
    return dtype


def _check_sparse(X):
    """Before scikit-learn has SciPy convert it."""
    from favard._data import check_pointers, is_sparse

    if is_sparse(X):
        check_pointers(X)


def check_dense(y):
    """``TypeError`` for sparse targets, which scikit-learn lets through where there may be several."""
    from favard._data import is_sparse

    if is_sparse(y):
        raise TypeError(
            "Sparse data was passed for y, but dense data is required. Use '.toarray()' to convert "
            "to a dense numpy array."
        )


def _is_ready(X, options):
    """Whether ``validate_data`` would give a sparse X back as it is.

    It takes a fifth of a millisecond to find out, most of it in search of a data frame.
    """
    from favard._data import is_sparse

    known = {
        "accept_sparse",
        "dtype",
        "ensure_min_samples",
        "ensure_min_features",
        "ensure_all_finite",
    }
    if not is_sparse(X) or X.ndim != 2 or options.keys() - known:
        return False
    rows, columns = X.shape
    return (
        X.format in options.get("accept_sparse", ())
        and X.dtype in options.get("dtype", ())
        and X.dtype.isnative
        and options.get("ensure_all_finite", True) is False
        and rows >= options.get("ensure_min_samples", 1)
        and columns >= options.get("ensure_min_features", 1)
    )


def checked(estimator, X, **options):
    """X as ``validate_data`` gives it; one in its file as it is, with as many columns as fitted."""
    if not isinstance(X, OnDisk):
        from sklearn.utils.validation import validate_data

        _check_sparse(X)
        if not _is_ready(X, options):
            return validate_data(estimator, X, **options)
    rows, columns = X.shape
    name = type(estimator).__name__
    least = (options.get("ensure_min_samples", 1), options.get("ensure_min_features", 1))
    for what, found, need in (("sample", rows, least[0]), ("feature", columns, least[1])):
        if found < need:
            raise ValueError(
                f"Found array with {found} {what}(s) (shape={X.shape}) while a minimum of {need} is "
                f"required by {name}."
            )
    if options.get("reset", True):
        estimator.n_features_in_ = columns
        # Those of an earlier fit.
        vars(estimator).pop("feature_names_in_", None)
    elif columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {columns} features, but {name} is expecting {estimator.n_features_in_} features "
            "as input."
        )
    return X


def checked_pair(estimator, X, y, **options):
    """The same for data with targets."""
    from sklearn.utils.validation import check_array, check_consistent_length, validate_data

    check_dense(y)
    if not isinstance(X, OnDisk):
        _check_sparse(X)
        return validate_data(estimator, X, y, **options)
    y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", estimator=estimator)
    check_consistent_length(X, y)
    return checked(estimator, X, **options), y
