from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from favard._info import Info

@dataclass(frozen=True)
class Weighing:
    speed: float
    lag2: float
    ball: float
    plain: float
    momentum: float

class SubspaceTracker(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    components_: NDArray[Any]
    explained_variance_: NDArray[Any]
    residuals_: NDArray[Any]
    momentum_: bool
    beta_: float
    weighing_: Weighing | None
    report_: str
    n_batches_seen_: int
    n_samples_seen_: int
    n_features_in_: int
    info_: Info
    def __init__(
        self,
        n_components: int = ...,
        *,
        learning_rate: float | None = ...,
        momentum: Literal["auto"] | bool | float = ...,
        missing: Literal["auto"] | bool = ...,
        probability: float | None = ...,
        batch_size: int | None = ...,
        init: ArrayLike | None = ...,
        callback: Callable[[int, float, float], Any] | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, mask: ArrayLike | None = ...) -> Self: ...
    def partial_fit(self, X: Any, y: Any = ..., *, mask: ArrayLike | None = ...) -> Self: ...
    def transform(self, X: Any) -> NDArray[Any]: ...
    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]: ...
