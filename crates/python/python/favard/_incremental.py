"""IncrementalPCA."""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils.validation import assert_all_finite, validate_data

from favard import _core
from favard._common import check_number, tolerance
from favard._components import Components, complete
from favard._data import FLOATS, check_pointers, core_matrix, is_sparse
from favard._info import Info
from favard._progress import watcher


class IncrementalPCA(Components):
    """Principal components of rows that come in batches, dense or sparse, in bounded memory.

    In place of ``sklearn.decomposition.IncrementalPCA``. More directions are kept than are asked
    for, and it is known how much is thrown away: ``info_.residuals`` is a bound on the error of
    every component.

    There is one method, so no ``solver``. Columns are not scaled: their deviations are known only
    after the last batch, and what was thrown away before was chosen without them. Rows are not
    weighted either, for the state counts them; a row of weight 3 can be given three times.

    Parameters
    ----------
    n_components : int, default=None
        How many; for None the smaller side of the first batch.
    whiten : bool, default=False
        Whether scores are divided by their standard deviations.
    copy : bool, default=True
        Without effect: the data is never overwritten.
    batch_size : int, default=None
        Rows of a batch in ``fit``; ``5 * n_features`` for None.
    n_oversamples : int, default=10
        How many more directions are kept than are asked for.
    tol : float, default=1e-6
        The error, relative to the largest variance, up to which the result counts as certified.
    callback : callable, default=None
        Called as ``callback(tick, passes, residual)`` after every batch: how many there were, the
        passes over the rows seen, and the bound on the error. When it returns true ``fit`` stops,
        and keeps what it has.
    verbose : int, default=0
        Whether progress is shown.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, \
n_components_, noise_variance_
        As for :class:`favard.PCA`.
    var_ : ndarray of shape (n_features,)
        The variance of each column, divided by the number of rows.
    n_samples_seen_ : int
        Rows seen.
    batch_size_ : int
        Rows of a batch.
    info_ : Info
        What it cost, and what is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import IncrementalPCA
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> pca = IncrementalPCA(n_components=2)
    >>> for rows in np.array_split(X, 5):
    ...     pca = pca.partial_fit(rows)
    >>> pca.n_samples_seen_, pca.components_.shape
    (300, (2, 8))
    """

    def __init__(
        self, n_components=None, *, whiten=False, copy=True, batch_size=None, n_oversamples=10,
        tol=1e-6, callback=None, verbose=0,
    ):
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.n_oversamples = n_oversamples
        self.tol = tol
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y=None):
        """Fit the components to X, a batch at a time.

        After Ctrl-C, or an exception of the callback, the components of the batches before are
        kept, and ``info_.stop`` is ``'cancelled'``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data.
        y : Ignored

        Returns
        -------
        self : object
            The estimator.
        """
        before = dict(vars(self))
        check_number(self, "batch_size", 1, kind=Integral, optional=True)
        X = self._validated(X, first=True, least=2)
        self._stream = None
        if is_sparse(X):
            # Once for all batches: rows of a matrix stored by columns are found by reading all of it.
            X = X.tocsr()
        self.n_samples_seen_ = 0
        n_samples, n_features = X.shape
        self.batch_size_ = 5 * n_features if self.batch_size is None else self.batch_size
        least = self.n_components or 0
        with watcher(type(self).__name__, self.verbose, self.callback) as watch:
            batches = gen_batches(n_samples, self.batch_size_, min_batch_size=least)
            for tick, batch in enumerate(batches, 1):
                if self._step(X[batch], tick, watch.callback, before):
                    break
            if watch.callback is None:
                self._keep()
            watch.info = self.info_
        return self

    def _step(self, X, tick, callback, before):
        """Takes a batch in and tells the callback; whether that wants no more.

        After an error in the data the estimator is as it was before.
        """
        try:
            self._absorb(X)
        except KeyboardInterrupt:
            if self._stream is not None:
                self._keep("cancelled")
            raise
        except Exception:
            vars(self).clear()
            vars(self).update(before)
            raise
        if callback is None:
            return False
        self._keep("cancelled")  # unless the callback returns
        stop = bool(callback(tick, self.info_.passes, self._bound()))
        self.info_ = replace(self.info_, stop="requested" if stop else "exhausted")
        return stop

    def _bound(self):
        return float(self.info_.residuals.max(initial=0.0))

    def partial_fit(self, X, y=None, check_input=True):
        """Take the rows of a batch in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch. Sparse batches stay sparse. One row alone has no variance: until the second
            one the variances are zero, and ``info_.certified`` is false.
        y : Ignored
        check_input : bool, default=True
            Whether the batch is checked.

        Returns
        -------
        self : object
            The estimator.
        """
        first = getattr(self, "_stream", None) is None
        X = self._validated(X, first, least=1) if check_input else X
        with watcher(type(self).__name__, self.verbose, self.callback) as watch:
            self._absorb(X)
            self._keep()
            watch.info = self.info_
            if watch.callback is not None:
                watch.callback(1, self.info_.passes, self._bound())
        return self

    def _validated(self, X, first, least):
        check_number(self, "n_components", 1, kind=Integral, optional=True)
        check_number(self, "n_oversamples", 0, kind=Integral)
        check_number(self, "tol", 0)
        if is_sparse(X):
            check_pointers(X, indices=True)
        return validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            reset=first,
            ensure_min_samples=least,
            ensure_all_finite=False,
        )

    def _absorb(self, X):
        stream = getattr(self, "_stream", None)
        count = self._count(X.shape, stream is None)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        if stream is None:
            tol = tolerance(self.tol, False, dtype, X.shape[1])
            stream = _core.Stream(count, self.n_oversamples, tol, dtype == np.float32)
        elif stream.is_single() != (dtype == np.float32):
            # The precision of the first batch.
            X = X.astype(np.float32 if stream.is_single() else np.float64)
        if is_sparse(X) and X.format == "csc":
            X = X.tocsr()
        try:
            stream.partial_fit(core_matrix(X))
        except ValueError as error:
            if "not finite" in str(error):
                assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise
        self._stream = stream
        self.n_components_ = count
        if stream.rows() == 1:
            self.mean_ = (X.toarray() if is_sparse(X) else np.array(X))[0]

    def _count(self, shape, first):
        """The number of components, with scikit-learn's words where it is wrong."""
        (n_samples, n_features), count = shape, self.n_components
        if count is None:
            return min(shape) if first else self.n_components_
        if not 1 <= count <= n_features:
            raise ValueError(
                f"n_components={count} invalid for n_features={n_features}, need more rows than "
                "columns for IncrementalPCA processing"
            )
        if first and count > n_samples:
            raise ValueError(
                f"n_components={count} must be less or equal to the batch number of samples "
                f"{n_samples} for the first partial_fit call."
            )
        if not first and count != self.n_components_:
            raise ValueError(
                f"Number of input features has changed from {self.n_components_} to {count} "
                "between calls to partial_fit! Try setting n_components to a fixed value."
            )
        return count

    def _keep(self, stop=None):
        """Sets the fitted attributes; `stop` is what ended the batches before their time."""
        if self._stream.rows() == 1:
            return self._keep_one(stop)
        found = self._stream.snapshot()
        dtype = np.float32 if self._stream.is_single() else np.float64
        ended = {} if stop is None else {"stop": stop}
        self.info_ = Info.of(found["info"], solver="stream", **ended)
        self.components_ = found["components"]
        self.explained_variance_ = found["explained_variance"].astype(dtype, copy=False)
        self.explained_variance_ratio_ = found["explained_variance_ratio"].astype(dtype, copy=False)
        self.singular_values_ = found["singular_values"].astype(dtype, copy=False)
        self.mean_ = found["mean"].astype(dtype, copy=False)
        self.var_ = found["variances"].astype(dtype, copy=False)
        self.n_samples_seen_ = found["rows"]
        self.noise_variance_ = found["noise_variance"]

    def _keep_one(self, stop):
        """The fitted attributes after one row, which has a mean and nothing else."""
        count, dim, dtype = self.n_components_, len(self.mean_), self.mean_.dtype
        self.info_ = Info(
            stop=stop or "exhausted",
            iterations=1,
            applications=1,
            passes=1.0,
            history=np.zeros((0, 4)),
            tolerance=tolerance(self.tol, False, dtype, dim),
            residuals=np.zeros(count),
            solver="stream",
            reason="one row has no variance",
        )
        self.components_ = complete(np.zeros((0, dim), dtype), count)
        for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
            setattr(self, name, np.zeros(count, dtype))
        self.var_ = np.zeros(dim, dtype)
        self.n_samples_seen_ = 1
        self.noise_variance_ = 0.0
