"""The rate of a block of columns, and the distance that it bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from favard._core import theory as _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from favard.theory._growth import Growth

__all__ = ["distance", "exact_ratio", "factor", "tangent"]


def factor(growth: Growth, tick: int, *, start: str = "U") -> float:
    """The factor on ``d / sqrt(1 - d**2)`` after some steps, d the distance of the start.

    Parameters
    ----------
    growth : Growth
        With the smallest wanted eigenvalue in the place of ``lambda1`` and the largest unwanted
        modulus in that of ``lambda2``.
    tick : int
        Steps.
    start : {'U', 'T'}, default='U'
        The first step.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> from favard.theory import Growth, block
    >>> block.factor(Growth(0.95, 0.9, 0.21), 20, start="T") < 0.02
    True
    """
    return _core.block_factor(growth._regime, start, tick)


def exact_ratio(
    tick: int, spectrum: Sequence[float], wanted: int, beta: float, *, start: str = "U"
) -> float:
    """``max |p_t(unwanted) / p_t(wanted)|`` over the pairs of a known spectrum.

    Parameters
    ----------
    tick : int
        Steps.
    spectrum : sequence of float
        All eigenvalues, those wanted first.
    wanted : int
        How many are.
    beta : float
        The momentum.
    start : {'U', 'T'}, default='U'
        The first step.

    Returns
    -------
    float
        The ratio.

    Examples
    --------
    >>> from favard.theory import block
    >>> round(block.exact_ratio(1, [1.0, 0.8, 0.2], 2, 0.1), 12)
    0.25
    """
    return _core.block_exact_ratio(start, tick, list(map(float, spectrum)), wanted, beta)


def tangent(distance: float) -> float:
    """``d / sqrt(1 - d**2)``, the tangent of the largest principal angle.

    Parameters
    ----------
    distance : float
        The distance d of two subspaces, in [0, 1).

    Returns
    -------
    float
        The tangent.

    Examples
    --------
    >>> from favard.theory import block
    >>> round(block.tangent(0.6), 12)
    0.75
    """
    return _core.block_tangent(distance)


def distance(left: ArrayLike, right: ArrayLike) -> float:
    """The distance of the ranges of two matrices: the largest sine of a principal angle.

    Parameters
    ----------
    left, right : array-like of shape (n, k)
        Columns that span the subspaces.

    Returns
    -------
    float
        ``||P_left - P_right||``.

    Examples
    --------
    >>> from favard.theory import block
    >>> round(block.distance([[1.0], [0.0]], [[3.0], [4.0]]), 12)
    0.8
    """
    return _core.block_distance(_matrix(left), _matrix(right))


def _matrix(values):
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead")
    return array
