"""svds: singular triplets, as scipy.sparse.linalg has them."""

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence

from favard import _core
from favard._data import rounding
from favard._info import Info
from favard._operator import Source, seed_of
from favard._progress import watcher

_SOLVERS = ("arpack", "lobpcg", "propack")


def svds(
    A,
    k=6,
    ncv=None,
    tol=0,
    which="LM",
    v0=None,
    maxiter=None,
    return_singular_vectors=True,
    solver="arpack",
    rng=None,
    options=None,
    *,
    random_state=None,
    return_info=False,
    callback=None,
    verbose=0,
):
    """The largest or smallest singular triplets of a matrix or operator.

    In place of ``scipy.sparse.linalg.svds``.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (m, n)
        What is decomposed; any object with ``shape``, ``matvec`` (or ``matmat``) and ``rmatvec``.
        Real matrices are read in place. Complex ones are worked on as real ones of twice the size.
    k : int, default=6
        How many triplets.
    ncv : int, optional
        Columns of the Krylov basis at most; at least k and three panels are used.
    tol : float, default=0
        The residual ``||A.T A v - s**2 v||`` asked for, relative to the largest ``s**2``. Zero is
        what rounding allows.
    which : {'LM', 'SM'}
        The largest or the smallest.
    v0 : ndarray, optional
        A start vector for the smaller side.
    maxiter : int, optional
        Block products with ``A.T A`` at most; 1000 unless said otherwise.
    return_singular_vectors : {True, False, 'u', 'vh'}
        Which vectors are returned.
    solver : {'arpack', 'lobpcg', 'propack'}
        SciPy's names. They all stand for block Lanczos with restarts, or for the Gram matrix itself
        where it is small; 'propack' takes ``k = min(m, n)`` and a ``v0`` of m numbers.
    rng : int or numpy.random.Generator, optional
        The seed of the start. None is always the same one.
    options : dict, optional
        Without effect.
    random_state
        The older name of ``rng``.
    return_info : bool, default=False
        Whether an :class:`favard.Info` is returned as well.
    callback : callable, optional
        Called as ``callback(tick, passes, residual)`` after every step; true stops.
    verbose : int, default=0
        Whether progress is shown.

    Returns
    -------
    u : ndarray of shape (m, k)
        Left singular vectors.
    s : ndarray of shape (k,)
        Singular values, ascending.
    vh : ndarray of shape (k, n)
        Right singular vectors.
    info : Info
        With ``return_info=True``.

    Raises
    ------
    scipy.sparse.linalg.ArpackNoConvergence
        When ``maxiter`` products were not enough, or the residual fell no further; it has what was
        found.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import diags_array
    >>> from favard import svds
    >>> u, s, vh = svds(diags_array(np.arange(1.0, 101.0)), k=3)
    >>> np.round(s, 10)
    array([ 98.,  99., 100.])
    """
    solver = str(solver).lower()
    if solver not in _SOLVERS:
        raise ValueError(f"solver must be one of {set(_SOLVERS)}.")
    source = Source(A)
    k, ncv, maxiter, which = _checked(source, k, ncv, tol, which, maxiter, solver)
    options = {True, False, "vh", "u"}
    if return_singular_vectors not in options:
        raise ValueError(f"`return_singular_vectors` must be in {options}.")
    start = _start(source, v0, solver)
    side, twice = min(source.shape), 2 if source.is_complex else 1
    search = {
        # Of a complex matrix both real vectors of each, and of one more.
        "components": min(2 * k + 2, 2 * side) if source.is_complex else k,
        "which": which,
        "tolerance": float(tol) if tol > 0 else rounding(source.real, side),
        "products": 1000 if maxiter is None else maxiter,
        "seed": seed_of(random_state if rng is None else rng),
        "basis": twice * ncv if ncv else 0,
    }
    tolerance = search["tolerance"]
    with watcher("svds", verbose, callback, tolerance) as watch:
        found = _core.singular(source.core(), search, start=start, callback=watch.callback)
        certified = found["residual"] <= tolerance * found["scale"]
        # The residuals of the run and these each have the rounding of their products.
        room = tolerance + 2 * rounding(source.real, side)
        is_rounding = found["residual"] <= room * found["scale"]
        residuals = np.array([found["residual"]])
        info = Info.of(found["info"], certified=certified, tolerance=tolerance, residuals=residuals)
        watch.info = info
    if found["raised"] is not None:
        raise found["raised"]
    u, s, vh = _triplets(source, found, k, which)
    stopped = info.stop in ("converged", "requested")
    if not (certified or stopped or info.stop == "stagnated" and is_rounding):
        raise ArpackNoConvergence(
            f"No convergence ({info.stop} after {info.applications} products, residual "
            f"{residuals[0]:.1e})",
            s,
            vh,
        )
    if return_singular_vectors is False:
        return (s, info) if return_info else s
    u = None if return_singular_vectors == "vh" else u
    vh = None if return_singular_vectors == "u" else vh
    return (u, s, vh, info) if return_info else (u, s, vh)


def _checked(source, k, ncv, tol, which, maxiter, solver):
    """The parameters, or SciPy's words where they are wrong."""
    side = min(source.shape)
    most = side if solver == "propack" else side - 1
    if int(k) != k or not 0 < k <= most:
        raise ValueError("`k` must be an integer satisfying `0 < k < min(A.shape)`.")
    if solver == "arpack" and ncv is not None and (int(ncv) != ncv or not k < ncv < side):
        raise ValueError("`ncv` must be an integer satisfying `k < ncv < min(A.shape)`.")
    if tol < 0 or not np.isfinite(tol):
        raise ValueError("`tol` must be a non-negative floating point value.")
    which = str(which).upper()
    if which not in ("LM", "SM"):
        raise ValueError(f"`which` must be in { {'LM', 'SM'} }.")
    if maxiter is not None and (int(maxiter) != maxiter or maxiter <= 0):
        raise ValueError("`maxiter` must be a positive integer.")
    return int(k), ncv and int(ncv), maxiter and int(maxiter), which


def _start(source, v0, solver):
    """The start as a column of the smaller side."""
    if v0 is None:
        return None
    v0 = np.atleast_1d(v0)
    if not np.issubdtype(v0.dtype, np.inexact):
        raise ValueError("`v0` must be of floating or complex floating data type.")
    (rows, cols), side = source.shape, min(source.shape)
    shape = (rows,) if solver == "propack" else (side,)
    if v0.shape != shape:
        raise ValueError(f"`v0` must have shape {shape}.")
    if len(v0) != side:
        # A vector of the longer, left side.
        v0 = np.asarray(source.operator.rmatvec(v0))
    return source.to_real(v0).reshape(-1, 1)


def _triplets(source, found, k, which):
    """The triplets from a basis W of the smaller side: those of A W = Q R, or of A* W."""
    basis, other, small = found["side"], found["other"], found["small"]
    wide = found["wide"]
    if source.is_complex:
        basis = source.from_real(basis)
        product = source.operator.rmatmat if wide else source.operator.matmat
        other, small = np.linalg.qr(np.asarray(product(basis)))
    left, s, right = np.linalg.svd(small)
    # Ascending.
    left, s, right = left[:, ::-1], s[::-1].copy(), right[::-1]
    wanted = slice(0, k) if which == "SM" else slice(len(s) - k, None)
    left, s, right = left[:, wanted], s[wanted], right[wanted]
    far, near = other @ left, basis @ right.conj().T
    if wide:
        return near, s, far.conj().T
    return far, s, near.conj().T
