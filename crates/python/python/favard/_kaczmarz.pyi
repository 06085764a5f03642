from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from favard._info import Info

@dataclass(frozen=True, eq=False, repr=False)
class RowsInfo(Info):
    rows_read: int = ...
    misfits: NDArray[np.float64] = ...

class Kaczmarz(MultiOutputMixin, RegressorMixin, BaseEstimator):
    coef_: NDArray[Any]
    spectrum_: tuple[float, float] | None
    n_features_in_: int
    n_iter_: int
    info_: RowsInfo
    def __init__(
        self,
        *,
        method: Literal["averaged", "blocks", "least-squares"] = ...,
        batch_size: int = ...,
        momentum: Literal["auto", False] | float = ...,
        relaxation: float = ...,
        bounds: tuple[float, float] | None = ...,
        tol: float | None = ...,
        max_iter: int = ...,
        random_state: int | np.random.RandomState | None = ...,
        callback: Callable[[int, float, float], Any] | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike) -> Self: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
