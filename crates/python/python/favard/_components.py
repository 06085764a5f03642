"""What PCA and IncrementalPCA do with fitted components."""

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from favard import _core
from favard._data import FLOATS, core_matrix
from favard._on_disk import checked


def complete(rows, count):
    """Orthonormal rows, with more of them up to a count: directions without any variance.

    Which ones does not matter to the data, but should depend on nothing else: each is the unit
    vector that lies the furthest outside of the rows before, projected onto what they leave.
    """
    have, dim = rows.shape
    if have == count:
        return np.ascontiguousarray(rows)
    full = np.zeros((count, dim), dtype=rows.dtype)
    full[:have] = rows
    outside = 1.0 - np.sum(rows.astype(float) ** 2, axis=0)
    for k in range(have, count):
        pivot = int(np.argmax(outside))
        unit = np.zeros(dim, dtype=rows.dtype)
        unit[pivot] = 1.0
        for _ in range(2):
            unit -= full[:k].T @ (full[:k] @ unit)
        full[k] = unit / np.linalg.norm(unit)
        outside -= full[k].astype(float) ** 2
    return full


def checked_scores(estimator, X):
    """Scores as ``check_array`` gives them, one column for each component."""
    X = check_array(X, dtype=FLOATS, estimator=estimator, input_name="X")
    count = len(estimator.components_)
    if X.shape[1] != count:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} has {count} components: "
            "inverse_transform takes one column for each."
        )
    return X


class Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scores of rows, rows of scores, and the covariance of the probabilistic model."""

    def _factors(self):
        """The matrix of shape (n_features, k) that rows are multiplied with."""
        factors = self.components_
        scale = getattr(self, "scale_", None)
        if scale is not None:
            factors = factors / scale
        if self.whiten:
            factors = factors / self._deviations()[:, None]
        return factors.T

    def _deviations(self):
        deviations = np.sqrt(self.explained_variance_)
        return np.maximum(deviations, np.finfo(deviations.dtype).eps)

    def transform(self, X):
        """Apply dimensionality reduction to X.

        Parameters
        ----------
        X : {array-like, sparse matrix, OnDisk} of shape (n_samples, n_features)
            New data. Sparse data stays sparse.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The scores, ``(X - mean_) / scale_ @ components_.T``, over the deviations for
            ``whiten=True``.
        """
        check_is_fitted(self)
        X = checked(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, reset=False)
        return self._transform(X)

    def _transform(self, X):
        factors = self._factors()
        if X.dtype != factors.dtype:
            X = X.astype(np.result_type(X.dtype, factors.dtype))
        factors = np.ascontiguousarray(factors, dtype=X.dtype)
        if factors.shape[1] == 0:
            return np.zeros((X.shape[0], 0), dtype=X.dtype)
        scores = _core.multiply(core_matrix(X), factors)
        scores -= self.mean_.astype(X.dtype, copy=False) @ factors
        return scores

    def inverse_transform(self, X):
        """Transform scores back to rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            The rows that they stand for.
        """
        check_is_fitted(self)
        X = checked_scores(self, X)
        factors = self.components_
        if self.whiten:
            factors = factors * self._deviations()[:, None]
        scale = getattr(self, "scale_", None)
        if scale is not None:
            factors = factors * scale
        return X @ factors + self.mean_

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def _model(self):
        """Components and the variance above the noise, as scikit-learn has them for ``whiten``."""
        components, variance = self.components_, self.explained_variance_
        if self.whiten:
            components = components * np.sqrt(variance[:, None])
        above = np.where(variance > self.noise_variance_, variance - self.noise_variance_, 0.0)
        return components, above

    def get_covariance(self):
        """Compute data covariance with the generative model.

        Returns
        -------
        cov : ndarray of shape (n_features, n_features)
            ``components_.T * S**2 * components_ + sigma2 * eye(n_features)``, S**2 the explained
            variances and sigma2 the noise variance; of the scaled data for ``scale=True``.
        """
        components, above = self._model()
        cov = (components.T * above) @ components
        cov.flat[:: len(cov) + 1] += self.noise_variance_
        return cov

    def get_precision(self):
        """Compute data precision matrix with the generative model.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            The inverse of the covariance, by the matrix inversion lemma.
        """
        n_features, noise = self.components_.shape[1], self.noise_variance_
        if self.n_components_ == 0:
            return np.eye(n_features) / noise
        if noise == 0.0:
            return linalg.inv(self.get_covariance())
        components, above = self._model()
        inner = components @ components.T / noise
        with np.errstate(divide="ignore"):
            inner.flat[:: len(inner) + 1] += 1.0 / above
        precision = components.T @ linalg.inv(inner) @ components
        precision /= -(noise**2)
        precision.flat[:: len(precision) + 1] += 1.0 / noise
        return precision

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
