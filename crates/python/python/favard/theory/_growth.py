"""Without noise: Theorem 1 in its corrected forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from favard._core import theory as _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self


@dataclass(frozen=True)
class Growth:
    """The growth regime: one eigenvalue above ``max(2 sqrt(beta), lambda2)``.

    Parameters
    ----------
    lambda1 : float
        The largest eigenvalue.
    lambda2 : float
        The largest modulus of the others.
    beta : float
        The momentum.

    Attributes
    ----------
    discriminant : float
        ``D = lambda1**2 - 4 beta``.
    mu : float
        ``(lambda1 + sqrt(D)) / 2``, the growth of the iterates a step.
    ln_rate : float
        The logarithm of the factor a step on the tangent.
    is_calm : bool
        Whether ``lambda2 <= 2 sqrt(beta)``.
    complexity : float
        ``1/2 + sqrt(beta / D)``, the factor of the logarithm in the number of steps.

    Examples
    --------
    >>> from favard.theory import Growth, tan2
    >>> growth = Growth.optimal(1.0, 0.9)
    >>> steps = growth.iterations(tan2(0.01), 1e-10)
    >>> steps, growth.bound(steps, tan2(0.01)) <= 1e-10
    (37, True)
    """

    lambda1: float
    lambda2: float
    beta: float

    def __post_init__(self):
        for name in ("lambda1", "lambda2", "beta"):
            object.__setattr__(self, name, float(getattr(self, name)))
        _core.growth(self._regime)

    @classmethod
    def optimal(cls, lambda1: float, lambda2: float) -> Self:
        """The regime with the best momentum, ``lambda2**2 / 4``.

        Parameters
        ----------
        lambda1, lambda2 : float
            The largest eigenvalue, and the largest modulus of the others.

        Returns
        -------
        Growth
            The regime.

        Examples
        --------
        >>> from favard.theory import Growth
        >>> Growth.optimal(1.0, 0.5)
        Growth(lambda1=1.0, lambda2=0.5, beta=0.0625)
        """
        return cls(lambda1, lambda2, lambda2**2 / 4)

    @classmethod
    def from_spectrum(cls, spectrum: Sequence[float], beta: float) -> Self:
        """The regime of a whole spectrum, in any order and of any sign.

        Parameters
        ----------
        spectrum : sequence of float
            The eigenvalues.
        beta : float
            The momentum.

        Returns
        -------
        Growth
            The regime.

        Examples
        --------
        >>> from favard.theory import Growth
        >>> Growth.from_spectrum([0.3, 1.0, -0.95], 0.2025).lambda2
        0.95
        """
        return cls(*_core.growth_from_spectrum(list(map(float, spectrum)), beta))

    @property
    def _regime(self):
        return self.lambda1, self.lambda2, self.beta

    @property
    def discriminant(self) -> float:
        """``D = lambda1**2 - 4 beta``."""
        return _core.growth(self._regime)["discriminant"]

    @property
    def mu(self) -> float:
        """``(lambda1 + sqrt(D)) / 2``."""
        return _core.growth(self._regime)["mu"]

    @property
    def ln_rate(self) -> float:
        """The logarithm of the factor a step on the tangent."""
        return _core.growth(self._regime)["ln_rate"]

    @property
    def is_calm(self) -> bool:
        """Whether ``lambda2 <= 2 sqrt(beta)``."""
        return _core.growth(self._regime)["is_calm"]

    @property
    def complexity(self) -> float:
        """``1/2 + sqrt(beta / D)``."""
        return _core.growth(self._regime)["complexity"]

    def ln_envelope(self, tick: int, *, start: str = "U") -> float:
        """``ln sup p_t(x)**2 / p_t(lambda1)**2`` for ``|x| <= max(lambda2, 2 sqrt(beta))``.

        Parameters
        ----------
        tick : int
            Steps.
        start : {'U', 'T'}, default='U'
            The first step: ``p_1 = x`` or ``p_1 = x / 2``.

        Returns
        -------
        float
            The logarithm.
        """
        return _core.growth_ln_envelope(self._regime, start, tick)

    def ln_factor(self, tick: int, *, start: str = "U") -> float:
        """The logarithm of the factor of ``tan2`` in the corrected Theorem 1.

        Parameters
        ----------
        tick, start
            As for :meth:`ln_envelope`.

        Returns
        -------
        float
            The logarithm.
        """
        return _core.growth_ln_factor(self._regime, start, tick)

    def bound(self, tick: int, tan2: float, *, start: str = "U") -> float:
        """The corrected Theorem 1: a bound on ``sin**2`` of the angle after some steps.

        Parameters
        ----------
        tick : int
            Steps.
        tan2 : float
            ``tan**2`` of the angle at the start, see :func:`favard.theory.tan2`.
        start : {'U', 'T'}, default='U'
            The first step.

        Returns
        -------
        float
            The bound.

        Examples
        --------
        >>> from favard.theory import Growth
        >>> round(Growth.optimal(1.0, 0.9).bound(1, 9.0, start="T"), 10)
        14.1431205019
        """
        return _core.growth_bound(self._regime, start, tick, tan2)

    def iterations(self, tan2: float, epsilon: float, *, start: str = "U") -> int:
        """The fewest steps after which the exact envelope is at most ``epsilon``.

        Parameters
        ----------
        tan2 : float
            ``tan**2`` of the angle at the start.
        epsilon : float
            ``sin**2`` wanted.
        start : {'U', 'T'}, default='U'
            The first step.

        Returns
        -------
        int
            Steps.
        """
        return _core.growth_iterations(self._regime, start, tan2, epsilon)

    def iterations_closed_form(self, tan2: float, epsilon: float) -> int:
        """The closed form for the start ``'T'``, ``ln(4 tan2 / epsilon) / (-2 ln q)``.

        Parameters
        ----------
        tan2, epsilon
            As for :meth:`iterations`.

        Returns
        -------
        int
            Steps.

        Examples
        --------
        >>> from favard.theory import Growth
        >>> Growth.optimal(1.0, 0.9).iterations_closed_form(1.0, 1e-10)
        27
        """
        return _core.growth_iterations_closed_form(self._regime, tan2, epsilon)


@dataclass(frozen=True)
class Shift:
    """The best shift and momentum when the other eigenvalues lie in a known interval.

    On ``A - shift I`` a positive matrix with a small gap takes up to ``sqrt(2)`` times fewer steps.

    Parameters
    ----------
    lambda1 : float
        The largest eigenvalue.
    lower, upper : float
        The interval of all others.

    Attributes
    ----------
    shift : float
        What is to be subtracted from the diagonal.
    growth : Growth
        The regime of the shifted matrix.

    Examples
    --------
    >>> from favard.theory import Growth, Shift
    >>> shifted = Shift(1.0, 0.0, 0.9)
    >>> shifted.shift, round(shifted.growth.ln_rate / Growth.optimal(1.0, 0.9).ln_rate, 3)
    (0.45, 1.402)
    """

    lambda1: float
    lower: float
    upper: float

    def __post_init__(self):
        _core.shift(self.lambda1, self.lower, self.upper)

    @property
    def shift(self) -> float:
        """What is to be subtracted from the diagonal."""
        return _core.shift(self.lambda1, self.lower, self.upper)[0]

    @property
    def growth(self) -> Growth:
        """The regime of the shifted matrix."""
        return Growth(*_core.shift(self.lambda1, self.lower, self.upper)[1])


def tan2(cos2: float) -> float:
    """``tan**2`` of an angle from its ``cos**2``.

    Parameters
    ----------
    cos2 : float
        In (0, 1]; ``1 / d`` is that of a random start in d dimensions.

    Returns
    -------
    float
        ``(1 - cos2) / cos2``.

    Examples
    --------
    >>> from favard.theory import tan2
    >>> tan2(0.5)
    1.0
    """
    return _core.tan2(cos2)


def sin2(
    tick: int, spectrum: Sequence[float], squares: Sequence[float], beta: float, *, start: str = "U"
) -> float:
    """The exact ``sin**2`` of the angle to the first eigenvector after some steps.

    Parameters
    ----------
    tick : int
        Steps.
    spectrum : sequence of float
        The eigenvalues, the wanted one first.
    squares : sequence of float
        ``(u_i @ w0)**2`` in any common scale.
    beta : float
        The momentum.
    start : {'U', 'T'}, default='U'
        The first step.

    Returns
    -------
    float
        ``sin**2``.

    Examples
    --------
    >>> from favard.theory import sin2
    >>> sin2(1, [1.0, 0.5], [1.0, 1.0], 0.0)
    0.2
    """
    spectrum, squares = list(map(float, spectrum)), list(map(float, squares))
    return _core.sin2(start, tick, spectrum, squares, beta)
