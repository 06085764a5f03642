"""lsmr: least squares of an operator, as scipy.sparse.linalg has it."""

from dataclasses import replace

import numpy as np
from scipy.linalg import norm

from favard import _core
from favard._info import Info, tested
from favard._operator import Source
from favard._progress import watcher


def lsmr(
    A,
    b,
    damp=0.0,
    atol=1e-6,
    btol=1e-6,
    conlim=1e8,
    maxiter=None,
    show=False,
    x0=None,
    *,
    return_info=False,
    callback=None,
):
    """The least-squares solution of ``A x = b``, damped if need be.

    In place of ``scipy.sparse.linalg.lsmr``.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (m, n)
        A real matrix; any object with ``shape``, ``matvec`` (or ``matmat``) and ``rmatvec``.
    b : ndarray of shape (m,)
        The right-hand side.
    damp : float, default=0.0
        Minimise ``||A x - b||**2 + damp**2 * ||x - x0||**2``.
    atol, btol : float, default=1e-6
        Stop when ``||A.T r|| <= tol * ||A|| * ||r||`` or ``||r|| <= tol * ||b||``, with the smaller
        of both for tol; one that is zero does not count.
    conlim : float, default=1e8
        Without effect: a run stops when rounding lets it go no further.
    maxiter : int, optional
        Steps at most; ``min(m, n)``, and at least 100, unless said otherwise.
    show : bool, default=False
        Whether progress is shown.
    x0 : ndarray of shape (n,), optional
        Where to start. The tolerance does not depend on it.
    return_info : bool, default=False
        Whether an :class:`favard.Info` is returned as well.
    callback : callable, optional
        Called as ``callback(tick, passes, residual)`` after every step; true stops.

    Returns
    -------
    x : ndarray of shape (n,)
        The solution.
    istop : int
        0: x0 solves it; 1: ``A x = b``; 2: least squares; 5: rounding, or a norm that overflows,
        let it go no further; 7: ``maxiter`` steps were not enough, or a callback stopped it.
    itn : int
        Steps.
    normr, normar : float
        ``||b - A x||`` and ``||A.T (b - A x) - damp**2 (x - x0)||``, recomputed.
    norma : float
        A lower bound on the norm of A (with the rows of the damping).
    conda : float
        NaN: it is not estimated.
    normx : float
        ``||x||``.
    info : Info
        With ``return_info=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import lsmr
    >>> x, istop, *_ = lsmr(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([1.0, 0, -1]))
    >>> np.round(x, 6), istop
    (array([ 1., -1.]), 1)
    """
    source = Source(A, booleans=True)
    if source.is_complex:
        raise TypeError("lsmr: complex operators are not supported")
    m, n = source.shape
    b = np.squeeze(np.asarray(b))
    b = b.reshape(1) if b.ndim == 0 else b
    if np.iscomplexobj(b):
        raise TypeError("lsmr: complex right-hand sides are not supported")
    if b.shape != (m,):
        raise ValueError(f"b: expected shape {(m,)}, found {b.shape}")
    for name, value in (("damp", damp), ("atol", atol), ("btol", btol)):
        if not np.isfinite(value) or (name != "damp" and value < 0):
            raise ValueError(f"{name}={value!r} must be finite and at least 0")
    if maxiter is not None and (int(maxiter) != maxiter or maxiter <= 0):
        raise ValueError(f"maxiter={maxiter!r} must be a positive integer")
    rhs = b.astype(np.result_type(source.real, b.dtype if b.dtype == np.float32 else source.real))
    rhs = rhs.astype(source.real)
    start = np.zeros(n, dtype=source.real)
    if x0 is not None:
        start = np.asarray(x0, dtype=source.real)
        if start.shape != (n,):
            raise ValueError(f"x0: expected shape {(n,)}, found {start.shape}")
        rhs = rhs - source.multiply(start.reshape(-1, 1))[:, 0]
    steps = max(100, min(m, n)) if maxiter is None else int(maxiter)
    counted = [tol for tol in (atol, btol) if tol > 0]
    least = float(np.finfo(source.real).eps)
    tolerance = max(float(min(counted, default=0.0)), least)
    # The core measures residuals by the right-hand side it is given, which is not b after a start.
    size, given = _norm(b), _norm(rhs)
    size = size if size > 0 else given
    if x0 is not None and given <= tolerance * size < np.inf:
        return _at_once(source, start, rhs, size, tolerance, return_info)
    share = size / given if given > size else 1.0
    problem = {
        "solver": "lsmr",
        "batch": 1,
        "scaling": False,
        "ridge": float(damp) ** 2,
        "intercept": False,
        "tolerance": max(tolerance * share, least) if np.isfinite(given) else tolerance,
        # Two passes a step, two to begin with and two for each check.
        "passes": 2.0 * steps + 2.0,
        "seed": 1,
    }
    targets = rhs.reshape(-1, 1)
    with watcher("lsmr", show, callback, problem["tolerance"]) as watch:
        found = _core.least_squares(source.core(), targets, problem, callback=watch.callback)
        found["sizes"] = np.array([size])
        info = Info.of(tested(found), tolerance=tolerance)
        info = watch.info = replace(info, certified=bool(info.residuals[0] <= tolerance))
    if found["raised"] is not None:
        raise found["raised"]
    step = found["x"][0]
    x = start + step
    r = rhs - source.multiply(step.reshape(-1, 1))[:, 0]
    gradient = np.asarray(source.operator.rmatvec(r)) - damp**2 * step
    norms = (_norm(r), _norm(gradient), float(found["norm"]))
    if not np.isfinite(norms).all():
        info = replace(info, certified=False)
    if info.iterations == 0 and info.certified:
        istop = 0
    elif info.certified:
        istop = 1 if float(found["residuals"][0]) <= tolerance * size else 2
    else:
        istop = 5 if info.stop in ("stagnated", "converged") else 7
    result = (x, istop, info.iterations, *norms, float("nan"), _norm(x))
    return (*result, info) if return_info else result


def _norm(vector):
    """The norm, without overflow of the squares."""
    return float(norm(np.asarray(vector, dtype=np.float64), check_finite=False))


def _at_once(source, x, r, size, tolerance, return_info):
    """What is returned for a start that meets the tolerance."""
    normr, normar = _norm(r), _norm(source.operator.rmatvec(r))
    info = Info(
        stop="converged",
        iterations=0,
        applications=1,
        passes=1.0,
        history=np.zeros((0, 4)),
        certified=True,
        tolerance=tolerance,
        residuals=np.array([normr / size if normr > 0 else 0.0]),
        solver="lsmr",
        reason="x0 meets the tolerance",
    )
    norma = normar / normr if normr > 0 else 0.0
    result = (x.copy(), 0, 0, normr, normar, norma, float("nan"), _norm(x))
    return (*result, info) if return_info else result
