"""Planners: how many steps, what batch, what momentum, and will it work?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from favard._core import theory as _core
from favard.theory._growth import Growth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

__all__ = [
    "Estimate",
    "Estimates",
    "Pair",
    "Plan",
    "Quantity",
    "Recipe",
    "Target",
    "estimate",
    "plan",
]


@dataclass(frozen=True)
class Estimates:
    """What a plan is made from. The noise is that of one sample.

    Parameters
    ----------
    lambda1 : float
        The largest eigenvalue.
    lambda2 : float
        The largest modulus of the others.
    lower : float, default=None
        The smallest eigenvalue, if known: with it a shift is offered.
    dim : int, default=1
        The dimension.
    sigma_norm : float, default=0.0
        ``||E[N kron N]||``.
    s_op : float, default=0.0
        ``||E[N.T N]||``, which is at least the other two.
    kappa : float, default=0.0
        ``E ||(I - u1 u1.T) N u1||**2``.
    terms : int, default=None
        The number of rows; None for a stream.
    cos2 : float, default=1.0
        ``cos**2`` of the angle of the start; ``1 / dim`` for a random one.

    Examples
    --------
    >>> from favard.theory import Estimates
    >>> known = Estimates.from_spectrum([0.2, -0.5, 1.0])
    >>> known.lambda2, known.lower, known.dim
    (0.5, -0.5, 3)
    """

    lambda1: float
    lambda2: float
    lower: float | None = None
    dim: int = 1
    sigma_norm: float = 0.0
    s_op: float = 0.0
    kappa: float = 0.0
    terms: int | None = None
    cos2: float = 1.0

    @classmethod
    def from_spectrum(cls, spectrum: Sequence[float], **more: Any) -> Self:
        """Those of a known spectrum and a random start, without noise.

        Parameters
        ----------
        spectrum : sequence of float
            The eigenvalues.
        **more
            Further numbers: the noise, say.

        Returns
        -------
        Estimates
            What is known.
        """
        return cls(**{**_core.estimates_of_spectrum(list(map(float, spectrum))), **more})


@dataclass(frozen=True)
class Target:
    """What is asked for.

    Parameters
    ----------
    epsilon : float
        ``sin**2`` of the angle.
    delta : float
        The probability of failure.
    largest_batch : int, default=None
        The largest batch that can be drawn.

    Examples
    --------
    >>> from favard.theory import Estimates, Target, plan
    >>> known = Estimates.from_spectrum([0.9, 1.0])
    >>> loose = plan(known, Target(1e-2)).mini_batch.practical.iterations.value
    >>> loose < plan(known, Target(1e-6)).mini_batch.practical.iterations.value
    True
    """

    epsilon: float
    delta: float = 0.1
    largest_batch: int | None = None


@dataclass(frozen=True)
class Quantity:
    """A planned number, with where it comes from.

    Parameters
    ----------
    value : float
        The number; counts are whole.
    formula, source : str
        The formula, and the theorem and erratum behind it.
    pessimism : str
        How far it is from what is needed.
    times : float or None
        How many times the practical number it is, for guaranteed ones.
    """

    value: float
    formula: str
    source: str
    pessimism: str
    times: float | None = None

    def __float__(self):
        return self.value

    def __str__(self):
        return f"{self.value:g} = {self.formula} ({self.source}; {self.pessimism})"


@dataclass(frozen=True)
class Recipe:
    """The numbers of one run.

    Parameters
    ----------
    beta : Quantity
        The momentum.
    iterations : Quantity
        Steps of the run, or of one epoch.
    batch : Quantity
        Samples a step.
    epochs : Quantity
        Epochs; 1 for a plain run.
    passes : Quantity or None
        Passes over the data, if the number of rows is known.
    noise_ball : Quantity
        The stationary error; 0 with variance reduction.
    """

    beta: Quantity
    iterations: Quantity
    batch: Quantity
    epochs: Quantity
    passes: Quantity | None
    noise_ball: Quantity

    @classmethod
    def _of(cls, found):
        if found is None:
            return None
        return cls(**{n: None if told is None else Quantity(*told) for n, told in found.items()})


@dataclass(frozen=True)
class Pair:
    """A practical recipe and a guaranteed one, side by side.

    Parameters
    ----------
    practical : Recipe
        Formulas that are exact to leading order.
    guaranteed : Recipe or None
        The corrected theorem.
    why_not : str or None
        Why there is no guarantee.
    """

    practical: Recipe
    guaranteed: Recipe | None = None
    why_not: str | None = None

    @classmethod
    def _of(cls, found):
        if found is None:
            return None
        practical, guaranteed = Recipe._of(found["practical"]), Recipe._of(found["guaranteed"])
        return cls(practical, guaranteed, found["why_not"])

    def __str__(self):
        lines = [f"{'':<12}{'practical':>12}{'guaranteed':>12}  practical formula"]
        for name, quantity in vars(self.practical).items():
            if quantity is None:
                continue
            other = getattr(self.guaranteed, name, None)
            shown = "-" if other is None else f"{other.value:.4g}"
            formula = f"{quantity.formula} ({quantity.pessimism})"
            label = name.replace("_", " ")
            lines.append(f"{label:<12}{quantity.value:>12.4g}{shown:>12}  {formula}")
        if self.why_not is not None:
            lines.append(f"no guarantee: {self.why_not}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Plan:
    """What to run.

    Parameters
    ----------
    mini_batch : Pair
        One run with mini-batches.
    variance_reduced : Pair or None
        Epochs with an anchor; None for a stream.
    shift : (float, Growth) or None
        What is to be subtracted from the diagonal, and the regime then.
    breaking_variance : Quantity
        The largest ``||E[N kron N]||`` of a step that the mini-batch run survives.

    Examples
    --------
    >>> from favard.theory import Estimates, plan
    >>> found = plan(Estimates.from_spectrum([0.9, 1.0]), 1e-6)
    >>> found.mini_batch.practical.beta.value, found.mini_batch.practical.iterations.value
    (0.2025, 22.0)
    """

    mini_batch: Pair
    variance_reduced: Pair | None
    shift: tuple[float, Growth] | None
    breaking_variance: Quantity

    def __str__(self):
        text = f"mini-batches, one run\n{self.mini_batch}"
        if self.variance_reduced is not None:
            text += f"\n\nvariance-reduced, epochs with an anchor\n{self.variance_reduced}"
        return text


def plan(
    estimates: Estimates | Estimate,
    target: Target | float,
    delta: float = 0.1,
    *,
    largest_batch: int | None = None,
) -> Plan:
    """Plan a run: momentum, steps, batch, epochs, passes and noise ball, twice.

    Parameters
    ----------
    estimates : Estimates or Estimate
        What is known of the problem: given, or from :func:`estimate`.
    target : Target or float
        What is asked for; a number is its epsilon.
    delta : float, default=0.1
        The probability of failure, where the target is a number.
    largest_batch : int, default=None
        The largest batch, where the target is a number.

    Returns
    -------
    Plan
        Practical and guaranteed, side by side.

    Examples
    --------
    >>> from favard.theory import Estimates, plan
    >>> known = Estimates.from_spectrum(
    ...     [1.0] + 9 * [0.9], s_op=10.097, sigma_norm=9.124, kappa=8.096, cos2=0.5,
    ...     terms=1_000_000)
    >>> found = plan(known, 1e-3)
    >>> found.mini_batch.practical.batch.value
    195511.0
    >>> found.mini_batch.guaranteed.batch.value > 1e9
    True
    >>> print(found.mini_batch.practical.beta)
    0.2025 = λ₂²/4 (remark after Corollary convergence, erratum 2.5; exact)
    """
    if isinstance(estimates, Estimate):
        estimates = estimates.estimates
    if not isinstance(estimates, Estimates):
        raise TypeError(f"estimates must be Estimates, got {type(estimates).__name__} instead")
    if not isinstance(target, Target):
        target = Target(float(target), delta, largest_batch)
    found = _core.plan(asdict(estimates), target.epsilon, target.delta, target.largest_batch)
    shift = found["shift"]
    return Plan(
        Pair._of(found["mini_batch"]),
        Pair._of(found["variance_reduced"]),
        None if shift is None else (shift[0], Growth(*shift[1])),
        Quantity(*found["breaking_variance"]),
    )


@dataclass(frozen=True)
class Estimate:
    """What :func:`estimate` found.

    Parameters
    ----------
    estimates : Estimates
        For :func:`plan`.
    residuals : (float, float)
        There is an eigenvalue within this distance of each of ``lambda1`` and ``lambda2``.
    sigma_range : (float, float)
        Between which numbers ``||E[N kron N]||`` lies, up to sampling error.
    sigma2 : float
        ``E ||N||**2``.
    products : int
        Block products used.
    passes : float
        Passes over the data used.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import estimate
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [1.0, 0.7, 0.5]
    >>> found = estimate(X)
    >>> found.sigma_range[0] <= found.estimates.sigma_norm <= found.sigma_range[1]
    True
    """

    estimates: Estimates
    residuals: tuple[float, float]
    sigma_range: tuple[float, float]
    sigma2: float
    products: int
    passes: float


def estimate(
    X: Any,
    *,
    center: bool = True,
    scale: bool = False,
    max_products: int = 30,
    n_samples: int = 500,
    cos2: float | None = None,
    random_state: Any = None,
) -> Estimate:
    """Measure what a planner has to know of the covariance of data.

    A few block products give the top of the spectrum, a sample of the rows the noise.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Sparse data stays sparse.
    center : bool, default=True
        Whether the mean is subtracted.
    scale : bool, default=False
        Whether columns are divided by their standard deviations.
    max_products : int, default=30
        Block products for the spectrum at most.
    n_samples : int, default=500
        Rows that are drawn for the noise.
    cos2 : float, default=None
        ``cos**2`` of the angle of the start, if it is not random.
    random_state : int, RandomState instance or None, default=None
        The seed. None is always the same one.

    Returns
    -------
    Estimate
        The numbers, with error bars.

    Examples
    --------
    >>> import numpy as np
    >>> from favard.theory import estimate, plan
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5)) * [1.0, 0.7, 0.5, 0.3, 0.1]
    >>> found = estimate(X)
    >>> abs(found.estimates.lambda1 - 1.0) < 0.2, found.estimates.terms
    (True, 2000)
    >>> plan(found, 1e-2).mini_batch.practical.batch.value > 1
    True
    """
    from sklearn.utils import check_array

    from favard._common import seed_of
    from favard._data import FLOATS, core_matrix

    for name, value in (("max_products", max_products), ("n_samples", n_samples)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(
                f"The {name!r} parameter of estimate must be an int that is at least 1. Got "
                f"{value!r} instead."
            )
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=FLOATS, ensure_min_samples=2)
    found = _core.estimate(
        core_matrix(X),
        center=bool(center),
        scale=bool(scale),
        products=int(max_products),
        samples=int(n_samples),
        seed=seed_of(random_state),
    )
    known = Estimates(**found["estimates"])
    if cos2 is not None:
        known = replace(known, cos2=float(cos2))
    return Estimate(
        known,
        residuals=tuple(found["residuals"]),
        sigma_range=tuple(found["sigma_range"]),
        sigma2=found["sigma2"],
        products=found["products"],
        passes=found["passes"],
    )
