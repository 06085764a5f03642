"""The theory of power iteration with momentum: polynomials, corrected bounds, planners.

The recurrence is ``F_{t+1} = A_t F_t - beta F_{t-1}``.

=============================================================  =====================================
`chebyshev`, `momentum`                                        polynomials, to any degree
`Growth`, `Shift`, `tan2`, `sin2`, `block`                     how fast without noise
`Covariance`, `MiniBatch`, `VarianceReduced`, `HeavyBall`      how much noise, in norms
`noise_ball`, `excess`, `second_moment`                        how much noise, exactly
`estimate`, `plan`                                             what to run on this data
=============================================================  =====================================

Bounds are stated for the first step that they hold for: ``start='U'`` is ``p_1 = x``, what the
algorithms run, ``start='T'`` is ``p_1 = x / 2``, what the paper's Theorem 1 is proved for.

Examples
--------
>>> from favard.theory import Covariance, Growth, tan2
>>> growth = Growth.optimal(1.0, 0.9)  # lambda1, lambda2 and beta = lambda2**2 / 4
>>> steps = growth.iterations(tan2(0.1), 1e-10)  # how long?
>>> growth.bound(steps, tan2(0.1)) <= 1e-10
True
>>> Covariance(1.0, growth.beta, 1e-4).breaking_time(10_000)  # when does the noise win?
1321
"""

from favard.theory import block, chebyshev, momentum, planner, second_moment
from favard.theory._demands import MiniBatch, VarianceReduced
from favard.theory._growth import Growth, Shift, sin2, tan2
from favard.theory._noise import (
    Covariance,
    HeavyBall,
    anchor_factor,
    ball_coefficient,
    contraction_breaking_variance,
    contraction_rate,
    epoch_covariance,
    epoch_factor_bound,
    excess,
    noise_ball,
)
from favard.theory.planner import Estimate, Estimates, Plan, Target, estimate, plan
from favard.theory.second_moment import critical_batch

__all__ = [
    "Covariance",
    "Estimate",
    "Estimates",
    "Growth",
    "HeavyBall",
    "MiniBatch",
    "Plan",
    "Shift",
    "Target",
    "VarianceReduced",
    "anchor_factor",
    "ball_coefficient",
    "block",
    "chebyshev",
    "contraction_breaking_variance",
    "contraction_rate",
    "critical_batch",
    "epoch_covariance",
    "epoch_factor_bound",
    "estimate",
    "excess",
    "momentum",
    "noise_ball",
    "plan",
    "planner",
    "second_moment",
    "sin2",
    "tan2",
]
