"""MatrixCompletion."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from favard import _core
from favard._common import check_name, check_number, run, seed_of
from favard._data import FLOATS, check_pointers, core_sparse, float_type, is_sparse
from favard._stages import finish, joined


class MatrixCompletion(BaseEstimator):
    """The matrix of low rank that agrees with the entries that are known.

    A spectral start, then the heavy ball on the factors. Some of the entries are kept aside and
    never fitted: the error on them says whether the matrix was completed or only interpolated.

    Parameters
    ----------
    rank : int
        The rank.
    symmetric : bool, default=False
        Whether the matrix is symmetric; one triangle or both may then be given.
    held_out : float, default=0.05
        The share of the entries that is kept aside; 0 for none.
    tol : float, default=1e-8
        The residual ``||P(U S V.T - M)|| / ||P(M)||`` over the known entries asked for. With noise
        the run also ends where no direction improves the fit. float32 holds about 1e-6.
    max_iter : int, default=10000
        Steps of the descent at most.
    spectral : {'auto', 'exact', 'variance-reduced'}, default='auto'
        How the start is found: with all entries every step, or with batches of them.
    spectral_tol : float, default=1e-2
        The relative residual at which the start is good enough.
    spectral_max_iter : int, default=100
        Products for the start at most.
    batch_size, epoch : int, default=None
        Entries of a batch and steps of an epoch for ``spectral='variance-reduced'``; planned
        unless both are given.
    momentum : bool, default=True
        Whether the descent has momentum.
    random_state : int, RandomState instance or None, default=None
        The seed of the start, the batches and of what is kept aside. None is always the same one.
    callback, verbose
        As for :class:`favard.PCA`.

    Attributes
    ----------
    left_ : ndarray of shape (n_rows, rank)
        Orthonormal left factors.
    singular_values_ : ndarray of shape (rank,)
        The singular values, the largest first.
    right_ : ndarray of shape (n_columns, rank)
        Orthonormal right factors.
    shape_ : (int, int)
        The shape of the matrix.
    held_out_error_ : float or None
        The relative error on the entries that were kept aside; None if there are none.
    n_held_out_ : int
        How many they are.
    undetermined_rows_, undetermined_columns_ : ndarray of int
        Rows and columns with fewer entries than the rank: their predictions are not determined.
    n_iter_ : int
        Steps of both stages.
    info_ : Info
        Why it stopped, what it cost, and the residual, recomputed.
    spectral_info_ : Info
        The same of the start alone.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import MatrixCompletion
    >>> rng = np.random.default_rng(0)
    >>> M = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    >>> rows, cols = np.nonzero(rng.random(M.shape) < 0.6)
    >>> model = MatrixCompletion(rank=2).fit((rows, cols, M[rows, cols]), shape=M.shape)
    >>> model.info_.certified, model.held_out_error_ < 1e-6
    (True, True)
    >>> bool(abs(model.predict(0, 0) - M[0, 0]) < 1e-6)
    True
    """

    def __init__(
        self,
        rank,
        *,
        symmetric=False,
        held_out=0.05,
        tol=1e-8,
        max_iter=10_000,
        spectral="auto",
        spectral_tol=1e-2,
        spectral_max_iter=100,
        batch_size=None,
        epoch=None,
        momentum=True,
        random_state=None,
        callback=None,
        verbose=0,
    ):
        self.rank = rank
        self.symmetric = symmetric
        self.held_out = held_out
        self.tol = tol
        self.max_iter = max_iter
        self.spectral = spectral
        self.spectral_tol = spectral_tol
        self.spectral_max_iter = spectral_max_iter
        self.batch_size = batch_size
        self.epoch = epoch
        self.momentum = momentum
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y=None, *, shape=None):
        """Complete the matrix.

        Parameters
        ----------
        X : sparse matrix, (rows, columns, values), or array-like of shape (n_rows, n_columns)
            The known entries: those that a sparse matrix stores (a stored zero is a known zero),
            lists of places and values, or an array in which NaN means missing.
        y : Ignored
        shape : (int, int), default=None
            The shape, for lists; the smallest that holds them for None.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check()
        entries = _entries(X, shape)
        problem = {
            "rank": int(self.rank),
            "symmetric": bool(self.symmetric),
            "held_out": float(self.held_out),
            "spectral": self.spectral,
            "spectral_tolerance": float(self.spectral_tol),
            "momentum": bool(self.momentum),
            "tolerance": float(self.tol),
            "products": int(self.spectral_max_iter),
            "iterations": int(self.max_iter),
            "seed": seed_of(self.random_state),
            "batch": self.batch_size,
            "epoch": self.epoch,
        }
        found, _ = run(self, _core.completion, entries[4][:, None], entries, problem)
        self.spectral_info_, self.info_ = joined(self, found)
        self.left_, self.right_ = found["left"], found["right"]
        self.singular_values_ = found["values"]
        self.shape_ = (len(self.left_), len(self.right_))
        self.held_out_error_ = found["held_out_error"]
        self.n_held_out_ = found["held_out_entries"]
        rows, columns = found["undetermined"]
        self.undetermined_rows_ = np.array(rows, dtype=np.intp)
        self.undetermined_columns_ = np.array(columns, dtype=np.intp)
        self.n_iter_ = self.info_.iterations
        finish(self, found)
        return self

    def _check(self):
        check_name(self, "spectral", ("auto", "exact", "variance-reduced"))
        check_number(self, "rank", 1, kind=Integral)
        check_number(self, "tol", 0)
        check_number(self, "spectral_tol", 0)
        check_number(self, "max_iter", 0, kind=Integral)
        check_number(self, "spectral_max_iter", 1, kind=Integral)
        check_number(self, "batch_size", 1, kind=Integral, optional=True)
        check_number(self, "epoch", 1, kind=Integral, optional=True)
        share = self.held_out
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 <= share < 1:
            raise ValueError(
                "The 'held_out' parameter of MatrixCompletion must be a float in the range "
                f"[0, 1). Got {share!r} instead."
            )

    def predict(self, rows, columns):
        """Predict entries.

        Parameters
        ----------
        rows, columns : int or array-like of int
            Where; broadcast against each other.

        Returns
        -------
        values : scalar or ndarray
            The entries of the completed matrix.
        """
        check_is_fitted(self)
        rows = _places(rows, self.shape_[0], "rows")
        columns = _places(columns, self.shape_[1], "columns")
        rows, columns = np.broadcast_arrays(rows, columns)
        values = self._at(rows, columns)
        if self.symmetric:
            values = (values + self._at(columns, rows)) / 2
        return values[()]

    def _at(self, rows, columns):
        left = self.left_[rows] * self.singular_values_
        return np.einsum("...k,...k->...", left, self.right_[columns])

    def predict_row(self, row):
        """Predict a row.

        Parameters
        ----------
        row : int
            Which.

        Returns
        -------
        values : ndarray of shape (n_columns,)
            The row of the completed matrix.
        """
        check_is_fitted(self)
        return self.predict(row, np.arange(self.shape_[1]))

    def score(self, rows, columns, values):
        """The relative error on entries that were not fitted, negated: larger is better.

        Parameters
        ----------
        rows, columns : array-like of int
            Where.
        values : array-like
            The true entries.

        Returns
        -------
        score : float
            ``-||prediction - values|| / ||values||``.
        """
        values = np.asarray(values, dtype=np.float64)
        error = np.linalg.norm(self.predict(rows, columns) - values)
        return -float(error / np.linalg.norm(values))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _entries(X, shape):
    """The known entries as a sparse matrix for the core."""
    if isinstance(X, tuple) and len(X) == 3 and not all(np.ndim(part) == 0 for part in X):
        return _lists(*X, shape)
    if shape is not None and (is_sparse(X) or np.ndim(X) == 2) and tuple(shape) != np.shape(X):
        raise ValueError(f"shape: expected {np.shape(X)}, found {tuple(shape)}")
    if is_sparse(X):
        check_pointers(X)
        # Every stored entry is known. SciPy would add up the ones that are given twice.
        X = X if X.format in ("csr", "csc", "coo") else X.tocoo()
        X = check_array(X, accept_sparse=True, dtype=FLOATS, input_name="X")
        if X.format in ("csr", "csc") and X.has_canonical_format:
            return core_sparse(X)
        X = X.tocoo()
        return _lists(*X.coords, X.data, X.shape)
    X = check_array(X, dtype=FLOATS, ensure_all_finite="allow-nan", input_name="X")
    rows, columns = np.nonzero(~np.isnan(X))
    return _lists(rows, columns, X[rows, columns], X.shape)


