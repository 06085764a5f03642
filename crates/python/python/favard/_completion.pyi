from collections.abc import Callable
from typing import Any, Literal

from typing_extensions import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from favard._info import Info

class MatrixCompletion(BaseEstimator):
    left_: NDArray[Any]
    singular_values_: NDArray[Any]
    right_: NDArray[Any]
    shape_: tuple[int, int]
    held_out_error_: float | None
    n_held_out_: int
    undetermined_rows_: NDArray[np.intp]
    undetermined_columns_: NDArray[np.intp]
    n_iter_: int
    info_: Info
    spectral_info_: Info
    def __init__(
        self,
        rank: int,
        *,
        symmetric: bool = ...,
        held_out: float = ...,
        tol: float = ...,
        max_iter: int = ...,
        spectral: Literal["auto", "exact", "variance-reduced"] = ...,
        spectral_tol: float = ...,
        spectral_max_iter: int = ...,
        batch_size: int | None = ...,
        epoch: int | None = ...,
        momentum: bool = ...,
        random_state: int | np.random.RandomState | None = ...,
        callback: Callable[[int, float, float], Any] | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, shape: tuple[int, int] | None = ...) -> Self: ...
    def predict(self, rows: ArrayLike, columns: ArrayLike) -> Any: ...
    def predict_row(self, row: int) -> NDArray[Any]: ...
    def score(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> float: ...
