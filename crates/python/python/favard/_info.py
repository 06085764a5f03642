"""What a run reports."""

from dataclasses import dataclass, field, fields

import numpy as np


@dataclass(frozen=True, eq=False)
class Info:
    """Why a run stopped, what it cost and what is proved.

    Attributes
    ----------
    stop : str
        ``"converged"``, or what ended it before: ``"iterations"``, ``"passes"``, ``"stagnated"``,
        ``"requested"`` (a callback returned true), ``"cancelled"`` (Ctrl-C, or an exception of a
        callback), ``"exhausted"`` (the end of a stream), ``"breakdown"`` (the iterate became zero).
    certified : bool
        Whether everything that was asked for was found and every residual, recomputed from the
        data, meets the tolerance.
    tolerance : float
        The tolerance, relative to the largest eigenvalue (or the certificate of least squares).
    residuals : ndarray
        The recomputed residuals. Least squares: of each right-hand side what was compared with the
        tolerance, the certificate or, where that is smaller, ``||r|| / ||b||``.
    solver, reason : str
        The method, and why it was used.
    iterations, applications : int
        Steps, and block products with the data.
    passes : float
        Passes over the data.
    history : ndarray of shape (steps, 4)
        Tick, passes, largest value and largest residual after each step.
    complete : bool
        Whether the trace proves that no larger eigenvalue was missed.
    value_bounds, angle_bounds : ndarray
        How far each value can be from the eigenvalue it stands for, and the sine of the angle of
        each vector; NaN where nothing is known.
    clusters : list of (int, int)
        Runs of components of which only the space is determined.
    orthogonality : float
        How far the vectors are from orthonormal.
    """

    stop: str
    iterations: int
    applications: int
    passes: float
    history: np.ndarray
    certified: bool = False
    tolerance: float = 0.0
    residuals: np.ndarray = field(default_factory=lambda: np.zeros(0))
    solver: str = ""
    reason: str = ""
    complete: bool = False
    value_bounds: np.ndarray = field(default_factory=lambda: np.zeros(0))
    angle_bounds: np.ndarray = field(default_factory=lambda: np.zeros(0))
    clusters: list = field(default_factory=list)
    orthogonality: float = 0.0

    def __repr__(self):
        worst = self.residuals.max() if self.residuals.size else 0.0
        shown = {
            "stop": self.stop,
            "certified": self.certified,
            "solver": self.solver,
            "passes": round(self.passes, 2),
            "residual": f"{worst:.1e}",
        }
        return f"Info({', '.join(f'{name}={value}' for name, value in shown.items())})"

    @classmethod
    def of(cls, found, **more):
        """From the dictionary of the core."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in {**found, **more}.items() if name in known})


def tested(found):
    """What the core reports of least squares, with the residuals that were compared with the
    tolerance. Where a norm overflowed they are infinite, and nothing is certified."""
    info, misfits = found["info"], found["info"].get("misfits")
    if misfits is not None:
        return {**info, "residuals": np.fmin(info["residuals"], misfits)}
    norms, sizes = (np.asarray(found[name], dtype=float) for name in ("residuals", "sizes"))
    misfits = np.where(norms == 0, 0.0, np.inf)
    np.divide(norms, sizes, out=misfits, where=(sizes > 0) & (norms > 0))
    finite = np.isfinite(norms) & np.isfinite(sizes) & np.isfinite(found["norm"])
    # A certificate that is all rounding may be NaN.
    residuals = np.where(finite, np.fmin(info["residuals"], misfits), np.inf)
    return {**info, "residuals": residuals, "certified": bool(info["certified"] and finite.all())}
