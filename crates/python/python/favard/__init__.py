"""Sparse large-scale PCA, singular values, eigenvalues and least squares.

The estimators follow scikit-learn, the functions SciPy:

================================================  ===========================================
``PCA``, ``TruncatedSVD``, ``IncrementalPCA``     principal components and singular triplets
``LeastSquares``                                  linear regression, ridge, weights
``MatrixCompletion``, ``PhaseRetrieval``          a matrix from entries, a signal from intensities
``SubspaceTracker``, ``Kaczmarz``                 a subspace that drifts, systems row by row
``theory``                                        polynomials, bounds, planners
``OnDisk``                                        a sparse matrix that stays in its file
``svds``, ``eigsh``, ``lsmr``                     the functions of ``scipy.sparse.linalg``
``set_num_threads``, ``get_num_threads``          the threads that work
================================================  ===========================================

Dense and sparse data are read in place, sparse data stays sparse when it is centred or scaled, the
work is done without the interpreter's lock and stops at Ctrl-C with what it has found, and every
answer carries residuals that are recomputed from the data.

Examples
--------
>>> import numpy as np
>>> import favard
>>> X = np.random.default_rng(0).normal(size=(200, 30)) * np.linspace(3, 1, 30)
>>> pca = favard.PCA(n_components=2).fit(X)
>>> pca.components_.shape
(2, 30)
>>> pca.info_.certified
True
"""

from favard import theory
from favard._core import __version__, get_num_threads, set_num_threads

# scikit-learn and SciPy are loaded when something of theirs is asked for.
_WHERE = {
    "PCA": "_pca",
    "TruncatedSVD": "_svd",
    "IncrementalPCA": "_incremental",
    "LeastSquares": "_least_squares",
    "MatrixCompletion": "_completion",
    "PhaseRetrieval": "_phase",
    "SubspaceTracker": "_tracking",
    "Kaczmarz": "_kaczmarz",
    "OnDisk": "_on_disk",
    "svds": "_svds",
    "eigsh": "_eigsh",
    "lsmr": "_lsmr",
    "Info": "_info",
}

__all__ = ["__version__", "get_num_threads", "set_num_threads", "theory", *_WHERE]


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module 'favard' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"favard.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_WHERE})
