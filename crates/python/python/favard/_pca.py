"""PCA."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from favard import _core
from favard._common import (
    SOLVERS,
    check_name,
    check_number,
    finish,
    run,
    seed_of,
    tolerance,
    weights_of,
)
from favard._components import Components, complete
from favard._data import FLOATS, core_matrix
from favard._on_disk import checked
from favard._mle import infer_dimension

# scikit-learn's names of solvers, as ours.
_NAMES = {
    "auto": "auto",
    "full": "exact",
    "covariance_eigh": "exact",
    "arpack": "krylov",
    "randomized": "auto",
}


class PCA(Components):
    """Principal component analysis of dense or sparse data, certified.

    In place of ``sklearn.decomposition.PCA``: the same parameters, attributes and signs, and some
    more. Centring and scaling are implicit, so that sparse data stays sparse.

    Parameters
    ----------
    n_components : int, float or 'mle', default=None
        How many; all for None. Between 0 and 1, as many as explain that share of the variance.
        For 'mle', Minka's estimate.
    copy : bool, default=True
        Without effect: the data is never overwritten.
    whiten : bool, default=False
        Whether scores are divided by their standard deviations.
    svd_solver : {'auto', 'full', 'covariance_eigh', 'arpack', 'randomized'}, default='auto'
        scikit-learn's names: 'full' and 'covariance_eigh' form and solve the smaller Gram matrix,
        'arpack' is block Lanczos to rounding, 'auto' and 'randomized' choose. Ignored when
        ``solver`` is not 'auto'.
    tol : float, default=None
        The residual ``||C v - lambda v||`` asked for, relative to the largest variance. None is
        1e-6, and rounding for the names that stand for it; 0 is rounding.
    iterated_power, n_oversamples, power_iteration_normalizer
        Without effect: there is no randomized solver whose accuracy would depend on them.
    random_state : int, RandomState instance or None, default=None
        The seed of the start. None is always the same one.
    scale : bool, default=False
        Whether columns are divided by their standard deviations.
    solver : str, default='auto'
        One of our methods: 'exact', 'krylov', 'power', 'momentum', 'dynamic', 'chebyshev',
        'heavy-ball', 'inhomogeneous', 'oja', 'oja-momentum', 'ada-oja', 'minibatch', 'vr-pca',
        'vr'.
    max_iter : int, default=1000
        Block products, or passes over the data, at most.
    batch_size : int, default=None
        Rows of a batch, for the methods that sample; chosen from the noise for None.
    beta : float, default=None
        The momentum, for the methods that take one; chosen from the Ritz values for None.
    callback : callable, default=None
        Called as ``callback(tick, passes, residual)`` after every step. When it returns true the
        fit stops, and keeps what it has.
    verbose : int, default=0
        Whether progress is shown.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows in descending order of variance; in each the entry of largest absolute
        value is positive.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        The variances, and their shares of the total, which is exact.
    singular_values_ : ndarray of shape (n_components,)
        Of the centred (and scaled, and weighted) data.
    mean_ : ndarray of shape (n_features,)
        The mean of each column.
    scale_ : ndarray of shape (n_features,) or None
        What columns are divided by.
    n_components_, n_samples_, n_features_in_ : int
        Counts.
    noise_variance_ : float
        The mean variance of the directions left out.
    n_iter_ : int
        Steps.
    info_ : Info
        Why it stopped, what it cost, and what is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import random_array
    >>> from favard import PCA
    >>> X = random_array((1000, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
    >>> pca = PCA(n_components=3, tol=1e-8).fit(X)
    >>> pca.transform(X).shape
    (1000, 3)
    >>> pca.info_.certified, pca.info_.stop
    (True, 'converged')
    """

    def __init__(
        self,
        n_components=None,
        *,
        copy=True,
        whiten=False,
        svd_solver="auto",
        tol=None,
        iterated_power="auto",
        n_oversamples=10,
        power_iteration_normalizer="auto",
        random_state=None,
        scale=False,
        solver="auto",
        max_iter=1000,
        batch_size=None,
        beta=None,
        callback=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.scale = scale
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.beta = beta
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None):
        """Fit the components to X.

        Parameters
        ----------
        X : {array-like, sparse matrix, OnDisk} of shape (n_samples, n_features)
            The data.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each row counts.

        Returns
        -------
        self : object
            The estimator.
        """
        check_name(self, "svd_solver", _NAMES)
        check_name(self, "solver", SOLVERS)
        check_number(self, "tol", 0, optional=True)
        check_number(self, "max_iter", 1, kind=Integral)
        check_number(self, "batch_size", 1, kind=Integral, optional=True)
        check_number(self, "beta", 0, optional=True)
        X = checked(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            ensure_min_samples=2,
            ensure_all_finite=False,
        )
        weights = weights_of(sample_weight, X)
        count, share = self._wanted(X.shape, weights)
        solver = _NAMES[self.svd_solver] if self.solver == "auto" else self.solver
        if isinstance(self.n_components, str):
            solver = "exact"
        exact = self.svd_solver not in ("auto", "randomized")
        task = {
            "components": min(max(count, 1), *X.shape),
            "solver": solver,
            "tolerance": tolerance(self.tol, exact, X.dtype, min(X.shape)),
            "products": int(self.max_iter),
            "seed": seed_of(self.random_state),
            "batch": self.batch_size,
            "beta": self.beta,
        }
        found, info = run(
            self,
            _core.pca,
            X,
            core_matrix(X),
            task,
            center=True,
            scale=bool(self.scale),
            weights=weights,
            share=share,
        )
        self.info_ = info
        self._keep(found, X, count, share)
        finish(self, found)
        return self

    def _wanted(self, shape, weights):
        """The number of components to look for, and the share that they should explain."""
        # A row of weight 3 is three rows.
        rows = shape[0] if weights is None else max(int(weights.sum()), np.count_nonzero(weights))
        count, most = self.n_components, min(rows, shape[1])
        solver = "full" if self.svd_solver == "auto" else self.svd_solver
        truncated = solver in ("arpack", "randomized")
        if count is None:
            return (most - 1 if solver == "arpack" else most), None
        if isinstance(count, str):
            if count != "mle":
                raise ValueError(f"n_components must be an int, a float or 'mle', got {count!r}")
            if truncated:
                raise ValueError(
                    f"n_components={count!r} cannot be a string with svd_solver='{solver}'"
                )
            if rows < shape[1]:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            return most, None
        if not isinstance(count, Real) or isinstance(count, bool) or not np.isfinite(count):
            raise ValueError(f"n_components must be an int, a float or 'mle', got {count!r}")
        if not isinstance(count, Integral) and not 0 < count < 1:
            raise ValueError(f"n_components={count!r} must be of type int when greater than or "
                             f"equal to 1, was of type={type(count)!r}")
        low = 1 if truncated else 0
        if not low <= count <= most:
            raise ValueError(
                f"n_components={count!r} must be between {low} and min(n_samples, "
                f"n_features)={most} with svd_solver={solver!r}"
            )
        if solver == "arpack" and count == most:
            raise ValueError(
                f"n_components={count!r} must be strictly less than min(n_samples, "
                f"n_features)={most} with svd_solver={solver!r}"
            )
        return (most, float(count)) if 0 < count < 1 else (int(count), None)

    def _keep(self, found, X, count, share):
        """Sets the fitted attributes."""
        variance, ratio = found["explained_variance"], found["explained_variance_ratio"]
        if self.n_components == "mle":
            # Without as many distinct rows as columns the rest is zero.
            spectrum = np.zeros(X.shape[1], dtype=variance.dtype)
            spectrum[: len(variance)] = variance
            count = infer_dimension(spectrum, found["weight"])
        elif share is not None:
            # The fewest that explain more than the share; one of nothing, as scikit-learn has it.
            count = int(np.searchsorted(np.cumsum(ratio), share, side="right")) + 1
            count = min(count, len(ratio)) if found["total_variance"] > 0 else 1
        if found["raised"] is not None:
            count = min(count, len(variance))
        dtype = X.dtype
        rank = int(np.count_nonzero(variance[:count]))
        self.components_ = complete(found["components"][:rank], count)
        for name in ("explained_variance", "explained_variance_ratio", "singular_values"):
            # Beyond the rank there is none.
            values = np.zeros(count, dtype=dtype)
            values[:rank] = found[name][:rank]
            setattr(self, name + "_", values)
        self.mean_ = found["mean"].astype(dtype, copy=False)
        self.scale_ = found["scale"].astype(dtype, copy=False) if self.scale else None
        self.n_components_ = count
        self.n_samples_ = X.shape[0]
        left = min(found["weight"], X.shape[1]) - count
        rest = max(found["total_variance"] - variance[:count].sum(), 0.0)
        self.noise_variance_ = rest / left if left > 0 else 0.0
        self.n_iter_ = max(1, self.info_.iterations)

    def score_samples(self, X):
        """The log-likelihood of each row under the probabilistic model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ll : ndarray of shape (n_samples,)
            Log-likelihood of each row.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        centred = X - self.mean_
        lost = 0.0
        if self.scale_ is not None:
            centred = centred / self.scale_
            lost = np.log(self.scale_).sum()
        precision = self.get_precision()
        quadratic = np.sum(centred * (centred @ precision), axis=1)
        volume = X.shape[1] * np.log(2.0 * np.pi) - np.linalg.slogdet(precision)[1]
        return -0.5 * (quadratic + volume) - lost

    def score(self, X, y=None):
        """The mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : Ignored

        Returns
        -------
        ll : float
            Mean of ``score_samples(X)``.
        """
        return float(np.mean(self.score_samples(X)))
