"""What the estimators of two stages have in common: a spectral start and a descent."""

import warnings
from dataclasses import replace

from sklearn.exceptions import ConvergenceWarning

from favard._info import Info


def joined(estimator, found):
    """The reports of the start and of both stages, which is the descent's with the start's cost."""
    first, last = Info.of(found["spectral"]), Info.of(found["info"])
    return first, replace(
        last,
        iterations=first.iterations + last.iterations,
        applications=first.applications + last.applications,
        passes=first.passes + last.passes,
        solver="heavy-ball" if estimator.momentum else "gradient",
    )


def finish(estimator, found):
    """Raises what stopped a run, now that its result is kept; warns of one that ran out of steps.

    A descent that converged where no direction improves the fit is what noise allows: no warning,
    but ``info_.certified`` is false.
    """
    if found["raised"] is not None:
        raise found["raised"]
    info = estimator.info_
    if info.certified or info.stop in ("converged", "requested"):
        return
    warnings.warn(
        f"{type(estimator).__name__} did not reach the tolerance {info.tolerance:.1e}: the "
        f"residual is {info.residuals[0]:.1e} ({info.stop} after {info.passes:.1f} passes). "
        "Increase max_iter or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
