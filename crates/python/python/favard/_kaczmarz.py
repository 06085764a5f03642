"""Kaczmarz."""

from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from favard import _core
from favard._common import check_name, check_number, finish, run, seed_of, tolerance
from favard._data import FLOATS, check_pointers, core_matrix, is_sparse
from favard._info import Info
from favard._on_disk import check_dense


@dataclass(frozen=True, eq=False, repr=False)
class RowsInfo(Info):
    """What a run over rows reports.

    Attributes
    ----------
    rows_read : int
        Rows that were read, those of the checks included.
    misfits : ndarray
        ``||X coef - y|| / ||y||`` of each right-hand side, recomputed.
    """

    rows_read: int = 0
    misfits: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Kaczmarz(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A linear system by projections onto its rows, averaged or in blocks, with momentum.

    Rows are drawn with probabilities proportional to their squared norms. Of a consistent system
    the solution of smallest norm is found; of one without a solution, with
    ``method='least-squares'``, the one of least squares. There is no intercept.

    Parameters
    ----------
    method : {'averaged', 'blocks', 'least-squares'}, default='averaged'
        The average of the projections onto the rows of a batch, the projection onto all equations
        of a block at once, or variance-reduced steps for systems that have no solution.
    batch_size : int, default=1
        Rows of a batch or block.
    momentum : {'auto', False} or float, default='auto'
        Chosen for the spectrum and the batch, none, or given. One that diverges in mean square is
        refused, with the batch from which it does not.
    relaxation : float, default=1.0
        The step, where the momentum is given.
    bounds : (float, float), default=None
        The ends of the spectrum of ``X.T @ X / ||X||_F**2``; estimated from a sample of the rows
        for None.
    tol : float, default=None
        ``||X coef - y|| / ||y||`` asked for, or the certificate of least squares,
        ``||X.T r|| / (||X|| ||r||)``. None is 1e-8, or rounding where float32 does not hold that; 0
        is rounding.
    max_iter : int, default=1000
        Passes' worth of rows at most.
    random_state : int, RandomState instance or None, default=None
        The seed of the sampling. None is always the same one.
    callback, verbose
        As for :class:`favard.PCA`; the residual is an estimate of ``||X coef - y|| / ||y||``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The solution.
    spectrum_ : (float, float) or None
        The ends of the spectrum that were used.
    n_features_in_, n_iter_ : int
        Counts.
    info_ : RowsInfo
        Why it stopped, the rows that were read, and what is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import Kaczmarz
    >>> A = np.random.default_rng(0).normal(size=(5000, 10))
    >>> model = Kaczmarz(batch_size=32, tol=1e-10).fit(A, A @ np.arange(10.0))
    >>> model.info_.certified, bool(abs(model.coef_[7] - 7) < 1e-8)
    (True, True)
    >>> model.info_.rows_read > 0
    True
    """

    def __init__(
        self,
        *,
        method="averaged",
        batch_size=1,
        momentum="auto",
        relaxation=1.0,
        bounds=None,
        tol=None,
        max_iter=1000,
        random_state=None,
        callback=None,
        verbose=0,
    ):
        self.method = method
        self.batch_size = batch_size
        self.momentum = momentum
        self.relaxation = relaxation
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y):
        """Solve ``X @ coef_ = y``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The right-hand sides.

        Returns
        -------
        self : object
            The estimator.
        """
        given = self._check()
        check_dense(y)
        if is_sparse(X):
            check_pointers(X, indices=True)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            multi_output=True,
            y_numeric=True,
        )
        rhs = np.require(y.reshape(len(y), -1), X.dtype, "A")
        problem = {
            "blocks": self.method == "blocks",
            "inconsistent": self.method == "least-squares",
            "batch": int(self.batch_size),
            "momentum": self.momentum is not False,
            "given": given,
            "bounds": None if self.bounds is None else tuple(map(float, self.bounds)),
            "tolerance": tolerance(self.tol, False, X.dtype, X.shape[1], default=1e-8),
            "passes": float(self.max_iter),
            "seed": seed_of(self.random_state),
        }
        found, _ = run(self, _core.kaczmarz, X, core_matrix(X), rhs, problem)
        self.info_ = RowsInfo.of(found["info"], solver=self.method)
        self.coef_ = found["x"][0] if y.ndim == 1 else found["x"]
        self.spectrum_ = found["spectrum"]
        self.n_iter_ = max(1, self.info_.iterations)
        finish(self, found)
        return self

    def _check(self):
        """Checks the parameters; relaxation and momentum where they are given."""
        check_name(self, "method", ("averaged", "blocks", "least-squares"))
        check_number(self, "batch_size", 1, kind=Integral)
        check_number(self, "relaxation", 0)
        check_number(self, "tol", 0, optional=True)
        check_number(self, "max_iter", 1, kind=Integral)
        if self.bounds is not None and len(self.bounds) != 2:
            raise ValueError(f"bounds must be (low, high) or None, got {self.bounds!r} instead")
        momentum = self.momentum
        if momentum is False or isinstance(momentum, str) and momentum == "auto":
            return None
        if not isinstance(momentum, Real) or isinstance(momentum, bool):
            raise ValueError(
                "The 'momentum' parameter of Kaczmarz must be 'auto', False or a float. Got "
                f"{momentum!r} instead."
            )
        return float(self.relaxation), float(momentum)

    def predict(self, X):
        """Predict right-hand sides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, reset=False)
        factors = np.atleast_2d(self.coef_).T
        if X.dtype != factors.dtype:
            X = X.astype(np.result_type(X.dtype, factors.dtype))
        factors = np.ascontiguousarray(factors, dtype=X.dtype)
        rhs = _core.multiply(core_matrix(X), factors)
        return rhs[:, 0] if self.coef_.ndim == 1 else rhs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Without an intercept, and slow on systems without a solution.
        tags.regressor_tags.poor_score = True
        return tags
