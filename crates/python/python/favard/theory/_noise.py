"""With noise, in norms: variance bounds, the noise ball, the contraction regime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from favard._core import theory as _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from favard.theory._growth import Growth


@dataclass(frozen=True)
class Covariance:
    """The variance of the scalar recurrence, which bounds that of the matrix one.

    Parameters
    ----------
    lambda1 : float
        The spectral radius.
    beta : float
        The momentum.
    noise : float
        The norm of ``E[N kron N]``; with that of ``E[N.T N]`` the total variance of a unit vector
        is bounded, without the dimension.

    Examples
    --------
    >>> from favard.theory import Covariance
    >>> bound = Covariance(1.0, 0.2025, 0.04)
    >>> round(bound.lemma_sum(5), 12)
    0.069501071505
    >>> bound.lemma_sum(5) <= bound.sharp_binomial(5) <= bound.paper_binomial(5)
    True
    """

    lambda1: float
    beta: float
    noise: float

    def __post_init__(self):
        _core.covariance_at(self._scalars, "relative", 0)

    @property
    def _scalars(self):
        return float(self.lambda1), float(self.beta), float(self.noise)

    def _at(self, name, tick):
        return _core.covariance_at(self._scalars, name, tick)

    def lemma_sum(self, tick: int) -> float:
        """The sum of Lemma covbound: the exact scalar variance.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The bound.
        """
        return self._at("lemma_sum", tick)

    def relative(self, tick: int) -> float:
        """The sum over ``p_t(lambda1)**2``, which never overflows.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The bound.
        """
        return self._at("relative", tick)

    def sharp_binomial(self, tick: int) -> float:
        """``p_t**2 ((1 + s/D)**t - 1)``.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The bound.
        """
        return self._at("sharp_binomial", tick)

    def sharp_exponential(self, tick: int) -> float:
        """``p_t**2 (exp(s t / D) - 1)``.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The bound.
        """
        return self._at("sharp_exponential", tick)

    def sharp_linear(self, tick: int) -> float | None:
        """``p_t**2 2 s t / D`` where ``s t <= D``.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float or None
            The bound; None where it does not hold.
        """
        return self._at("sharp_linear", tick)

    def paper_binomial(self, tick: int) -> float:
        """``p_t**2 ((1 + 4 s/D)**t - 1)``, the paper's.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The bound.
        """
        return self._at("paper_binomial", tick)

    def paper_exponential(self, tick: int) -> float:
        """``p_t**2 (exp(4 s t/D) - 1)``, the paper's.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The bound.
        """
        return self._at("paper_exponential", tick)

    def paper_linear(self, tick: int) -> float | None:
        """The paper's linear form, where it holds.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float or None
            The bound; None where it does not hold.
        """
        return self._at("paper_linear", tick)

    def lemma_sums(self, ticks: int) -> NDArray[np.float64]:
        """The sums at 0, 1, ..., ticks.

        Parameters
        ----------
        ticks : int
            Steps.

        Returns
        -------
        ndarray of shape (ticks + 1,)
            The sums.

        Examples
        --------
        >>> from favard.theory import Covariance
        >>> Covariance(1.0, 0.0, 0.04).lemma_sums(2).round(12)
        array([0.    , 0.04  , 0.0816])
        """
        return _core.covariance_lemma_sums(self._scalars, ticks)

    def breaking_time(self, limit: int) -> int | None:
        """The first step at which the relative variance reaches 1.

        Parameters
        ----------
        limit : int
            The last step that is looked at.

        Returns
        -------
        int or None
            The step; None if there is none up to the limit.

        Examples
        --------
        >>> from favard.theory import Covariance
        >>> Covariance(1.0, 0.1, 1e-2).breaking_time(1000)
        43
        """
        return _core.covariance_breaking_time(self._scalars, limit)

    def breaking_variance(self, tick: int) -> float:
        """The noise at which the relative variance after some steps is 1.

        Parameters
        ----------
        tick : int
            Steps.

        Returns
        -------
        float
            The strength of the noise; that of ``self`` plays no part.
        """
        return _core.covariance_breaking_variance(self._scalars, tick)


def ball_coefficient(growth: Growth, eigenvalue: float) -> float:
    """The noise ball of one eigenvalue for a batch of one row and a noise of one.

    Parameters
    ----------
    growth : Growth
        The regime.
    eigenvalue : float
        One of the others.

    Returns
    -------
    float
        The stationary variance of ``v_{t+1} = a1 v_t + a2 v_{t-1} + n / mu``.

    Examples
    --------
    >>> from favard.theory import Growth, ball_coefficient
    >>> round(ball_coefficient(Growth.optimal(1.0, 0.9), 0.9), 10)
    12.074512309
    """
    return _core.ball_coefficient(growth._regime, eigenvalue)


def noise_ball(growth: Growth, others: Sequence[tuple[float, float]], batch: float) -> float:
    """The stationary error of mini-batches: ``sum_i kappa_i coefficient(lambda_i) / batch``.

    Parameters
    ----------
    growth : Growth
        The regime.
    others : sequence of (float, float)
        Pairs ``(lambda_i, kappa_i)``, ``kappa_i = E (u_i @ N @ u_1)**2`` of one sample.
    batch : int
        Samples a step.

    Returns
    -------
    float
        ``sin**2`` to leading order.

    Examples
    --------
    >>> from favard.theory import Growth, noise_ball
    >>> round(noise_ball(Growth.optimal(1.0, 0.9), [(0.9, 8.096)], 1000), 5)
    0.09776
    """
    pairs = [(float(eigenvalue), float(kappa)) for eigenvalue, kappa in others]
    return _core.noise_ball(growth._regime, pairs, batch)


def excess(lambda_: float, beta: float, noise: float) -> float:
    """The growth of the scalar second moment a step, as an excess over ``mu**2``.

    Parameters
    ----------
    lambda_, beta, noise : float
        The eigenvalue, the momentum and the strength of the noise.

    Returns
    -------
    float
        e in ``mu**2 (1 + e)``.

    Examples
    --------
    >>> from favard.theory import excess
    >>> round(excess(1.0, 0.2025, 1e-4) * 1e4, 4)
    5.2601
    """
    return _core.excess(lambda_, beta, noise)


def contraction_breaking_variance(lambda_: float, beta: float) -> float:
    """The largest noise for which the recurrence contracts in mean square.

    Parameters
    ----------
    lambda_ : float
        The spectral radius; ``2 sqrt(beta)`` where it is larger.
    beta : float
        The momentum, below 1.

    Returns
    -------
    float
        ``(1 - beta) ((1 + beta)**2 - lambda**2) / (1 + beta)``.

    Examples
    --------
    >>> from favard.theory import contraction_breaking_variance
    >>> contraction_breaking_variance(0.0, 0.25)
    0.3375
    """
    return _core.contraction_breaking_variance(lambda_, beta)


def contraction_rate(lambda_: float, beta: float, noise: float) -> float:
    """The bound on the factor a step of the second moment, where it contracts.

    Parameters
    ----------
    lambda_, beta, noise : float
        As for :func:`contraction_breaking_variance`, with the noise below it.

    Returns
    -------
    float
        ``mu**2 (1 + e)``.

    Examples
    --------
    >>> from favard.theory import contraction_rate
    >>> 0.25 < contraction_rate(0.5, 0.25, 1e-6) < 0.26
    True
    """
    return _core.contraction_rate(lambda_, beta, noise)


@dataclass(frozen=True)
class HeavyBall:
    """Step and momentum of the heavy ball.

    Parameters
    ----------
    step : float
        The step.
    gamma : float
        The momentum.

    Examples
    --------
    >>> from favard.theory import HeavyBall
    >>> ball = HeavyBall.polyak(0.01, 1.0)
    >>> round(ball.step, 4), round(ball.gamma, 4), ball.batch(4.2)
    (3.3058, 0.6694, 2122)
    """

    step: float
    gamma: float

    @classmethod
    def polyak(cls, h_min: float, h_max: float) -> Self:
        """Polyak's parameters for a spectrum.

        Parameters
        ----------
        h_min, h_max : float
            The ends of the spectrum of the Hessian.

        Returns
        -------
        HeavyBall
            ``4 / (sqrt(h_max) + sqrt(h_min))**2`` and its momentum.
        """
        return cls(*_core.heavy_ball(h_min, h_max))

    def batch(self, sigma: float) -> int:
        """The batch from which it contracts in mean square for sure.

        Parameters
        ----------
        sigma : float
            The norm of ``E[N kron N]`` of the Hessian of one sample.

        Returns
        -------
        int
            Samples a step.
        """
        return _core.heavy_ball_batch(self.step, self.gamma, sigma)


def anchor_factor(theta: float) -> float:
    """The share of the noise that is left with an anchor.

    Parameters
    ----------
    theta : float
        ``sin**2`` of the anchor's angle.

    Returns
    -------
    float
        ``4 theta (1 - theta)`` up to 1/2, then 1.

    Examples
    --------
    >>> from favard.theory import anchor_factor
    >>> round(anchor_factor(0.2), 12), anchor_factor(0.7)
    (0.64, 1.0)
    """
    return _core.anchor_factor(theta)


def epoch_covariance(noise: Covariance, theta: float, tick: int) -> float:
    """The bound on the covariance within an epoch (Lemma svrgvar).

    Parameters
    ----------
    noise : Covariance
        The bounds without an anchor.
    theta : float
        ``sin**2`` of the anchor's angle.
    tick : int
        Steps since the anchor.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from favard.theory import Covariance, epoch_covariance
    >>> round(epoch_covariance(Covariance(1.0, 0.16, 0.04), 0.2, 1), 12)
    0.0256
    """
    return _core.epoch_covariance(noise._scalars, theta, tick)


def epoch_factor_bound(growth: Growth, s_op: float, ticks: int, *, flat: bool = False) -> float:
    """A bound on the factor of one variance-reduced epoch near convergence.

    Parameters
    ----------
    growth : Growth
        The regime.
    s_op : float
        ``||E[N.T N]||`` of a batch.
    ticks : int
        Steps of the epoch.
    flat : bool, default=False
        Whether all other eigenvalues are ``lambda2``; else they may be anywhere below.

    Returns
    -------
    float
        The factor on ``sin**2``.

    Examples
    --------
    >>> from favard.theory import Growth, epoch_factor_bound
    >>> 0.067 < epoch_factor_bound(Growth.optimal(1.0, 0.9), 10.1e-3, 10, flat=True) < 0.1
    True
    """
    return _core.epoch_factor_bound(growth._regime, s_op, ticks, flat)