def _lists(rows, columns, values, shape):
    values = check_array(values, ensure_2d=False, dtype=FLOATS, input_name="values")
    if values.ndim != 1:
        raise ValueError(f"values: expected 1D array, got {values.ndim}D array instead")
    if shape is None:
        sides = (rows, columns)
        shape = tuple(int(np.max(part)) + 1 if np.size(part) else 0 for part in sides)
    bound = tuple(int(side) for side in shape)
    if len(bound) != 2 or min(bound) < 1:
        raise ValueError(f"shape: expected two positive numbers, found {tuple(shape)}")
    rows = np.ravel(_places(rows, bound[0], "rows"))
    columns = np.ravel(_places(columns, bound[1], "columns"))
    parts = _core.completion_entries(
        bound,
        np.ascontiguousarray(rows, dtype=np.int64),
        np.ascontiguousarray(columns, dtype=np.int64),
        np.require(values, float_type(values.dtype), "AC"),
    )
    return ("csr", bound, *parts)


def _places(index, bound, name):
    """Indices that are integers within a bound."""
    index = np.asarray(index)
    if index.dtype.kind not in "iu":
        if index.dtype.kind != "f" or index.size and not np.all(index == np.floor(index)):
            raise TypeError(f"{name}: indices must be integers, got {index.dtype}")
        index = index.astype(np.int64)
    outside = (index < 0) | (index >= bound)
    if np.any(outside):
        found = np.ravel(index)[np.flatnonzero(outside)[0]]
        raise ValueError(f"{name}: index {found} is outside of the {bound} that there are")
    return index
