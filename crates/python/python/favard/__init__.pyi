"""Types of the package; its documentation is in the docstrings."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from favard import theory as theory
from favard._completion import MatrixCompletion as MatrixCompletion
from favard._core import __version__ as __version__
from favard._core import get_num_threads as get_num_threads
from favard._core import set_num_threads as set_num_threads
from favard._info import Info as Info
from favard._kaczmarz import Kaczmarz as Kaczmarz
from favard._phase import PhaseRetrieval as PhaseRetrieval
from favard._tracking import SubspaceTracker as SubspaceTracker

# Sparse matrices and operators have no types that say so.
_Data: TypeAlias = Any
_Callback: TypeAlias = Callable[[int, float, float], Any]
_Seed: TypeAlias = int | np.random.RandomState | None
_Rng: TypeAlias = int | np.random.Generator | np.random.RandomState | None

__all__ = [
    "__version__",
    "get_num_threads",
    "set_num_threads",
    "theory",
    "PCA",
    "TruncatedSVD",
    "IncrementalPCA",
    "LeastSquares",
    "MatrixCompletion",
    "PhaseRetrieval",
    "SubspaceTracker",
    "Kaczmarz",
    "OnDisk",
    "svds",
    "eigsh",
    "lsmr",
    "Info",
]

class OnDisk:
    ndim: int
    path: str
    dtype: np.dtype[Any]
    part_entries: int
    shape: tuple[int, int]
    nnz: int
    row_names: list[str] | None
    column_names: list[str] | None
    def __init__(self, path: Any, dtype: Any = ..., part_entries: int = ...) -> None: ...
    def astype(self, dtype: Any) -> OnDisk: ...

class _Transformer(BaseEstimator):
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    components_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    singular_values_: NDArray[Any]
    info_: Info
    def fit_transform(self, X: _Data, y: Any = ..., **fit_params: Any) -> Any: ...
    def transform(self, X: _Data) -> Any: ...
    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]: ...
    def get_feature_names_out(self, input_features: ArrayLike | None = ...) -> NDArray[Any]: ...
    def set_output(self, *, transform: str | None = ...) -> Any: ...

class _Components(_Transformer):
    mean_: NDArray[Any]
    n_components_: int
    noise_variance_: float
    def get_covariance(self) -> NDArray[Any]: ...
    def get_precision(self) -> NDArray[Any]: ...

class PCA(_Components):
    n_samples_: int
    n_iter_: int
    scale_: NDArray[Any] | None
    def __init__(
        self,
        n_components: int | float | Literal["mle"] | None = ...,
        *,
        copy: bool = ...,
        whiten: bool = ...,
        svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized"] = ...,
        tol: float | None = ...,
        iterated_power: Any = ...,
        n_oversamples: int = ...,
        power_iteration_normalizer: str = ...,
        random_state: _Seed = ...,
        scale: bool = ...,
        solver: str = ...,
        max_iter: int = ...,
        batch_size: int | None = ...,
        beta: float | None = ...,
        callback: _Callback | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: _Data, y: Any = ..., sample_weight: ArrayLike | None = ...) -> PCA: ...
    def score_samples(self, X: ArrayLike) -> NDArray[Any]: ...
    def score(self, X: ArrayLike, y: Any = ...) -> float: ...

class TruncatedSVD(_Transformer):
    n_iter_: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        algorithm: Literal["arpack", "randomized"] = ...,
        n_iter: int = ...,
        n_oversamples: int = ...,
        power_iteration_normalizer: str = ...,
        random_state: _Seed = ...,
        tol: float | None = ...,
        solver: str = ...,
        max_iter: int = ...,
        batch_size: int | None = ...,
        beta: float | None = ...,
        callback: _Callback | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(
        self, X: _Data, y: Any = ..., sample_weight: ArrayLike | None = ...
    ) -> TruncatedSVD: ...

class IncrementalPCA(_Components):
    var_: NDArray[Any]
    n_samples_seen_: int
    batch_size_: int
    def __init__(
        self,
        n_components: int | None = ...,
        *,
        whiten: bool = ...,
        copy: bool = ...,
        batch_size: int | None = ...,
        n_oversamples: int = ...,
        tol: float = ...,
        callback: _Callback | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: _Data, y: Any = ...) -> IncrementalPCA: ...
    def partial_fit(self, X: _Data, y: Any = ..., check_input: bool = ...) -> IncrementalPCA: ...

class LeastSquares(BaseEstimator):
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    coef_: NDArray[Any]
    intercept_: Any
    n_iter_: int
    info_: Info
    def __init__(
        self,
        *,
        fit_intercept: bool = ...,
        alpha: float = ...,
        tol: float | None = ...,
        solver: Literal[
            "auto", "direct", "cg", "lsmr", "heavy-ball", "chebyshev", "minibatch", "svrg"
        ] = ...,
        batch_size: int = ...,
        scaling: bool = ...,
        max_iter: int = ...,
        random_state: _Seed = ...,
        callback: _Callback | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(
        self, X: _Data, y: ArrayLike, sample_weight: ArrayLike | None = ...
    ) -> LeastSquares: ...
    def predict(self, X: _Data) -> NDArray[Any]: ...
    def score(self, X: _Data, y: ArrayLike, sample_weight: ArrayLike | None = ...) -> float: ...

def svds(
    A: _Data,
    k: int = ...,
    ncv: int | None = ...,
    tol: float = ...,
    which: Literal["LM", "SM"] = ...,
    v0: ArrayLike | None = ...,
    maxiter: int | None = ...,
    return_singular_vectors: bool | Literal["u", "vh"] = ...,
    solver: Literal["arpack", "lobpcg", "propack"] = ...,
    rng: _Rng = ...,
    options: dict[str, Any] | None = ...,
    *,
    random_state: _Rng = ...,
    return_info: bool = ...,
    callback: _Callback | None = ...,
    verbose: int = ...,
) -> Any: ...
def eigsh(
    A: _Data,
    k: int = ...,
    M: None = ...,
    sigma: float | None = ...,
    which: Literal["LM", "SM", "LA", "SA", "BE"] = ...,
    v0: ArrayLike | None = ...,
    ncv: int | None = ...,
    maxiter: int | None = ...,
    tol: float = ...,
    return_eigenvectors: bool = ...,
    Minv: None = ...,
    OPinv: _Data = ...,
    mode: Literal["normal"] = ...,
    rng: _Rng = ...,
    *,
    return_info: bool = ...,
    callback: _Callback | None = ...,
    verbose: int = ...,
) -> Any: ...
def lsmr(
    A: _Data,
    b: ArrayLike,
    damp: float = ...,
    atol: float = ...,
    btol: float = ...,
    conlim: float = ...,
    maxiter: int | None = ...,
    show: bool = ...,
    x0: ArrayLike | None = ...,
    *,
    return_info: bool = ...,
    callback: _Callback | None = ...,
) -> tuple[Any, ...]: ...
