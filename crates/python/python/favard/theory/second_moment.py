"""Exact second moments of ``F_{t+1} = (A + N_t) F_t - beta F_{t-1}``: no norms, no bounds.

The noise is that of Gaussian rows (`GaussianRows`) or of a random matrix with finitely many values
(`Finite`); `batch` of them are averaged a step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from favard._core import theory as _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

__all__ = [
    "Finite",
    "GaussianRows",
    "critical_batch",
    "epoch_factor",
    "mean_square_rate",
    "propagate",
    "stability_gain",
]


def _square(values, name):
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be a square matrix, got an array of shape {array.shape}")
    return array


@dataclass(frozen=True, eq=False)
class GaussianRows:
    """The noise of ``x x.T`` for Gaussian rows x.

    Parameters
    ----------
    covariance : array-like of shape (d, d)
        The covariance of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import second_moment as sm
    >>> noise = sm.GaussianRows(np.diag([1.0, 0.9]))
    >>> noise.mean
    array([[1. , 0. ],
           [0. , 0.9]])
    """

    covariance: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "covariance", _square(self.covariance, "covariance"))

    @property
    def mean(self) -> np.ndarray:
        """The mean of ``x x.T``."""
        return self.covariance

    @property
    def _given(self):
        return self.covariance


@dataclass(frozen=True, eq=False)
class Finite:
    """A random matrix with finitely many values.

    Parameters
    ----------
    points : array-like of shape (n, d, d)
        The values.
    probabilities : array-like of shape (n,), default=None
        Their probabilities, in any scale; equal for None.

    Attributes
    ----------
    mean : ndarray of shape (d, d)
        The mean.
    sigma_norm : float
        ``||E[N kron N]||``.
    s_op : float
        ``||E[N.T N]||``.
    sigma2 : float
        ``E ||N||**2``.
    frobenius : float
        ``E ||N||_F**2``.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import second_moment as sm
    >>> noise = sm.Finite([[[0.0]], [[2.0]]])
    >>> float(noise.mean[0, 0]), noise.s_op
    (1.0, 1.0)
    """

    points: np.ndarray
    probabilities: np.ndarray | None = None
    _known: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self):
        points = np.ascontiguousarray(self.points, dtype=np.float64)
        if points.ndim != 3:
            raise ValueError(f"points must have 3 dimensions, got {points.ndim}")
        known = np.ones(len(points)) if self.probabilities is None else self.probabilities
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "probabilities", np.asarray(known, dtype=np.float64))
        object.__setattr__(self, "_known", _core.finite(self._given))

    @property
    def _given(self):
        return self.points, np.asarray(self.probabilities).tolist()

    @property
    def mean(self) -> np.ndarray:
        """The mean."""
        return self._known["mean"]

    @property
    def sigma_norm(self) -> float:
        """``||E[N kron N]||``."""
        return self._known["sigma_norm"]

    @property
    def s_op(self) -> float:
        """``||E[N.T N]||``."""
        return self._known["s_op"]

    @property
    def sigma2(self) -> float:
        """``E ||N||**2``."""
        return self._known["sigma2"]

    @property
    def frobenius(self) -> float:
        """``E ||N||_F**2``."""
        return self._known["frobenius"]


def _factor(batch, scale):
    if not batch > 0:
        raise ValueError(f"batch must be above 0, got {batch}")
    return float(scale) / float(batch)


def mean_square_rate(
    noise: GaussianRows | Finite,
    mean: ArrayLike,
    beta: float,
    *,
    batch: float = 1,
    scale: float = 1.0,
) -> float:
    """The exact factor a step of ``E ||F_t w||**2``.

    Parameters
    ----------
    noise : GaussianRows or Finite
        The noise of one sample.
    mean : array-like of shape (d, d)
        The symmetric mean A.
    beta : float
        The momentum.
    batch : int, default=1
        Samples that are averaged a step.
    scale : float, default=1.0
        A further factor of the noise's second moment: ``step**2`` for the heavy ball.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import second_moment as sm
    >>> h, step, gamma = np.diag([0.01, 0.1, 0.4, 1.0]), 1.5, 0.65
    >>> mean = (1 + gamma) * np.eye(4) - step * h
    >>> rate = sm.mean_square_rate(sm.GaussianRows(h), mean, gamma, batch=64, scale=step**2)
    >>> round(rate, 12)
    0.907921722304
    """
    mean = _square(mean, "mean")
    return _core.mean_square_rate(noise._given, _factor(batch, scale), mean, beta)


def stability_gain(
    noise: GaussianRows | Finite,
    mean: ArrayLike,
    beta: float,
    *,
    batch: float = 1,
    scale: float = 1.0,
) -> float:
    """The gain of the noise: below 1 if and only if the second moment contracts.

    For the noise of one sample it is the critical batch.

    Parameters
    ----------
    noise, mean, beta, batch, scale
        As for :func:`mean_square_rate`; without noise the recurrence has to contract.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import second_moment as sm
    >>> h, step, gamma = np.diag([0.01, 0.1, 0.4, 1.0]), 1.5, 0.65
    >>> mean = (1 + gamma) * np.eye(4) - step * h
    >>> gain = sm.stability_gain(sm.GaussianRows(h), mean, gamma, scale=step**2)
    >>> sm.mean_square_rate(sm.GaussianRows(h), mean, gamma, batch=gain * 1.01, scale=step**2) < 1
    True
    """
    mean = _square(mean, "mean")
    return _core.stability_gain(noise._given, _factor(batch, scale), mean, beta)


def epoch_factor(
    noise: GaussianRows | Finite,
    mean: ArrayLike,
    beta: float,
    ticks: int,
    *,
    batch: float = 1,
    start: str = "U",
    direction: ArrayLike | None = None,
) -> float:
    """The exact factor of one variance-reduced epoch on ``sin**2``, near convergence.

    Parameters
    ----------
    noise, mean, beta, batch
        As for :func:`mean_square_rate`.
    ticks : int
        Steps of the epoch.
    start : {'U', 'T'}, default='U'
        The first step.
    direction : array-like of shape (d,), default=None
        In which the anchor is off; the worst one for None.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import second_moment as sm
    >>> h = np.diag([1.0, 0.9])
    >>> sm.epoch_factor(sm.GaussianRows(h), h, 0.2025, 10, batch=1000) < 0.02
    True
    """
    if direction is not None:
        direction = np.ascontiguousarray(direction, dtype=np.float64)
    mean = _square(mean, "mean")
    given, factor = noise._given, _factor(batch, 1.0)
    return _core.epoch_factor(given, factor, mean, beta, start, ticks, direction)


def propagate(
    noise: GaussianRows | Finite,
    mean: ArrayLike,
    beta: float,
    w0: ArrayLike,
    ticks: int,
    *,
    batch: float = 1,
    start: str = "U",
) -> dict[str, Any]:
    """Mean and covariance of ``F_t w0``.

    Parameters
    ----------
    noise, mean, beta, batch
        As for :func:`mean_square_rate`; the mean need not be symmetric.
    w0 : array-like of shape (d,)
        The start.
    ticks : int
        Steps.
    start : {'U', 'T'}, default='U'
        The first step.

    Returns
    -------
    dict
        ``mean``, ``covariance``, and its norm ``covariance_norm`` and trace ``total_variance``.

    Examples
    --------
    >>> from favard.theory import second_moment as sm
    >>> found = sm.propagate(sm.Finite([[[0.0]], [[2.0]]]), [[1.0]], 0.0, [1.0], 3)
    >>> found["mean"], found["total_variance"]  # 2**3 - 1
    (array([1.]), 7.0)
    """
    w0 = np.ascontiguousarray(w0, dtype=np.float64)
    mean = _square(mean, "mean")
    return _core.propagate(noise._given, _factor(batch, 1.0), mean, beta, start, w0, ticks)


def critical_batch(limit: int, holds: Callable[[int], bool]) -> int:
    """The smallest batch for which a question has the answer yes, by doubling and bisection.

    Parameters
    ----------
    limit : int
        The largest batch that is tried.
    holds : callable
        ``holds(batch)``, which is true from some batch on.

    Returns
    -------
    int
        The batch.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import second_moment as sm
    >>> h, step, gamma = np.diag([0.01, 0.1, 0.4, 1.0]), 1.5, 0.65
    >>> rows, mean = sm.GaussianRows(h), (1 + gamma) * np.eye(4) - step * h
    >>> def contracts(batch):
    ...     return sm.mean_square_rate(rows, mean, gamma, batch=batch, scale=step**2) < 1
    >>> sm.critical_batch(1 << 20, contracts)
    9
    """
    return _core.critical_batch(limit, holds)
