"""lsmr: least squares of an operator, as scipy.sparse.linalg has it."""

import numpy as np

from favard import _core
from favard._info import Info
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
        Where to start.
    return_info : bool, default=False
        Whether an :class:`favard.Info` is returned as well.
    callback : callable, optional
        Called as ``callback(tick, passes, residual)`` after every step; true stops.

    Returns
    -------
    x : ndarray of shape (n,)
        The solution.
    istop : int
        0: x0 solves it; 1: ``A x = b``; 2: least squares; 5: rounding let it go no further; 7:
        ``maxiter`` steps were not enough, or a callback stopped it.
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
    source = Source(A)
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
    problem = {
        "solver": "lsmr",
        "batch": 1,
        "scaling": False,
        "ridge": float(damp) ** 2,
        "intercept": False,
        "tolerance": max(float(min(counted, default=0.0)), float(np.finfo(source.real).eps)),
        # Two passes a step, two to begin with and two for each check.
        "passes": 2.0 * steps + 2.0,
        "seed": 1,
    }
    targets = rhs.reshape(-1, 1)
    with watcher("lsmr", show, callback, problem["tolerance"]) as watch:
        found = _core.least_squares(source.core(), targets, problem, callback=watch.callback)
        info = watch.info = Info.of(found["info"])
    if found["raised"] is not None:
        raise found["raised"]
    step = found["x"][0]
    x = start + step
    r = rhs - source.multiply(step.reshape(-1, 1))[:, 0]
    gradient = np.asarray(source.operator.rmatvec(r)) - damp**2 * step
    size = float(found["sizes"][0])
    if info.iterations == 0 and info.certified:
        istop = 0
    elif info.certified:
        istop = 1 if float(found["residuals"][0]) <= problem["tolerance"] * size else 2
    else:
        istop = 5 if info.stop == "stagnated" else 7
    norms = (float(np.linalg.norm(r)), float(np.linalg.norm(gradient)), float(found["norm"]))
    result = (x, istop, info.iterations, *norms, float("nan"), float(np.linalg.norm(x)))
    return (*result, info) if return_info else result
