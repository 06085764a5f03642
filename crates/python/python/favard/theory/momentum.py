"""The polynomials of the recurrence ``p_{t+1} = x p_t - beta p_{t-1}``.

They start at ``p_0 = 1`` and ``p_1 = x`` (start ``'U'``: what the algorithms run) or
``p_1 = x / 2`` (start ``'T'``: what Theorem 1 of the paper is proved for). With
``y = x / (2 sqrt(beta))`` they are ``beta**(t/2) U_t(y)`` and ``beta**(t/2) T_t(y)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from favard._core import theory as _core
from favard.theory._points import at, at_ln

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ln_value", "sequence", "value"]


def value(tick: int, x: ArrayLike, beta: float, *, start: str = "U") -> float | NDArray[np.float64]:
    """The polynomial ``p_tick`` of the recurrence.

    Parameters
    ----------
    tick : int
        The degree.
    x : float or array-like
        Where.
    beta : float
        The momentum.
    start : {'U', 'T'}, default='U'
        The first step.

    Returns
    -------
    float or ndarray
        ``p_tick(x)``.

    Examples
    --------
    >>> from favard.theory import momentum
    >>> momentum.value(2, 3.0, 1.0), momentum.value(1, 3.0, 1.0, start="T")
    (8.0, 1.5)
    """
    return at(lambda points: _core.momentum_value(start, tick, points, beta), x)


def ln_value(tick: int, x: ArrayLike, beta: float, *, start: str = "U") -> tuple[Any, Any]:
    """Logarithm and sign of ``p_tick``.

    Parameters
    ----------
    tick, x, beta, start
        As for :func:`value`.

    Returns
    -------
    ln_abs, sign : float or ndarray
        ``ln |p_tick(x)|`` and the sign, which is 0 where the polynomial is.

    Examples
    --------
    >>> from favard.theory import momentum
    >>> ln_abs, sign = momentum.ln_value(100_000, 1.0, 0.2025)
    >>> round(ln_abs / 100_000, 4), sign
    (-0.3314, 1.0)
    """
    return at_ln(lambda points: _core.momentum_ln_value(start, tick, points, beta), x)


def sequence(ticks: int, x: float, beta: float, *, start: str = "U") -> NDArray[np.float64]:
    """All of ``p_0, ..., p_ticks`` at one point.

    Parameters
    ----------
    ticks : int
        The last degree.
    x, beta, start
        As for :func:`value`, with one x.

    Returns
    -------
    ndarray of shape (ticks + 1,)
        The values.

    Examples
    --------
    >>> from favard.theory import momentum
    >>> momentum.sequence(3, 2.0, 1.0)
    array([1., 2., 3., 4.])
    """
    return _core.momentum_sequence(start, ticks, float(x), beta)
