"""PhaseRetrieval."""

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from favard import _core
from favard._common import check_name, check_number, run, seed_of
from favard._data import FLOATS, check_pointers, core_matrix, is_sparse
from favard._operator import Source
from favard._stages import finish, joined


class PhaseRetrieval(RegressorMixin, BaseEstimator):
    """The real signal x, up to its sign, behind intensities ``y_i = (a_i @ x)**2``.

    A spectral start, then Wirtinger flow with momentum. Whether the signal was found is what the
    recomputed residual says: ``info_.certified``.

    Parameters
    ----------
    tol : float, default=1e-8
        The residual ``|| (A x)**2 - y || / ||y||`` asked for. With noise the run also ends where
        no direction improves the fit. float32 holds about 1e-6.
    max_iter : int, default=10000
        Steps of the descent at most.
    spectral : {'momentum', 'chebyshev', 'power'}, default='momentum'
        The recurrence of the start.
    spectral_tol : float, default=1e-3
        The relative residual at which the start is good enough.
    spectral_max_iter : int, default=300
        Products for the start at most.
    momentum : bool, default=True
        Whether the descent has momentum.
    random_state : int, RandomState instance or None, default=None
        The seed of the start. None is always the same one.
    callback, verbose
        As for :class:`favard.PCA`.

    Attributes
    ----------
    signal_ : ndarray of shape (n_features,)
        The signal. Its entry of largest absolute value is positive.
    residual_ : float
        ``|| (A x)**2 - y || / ||y||``, recomputed.
    n_features_in_, n_iter_ : int
        Counts.
    info_ : Info
        Why it stopped, what it cost, and what is proved.
    spectral_info_ : Info
        The same of the start alone.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import PhaseRetrieval
    >>> rng = np.random.default_rng(0)
    >>> A, x = rng.normal(size=(200, 20)), rng.normal(size=20)
    >>> model = PhaseRetrieval().fit(A, (A @ x) ** 2)
    >>> model.info_.certified
    True
    >>> x *= np.sign(x[np.argmax(abs(x))])
    >>> bool(np.max(abs(model.signal_ - x)) < 1e-6)
    True
    """

    def __init__(
        self,
        *,
        tol=1e-8,
        max_iter=10_000,
        spectral="momentum",
        spectral_tol=1e-3,
        spectral_max_iter=300,
        momentum=True,
        random_state=None,
        callback=None,
        verbose=0,
    ):
        self.tol = tol
        self.max_iter = max_iter
        self.spectral = spectral
        self.spectral_tol = spectral_tol
        self.spectral_max_iter = spectral_max_iter
        self.momentum = momentum
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, A, y, *, start=None):
        """Find the signal.

        Parameters
        ----------
        A : {array-like, sparse matrix, LinearOperator} of shape (n_samples, n_features)
            The measurements, one a row.
        y : array-like of shape (n_samples,)
            The intensities, not negative; at least ``2 n_features - 1`` of them.
        start : array-like of shape (n_features,), default=None
            A signal to start at, an earlier one say; then there is no spectral start.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check()
        source, y, check = self._measurements(A, y)
        n_samples, n_features = len(y), self.n_features_in_
        if n_samples < 2 * n_features - 1:
            raise ValueError(
                f"n_samples={n_samples} intensities do not determine a signal: a minimum of "
                f"{2 * n_features - 1} is required for {n_features} feature(s)"
            )
        if start is not None:
            start = np.ascontiguousarray(start, dtype=y.dtype)
        problem = {
            "spectral": self.spectral,
            "spectral_tolerance": float(self.spectral_tol),
            "momentum": bool(self.momentum),
            "tolerance": float(self.tol),
            "products": int(self.spectral_max_iter),
            "iterations": int(self.max_iter),
            "seed": seed_of(self.random_state),
        }
        found, _ = run(self, _core.phase, check, source, y, problem, start=start)
        self.spectral_info_, self.info_ = joined(self, found)
        self.signal_ = found["signal"]
        self.residual_ = float(self.info_.residuals[0])
        self.n_iter_ = max(1, self.info_.iterations)
        finish(self, found)
        return self

    def _check(self):
        check_name(self, "spectral", ("momentum", "chebyshev", "power"))
        check_number(self, "tol", 0)
        check_number(self, "spectral_tol", 0)
        check_number(self, "max_iter", 0, kind=Integral)
        check_number(self, "spectral_max_iter", 1, kind=Integral)

    def _measurements(self, A, y):
        """The measurements and intensities for the core, and what to check when it says NaN."""
        if _is_operator(A):
            source, dtype = _operator(A)
            y = np.asarray(y).ravel()
            if np.iscomplexobj(y):
                raise TypeError("PhaseRetrieval: complex intensities are not supported")
            y = np.require(y, dtype, "AC")
            self.n_features_in_ = source[1][1]
            return source, y, y[:, None]
        if is_sparse(A):
            check_pointers(A)
        A, y = validate_data(self, A, y, accept_sparse=("csr", "csc"), dtype=FLOATS, y_numeric=True)
        return core_matrix(A), np.require(y, A.dtype, "AC"), A

    def predict(self, A):
        """Predict intensities.

        Parameters
        ----------
        A : {array-like, sparse matrix} of shape (n_samples, n_features)
            Measurements.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            ``(A @ signal_)**2``.
        """
        check_is_fitted(self)
        A = validate_data(self, A, accept_sparse=("csr", "csc"), dtype=FLOATS, reset=False)
        if A.dtype != self.signal_.dtype:
            A = A.astype(np.result_type(A.dtype, self.signal_.dtype))
        signal = np.ascontiguousarray(self.signal_[:, None], dtype=A.dtype)
        return _core.multiply(core_matrix(A), signal)[:, 0] ** 2

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True
        return tags


def _is_operator(A):
    """Whether A is known by its products alone."""
    return hasattr(A, "matvec") and not hasattr(A, "__array__")


def _operator(A):
    """A linear operator as the core takes it."""
    source = Source(A, booleans=True)
    if source.is_complex:
        raise TypeError("PhaseRetrieval: complex operators are not supported")
    return source.core(), source.real
