from collections.abc import Callable
from typing import Any, Literal

from typing_extensions import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from favard._info import Info

class PhaseRetrieval(RegressorMixin, BaseEstimator):
    signal_: NDArray[Any]
    residual_: float
    n_features_in_: int
    n_iter_: int
    info_: Info
    spectral_info_: Info
    def __init__(
        self,
        *,
        tol: float = ...,
        max_iter: int = ...,
        spectral: Literal["momentum", "chebyshev", "power"] = ...,
        spectral_tol: float = ...,
        spectral_max_iter: int = ...,
        momentum: bool = ...,
        random_state: int | np.random.RandomState | None = ...,
        callback: Callable[[int, float, float], Any] | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, A: Any, y: ArrayLike, *, start: ArrayLike | None = ...) -> Self: ...
    def predict(self, A: Any) -> NDArray[Any]: ...
