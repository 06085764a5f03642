"""Chebyshev's polynomials T and U, at any point and to any degree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from favard._core import theory as _core
from favard.theory._points import at, at_ln

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ln_t", "ln_u", "t", "u"]


def t(degree: int, x: ArrayLike) -> float | NDArray[np.float64]:
    """Chebyshev's polynomial of the first kind.

    Parameters
    ----------
    degree : int
        The degree.
    x : float or array-like
        Where.

    Returns
    -------
    float or ndarray
        ``T_degree(x)``.

    Examples
    --------
    >>> from favard.theory import chebyshev
    >>> chebyshev.t(3, 0.5), chebyshev.t(2, [0.0, 1.0, 2.0])
    (-1.0, array([-1.,  1.,  7.]))
    """
    return at(lambda points: _core.chebyshev_t(degree, points), x)


def u(degree: int, x: ArrayLike) -> float | NDArray[np.float64]:
    """Chebyshev's polynomial of the second kind.

    Parameters
    ----------
    degree : int
        The degree.
    x : float or array-like
        Where.

    Returns
    -------
    float or ndarray
        ``U_degree(x)``.

    Examples
    --------
    >>> from favard.theory import chebyshev
    >>> chebyshev.u(3, 1.0)
    4.0
    """
    return at(lambda points: _core.chebyshev_u(degree, points), x)


def ln_t(degree: int, x: ArrayLike) -> tuple[Any, Any]:
    """Logarithm and sign of T, for degrees at which T is no float.

    Parameters
    ----------
    degree : int
        The degree.
    x : float or array-like
        Where.

    Returns
    -------
    ln_abs, sign : float or ndarray
        ``ln |T_degree(x)|`` and the sign, which is 0 where T is.

    Examples
    --------
    >>> from favard.theory import chebyshev
    >>> ln_abs, sign = chebyshev.ln_t(1_000_000, -1.5)
    >>> round(ln_abs, 3), sign
    (962422.957, 1.0)
    """
    return at_ln(lambda points: _core.chebyshev_ln_t(degree, points), x)


def ln_u(degree: int, x: ArrayLike) -> tuple[Any, Any]:
    """Logarithm and sign of U, for degrees at which U is no float.

    Parameters
    ----------
    degree : int
        The degree.
    x : float or array-like
        Where.

    Returns
    -------
    ln_abs, sign : float or ndarray
        ``ln |U_degree(x)|`` and the sign, which is 0 where U is.

    Examples
    --------
    >>> from favard.theory import chebyshev
    >>> ln_abs, sign = chebyshev.ln_u(2, 0.5)
    >>> sign
    0.0
    """
    return at_ln(lambda points: _core.chebyshev_ln_u(degree, points), x)
