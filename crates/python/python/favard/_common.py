"""What the estimators have in common."""

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, assert_all_finite

from favard._data import rounding
from favard._info import Info, tested
from favard._on_disk import OnDisk
from favard._progress import watcher

#: Solvers of ours, for the parameter ``solver``.
SOLVERS = (
    "auto",
    "exact",
    "krylov",
    "power",
    "momentum",
    "dynamic",
    "chebyshev",
    "heavy-ball",
    "inhomogeneous",
    "oja",
    "oja-momentum",
    "ada-oja",
    "minibatch",
    "vr-pca",
    "vr",
)

#: The largest number of steps, rows or passes that the core counts.
_MOST = 2**63 - 1


def seed_of(random_state):
    """A seed: the same one unless something else is asked for."""
    if random_state is None:
        return 1
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_name(estimator, name, known):
    """``ValueError`` unless a parameter is one of some names."""
    value = getattr(estimator, name)
    if value not in known:
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be a str among "
            f"{set(known)}. Got {value!r} instead."
        )


def check_number(estimator, name, low, *, kind=Real, optional=False):
    """``ValueError`` unless a parameter is a finite number that is at least ``low``."""
    value = getattr(estimator, name)
    if optional and value is None:
        return
    good = isinstance(value, kind) and not isinstance(value, bool)
    if good and isinstance(value, Integral) and value > _MOST:
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be at most {_MOST}. "
            f"Got {value!r} instead."
        )
    if not good or not np.isfinite(value) or value < low:
        what = "an int" if kind is Integral else "a finite number"
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be {what} that is at "
            f"least {low}. Got {value!r} instead."
        )


def tolerance(tol, exact, dtype, dim, default=1e-6):
    """``tol`` as the core takes it: 0 is what rounding allows, None is that for ``exact``, else the
    default (which float32 may not hold: then it is rounding as well)."""
    if tol is None:
        return rounding(dtype, dim) if exact else max(default, rounding(dtype, dim))
    return rounding(dtype, dim) if tol == 0 else float(tol)


def weights_of(sample_weight, X):
    """Weights for the core, or None."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.ascontiguousarray(weights)


def run(estimator, core, X, *args, **kwargs):
    """Calls the core with the watcher of an estimator, and words its errors like scikit-learn.

    What the core is asked for is a dictionary among the arguments; it has the tolerance.
    """
    name = type(estimator).__name__
    asked = next((each for each in args if isinstance(each, dict)), {})
    with watcher(name, estimator.verbose, estimator.callback, asked.get("tolerance")) as watch:
        try:
            found = core(*args, callback=watch.callback, **kwargs)
        except ValueError as error:
            if "not finite" in str(error) and not isinstance(X, OnDisk):
                assert_all_finite(X, estimator_name=name, input_name="X")
            raise
        if "misfits" in found["info"] or "sizes" in found:
            found["info"] = tested(found)
        info = watch.info = Info.of(found["info"])
    return found, info


def finish(estimator, found):
    """Raises what stopped a run, now that its result is kept; warns of one that did not converge."""
    raised = found.get("raised")
    if raised is not None:
        raise raised
    info = estimator.info_
    stopped = info.stop in ("requested", "exhausted")
    ended = info.stop in ("converged", "stagnated")
    if info.certified or stopped or (ended and _is_rounding(estimator)):
        return
    shown = info.residuals
    if getattr(estimator, "method", None) in ("averaged", "blocks"):
        # Kaczmarz was asked for a solution, not for least squares.
        shown = info.misfits
    worst = shown.max() if shown.size else np.nan
    if hasattr(estimator, "components_") and len(info.history) and info.history[-1, 2] > 0:
        # As the tolerance is: relative to the largest eigenvalue.
        worst = worst / info.history[-1, 2]
    warnings.warn(
        f"{type(estimator).__name__} did not reach the tolerance {info.tolerance:.1e}: the largest "
        f"residual is {worst:.1e} ({info.stop} after {info.passes:.1f} passes). Increase max_iter "
        "or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _is_rounding(estimator):
    """Whether a run that could go no further missed the tolerance by rounding alone: the residuals,
    which are computed anew, and those of the run each have the rounding of their products. Of centred
    data these are products with rows around the mean, whose squares are larger by that of the mean:
    where that takes more than half of the digits it is worth a warning."""
    info, largest, mean = estimator.info_, 1.0, 0.0
    if hasattr(estimator, "components_"):
        # Residuals of eigenvalues are absolute, those of least squares are relative.
        largest = abs(info.history[-1, 2]) if len(info.history) else 0.0
        mean = _square_of_mean(estimator)
        fitted = estimator.components_
    else:
        fitted = estimator.coef_
    own = 2 * rounding(fitted.dtype, estimator.n_features_in_)
    shifted = min(own * mean, float(np.finfo(fitted.dtype).eps) ** 0.5 * largest)
    return info.residuals.max(initial=0.0) <= (info.tolerance + own) * largest + shifted


def _square_of_mean(estimator):
    """``||mean_ / scale_||**2``, zero where nothing is subtracted."""
    mean = getattr(estimator, "mean_", None)
    if mean is None:
        return 0.0
    scale = getattr(estimator, "scale_", None)
    mean = np.asarray(mean, dtype=np.float64)
    return float(np.sum((mean if scale is None else mean / scale) ** 2))
