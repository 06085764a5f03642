"""LeastSquares."""

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from favard import _core
from favard._common import check_name, check_number, finish, run, seed_of, tolerance, weights_of
from favard._data import FLOATS, core_matrix
from favard._on_disk import checked, checked_pair

_SOLVERS = ("auto", "direct", "cg", "lsmr", "heavy-ball", "chebyshev", "minibatch", "svrg")


class LeastSquares(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Linear least squares of dense or sparse data with one or many targets, certified.

    Minimises ``sum_i w_i (x_i @ coef + intercept - y_i)**2 + alpha * ||coef||**2``. The intercept
    is not penalised, and centring for it is implicit: sparse data stays sparse.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether an intercept is fitted.
    alpha : float, default=0.0
        The ridge.
    tol : float, default=None
        The certificate ``||A.T r|| / (||A|| ||r||)`` asked for, or ``||r|| / ||y||`` where the system
        has a solution. None is 1e-8, or rounding where float32 does not hold that; 0 is rounding.
    solver : {'auto', 'direct', 'cg', 'lsmr', 'heavy-ball', 'chebyshev', 'minibatch', 'svrg'}, \
            default='auto'
        The method. The last two read batches of rows: 'minibatch' for systems that have a solution
        (else its noise ends it above the tolerance, and it says so), 'svrg' for any.
    batch_size : int, default=64
        Rows of a batch of the last two.
    scaling : bool, default=True
        Whether the methods work on columns divided by their norms; those that read batches take them
        as they are. With dependent columns the solution is the one of smallest scaled norm; without
        scaling, of smallest norm.
    max_iter : int, default=10000
        Passes over the data at most.
    random_state : int, RandomState instance or None, default=None
        The seed of the probes and of the batches. None is always the same one.
    callback, verbose
        As for :class:`favard.PCA`; the residual is the largest certificate.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercepts.
    n_features_in_, n_iter_ : int
        Counts.
    info_ : Info
        Why it stopped, what it cost, and what is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import LeastSquares
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> line = LeastSquares().fit(X, [1.1, 2.9, 5.1, 6.9])
    >>> round(float(line.coef_[0]), 12), round(float(line.intercept_), 12)
    (1.96, 1.06)
    """

    def __init__(
        self,
        *,
        fit_intercept=True,
        alpha=0.0,
        tol=None,
        solver="auto",
        batch_size=64,
        scaling=True,
        max_iter=10_000,
        random_state=None,
        callback=None,
        verbose=0,
    ):
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.tol = tol
        self.solver = solver
        self.batch_size = batch_size
        self.scaling = scaling
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix, OnDisk} of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows.

        Returns
        -------
        self : object
            The estimator.
        """
        check_name(self, "solver", _SOLVERS)
        check_number(self, "batch_size", 1, kind=Integral)
        check_number(self, "alpha", 0)
        check_number(self, "tol", 0, optional=True)
        check_number(self, "max_iter", 1, kind=Integral)
        X, y = checked_pair(
            self,
            X,
            y,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            multi_output=True,
            y_numeric=True,
            ensure_all_finite=False,
        )
        targets = np.require(y.reshape(len(y), -1), X.dtype, "A")
        problem = {
            "solver": self.solver,
            "batch": int(self.batch_size),
            "scaling": bool(self.scaling),
            "ridge": float(self.alpha),
            "intercept": bool(self.fit_intercept),
            "tolerance": tolerance(self.tol, False, X.dtype, X.shape[1], default=1e-8),
            "passes": float(self.max_iter),
            "seed": seed_of(self.random_state),
        }
        weights = weights_of(sample_weight, X)
        found, info = run(
            self, _core.least_squares, X, core_matrix(X), targets, problem, weights=weights
        )
        self.info_ = info
        coef, intercept = found["x"], found["intercept"]
        self.coef_ = coef[0] if y.ndim == 1 else coef
        self.intercept_ = intercept[0] if y.ndim == 1 else intercept
        self.n_iter_ = max(1, info.iterations)
        finish(self, found)
        return self

    def predict(self, X):
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, OnDisk} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T + intercept_``.
        """
        check_is_fitted(self)
        X = checked(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, reset=False)
        factors = np.atleast_2d(self.coef_).T
        if X.dtype != factors.dtype:
            X = X.astype(np.result_type(X.dtype, factors.dtype))
        factors = np.ascontiguousarray(factors, dtype=X.dtype)
        targets = _core.multiply(core_matrix(X), factors)
        targets = targets[:, 0] if self.coef_.ndim == 1 else targets
        return targets + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
