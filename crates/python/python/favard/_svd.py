"""TruncatedSVD."""

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

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
from favard._components import checked_scores
from favard._data import FLOATS, core_matrix
from favard._on_disk import checked

_NAMES = {"arpack": "krylov", "randomized": "auto"}


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The leading singular triplets of dense or sparse data as it is, certified.

    In place of ``sklearn.decomposition.TruncatedSVD``.

    Parameters
    ----------
    n_components : int, default=2
        How many.
    algorithm : {'arpack', 'randomized'}, default='randomized'
        scikit-learn's names: 'arpack' is block Lanczos to rounding, 'randomized' chooses. Ignored
        when ``solver`` is not 'auto'.
    n_iter, n_oversamples, power_iteration_normalizer
        Without effect: there is no randomized solver whose accuracy would depend on them.
    random_state : int, RandomState instance or None, default=None
        The seed of the start. None is always the same one.
    tol : float, default=None
        The residual ``||X.T X v - s**2 v||`` asked for, relative to the largest ``s**2``. None is
        1e-6, and rounding for 'arpack'; 0 is rounding.
    solver, max_iter, batch_size, beta, callback, verbose
        As for :class:`favard.PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The right singular vectors; in each the entry of largest absolute value is positive.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        The variance of each column of the transformed data, and its share of the total.
    singular_values_ : ndarray of shape (n_components,)
        The singular values, descending.
    n_features_in_, n_iter_ : int
        Counts.
    info_ : Info
        Why it stopped, what it cost, and what is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import random_array
    >>> from favard import TruncatedSVD
    >>> X = random_array((100, 80), density=0.1, format="csr", rng=np.random.default_rng(0))
    >>> svd = TruncatedSVD(n_components=5).fit(X)
    >>> svd.singular_values_.shape, svd.info_.certified
    ((5,), True)
    """

    def __init__(
        self,
        n_components=2,
        *,
        algorithm="randomized",
        n_iter=5,
        n_oversamples=10,
        power_iteration_normalizer="auto",
        random_state=None,
        tol=None,
        solver="auto",
        max_iter=1000,
        batch_size=None,
        beta=None,
        callback=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.beta = beta
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None):
        """Fit the triplets to X.

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
        check_name(self, "algorithm", _NAMES)
        check_name(self, "solver", SOLVERS)
        check_number(self, "n_components", 1, kind=Integral)
        check_number(self, "tol", 0, optional=True)
        check_number(self, "max_iter", 1, kind=Integral)
        check_number(self, "batch_size", 1, kind=Integral, optional=True)
        check_number(self, "beta", 0, optional=True)
        X = checked(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            ensure_min_features=2,
            ensure_all_finite=False,
        )
        count, (n_samples, n_features) = self.n_components, X.shape
        if count > n_features:
            raise ValueError(f"n_components({count}) must be <= n_features({n_features}).")
        if self.algorithm == "arpack" and count >= min(X.shape):
            raise ValueError(
                f"n_components={count} must be strictly less than min(n_samples, "
                f"n_features)={min(X.shape)} with algorithm='arpack'"
            )
        # There are no more triplets than rows.
        count = min(count, n_samples)
        solver = _NAMES[self.algorithm] if self.solver == "auto" else self.solver
        task = {
            "components": count,
            "solver": solver,
            "tolerance": tolerance(self.tol, self.algorithm == "arpack", X.dtype, min(X.shape)),
            "products": int(self.max_iter),
            "seed": seed_of(self.random_state),
            "batch": self.batch_size,
            "beta": self.beta,
        }
        found, info = run(
            self, _core.svd, X, core_matrix(X), task, weights=weights_of(sample_weight, X)
        )
        dtype = X.dtype
        self.info_ = info
        self.components_ = found["components"]
        self.explained_variance_ = found["explained_variance"].astype(dtype, copy=False)
        self.explained_variance_ratio_ = found["explained_variance_ratio"].astype(dtype, copy=False)
        self.singular_values_ = found["singular_values"].astype(dtype, copy=False)
        self.n_iter_ = max(1, info.iterations)
        finish(self, found)
        return self

    def transform(self, X):
        """Perform dimensionality reduction on X.

        Parameters
        ----------
        X : {array-like, sparse matrix, OnDisk} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            ``X @ components_.T``.
        """
        check_is_fitted(self)
        X = checked(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, reset=False)
        factors = self.components_.T
        if X.dtype != factors.dtype:
            X = X.astype(np.result_type(X.dtype, factors.dtype))
        factors = np.ascontiguousarray(factors, dtype=X.dtype)
        return _core.multiply(core_matrix(X), factors)

    def inverse_transform(self, X):
        """Transform X back to its original space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            ``X @ components_``.
        """
        check_is_fitted(self)
        return checked_scores(self, X) @ self.components_

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
