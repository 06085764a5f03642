"""eigsh: eigenpairs of a symmetric operator, as scipy.sparse.linalg has them."""

import warnings
from numbers import Real

import numpy as np
from scipy import linalg
from scipy.sparse import eye_array, issparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, splu

from favard import _core
from favard._data import rounding
from favard._info import Info
from favard._operator import Source, seed_of
from favard._progress import watcher

#: The share of values up to which residuals tell them apart.
_TELLS = 1e-2

_WHICH = ("LM", "SM", "LA", "SA", "BE")


def eigsh(
    A,
    k=6,
    M=None,
    sigma=None,
    which="LM",
    v0=None,
    ncv=None,
    maxiter=None,
    tol=0,
    return_eigenvectors=True,
    Minv=None,
    OPinv=None,
    mode="normal",
    rng=None,
    *,
    return_info=False,
    callback=None,
    verbose=0,
):
    """Some eigenpairs of a real symmetric or complex Hermitian matrix or operator.

    In place of ``scipy.sparse.linalg.eigsh`` for the standard problem ``A x = w x``.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (n, n)
        The matrix. It is not checked that it is symmetric.
    k : int, default=6
        How many pairs.
    M, Minv : None
        The generalised problem is not supported.
    sigma : float, optional
        Find the eigenvalues near sigma, by products with the inverse of ``A - sigma I``: by a
        factorisation of SciPy, or by ``OPinv``.
    which : {'LM', 'SM', 'LA', 'SA', 'BE'}
        Largest or smallest magnitude, largest or smallest, or half from each end; of
        ``1 / (w - sigma)`` when sigma is given.
    v0 : ndarray, optional
        A start vector.
    ncv : int, optional
        Columns of the Krylov basis at most; at least k and three panels are used.
    maxiter : int, optional
        Block products at most; ``max(1000, n)`` unless said otherwise.
    tol : float, default=0
        The residual ``||A v - w v||`` asked for, relative to the size of the largest eigenvalue
        that is looked for, and of a typical one. Zero is what rounding allows.
    return_eigenvectors : bool, default=True
        Whether vectors are returned.
    OPinv : LinearOperator, optional
        The inverse of ``A - sigma I``.
    mode : 'normal'
        The only one.
    rng : int or numpy.random.Generator, optional
        The seed of the start. None is always the same one.
    return_info : bool, default=False
        Whether an :class:`favard.Info` is returned as well.
    callback : callable, optional
        Called as ``callback(tick, passes, residual)`` after every step; true stops.
    verbose : int, default=0
        Whether progress is shown.

    Returns
    -------
    w : ndarray of shape (k,)
        Eigenvalues, ascending.
    v : ndarray of shape (n, k)
        Orthonormal eigenvectors, one a column.
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
    >>> from favard import eigsh
    >>> w, v = eigsh(diags_array(np.arange(-50.0, 101.0)), k=3, which="LA")
    >>> np.round(w, 10)
    array([ 98.,  99., 100.])
    """
    if M is not None or Minv is not None:
        raise NotImplementedError("the generalised problem (M, Minv) is not supported")
    if mode != "normal":
        raise NotImplementedError(f"mode={mode!r} is not supported, only 'normal'")
    if which not in _WHICH:
        raise ValueError(f"which must be one of {', '.join(_WHICH)}")
    source = Source(A, booleans=True)
    n, cols = source.shape
    if n != cols:
        raise ValueError(f"expected square matrix (shape={source.shape})")
    if int(k) != k or not 0 < k <= n:
        raise ValueError(f"k={k!r} must be an integer between 1 and the order of the matrix, {n}")
    if tol < 0 or not np.isfinite(tol):
        raise ValueError(f"tol={tol!r} must be finite and at least 0")
    if maxiter is not None and (int(maxiter) != maxiter or maxiter <= 0):
        raise ValueError(f"maxiter={maxiter!r} must be a positive integer")
    if ncv is not None and (int(ncv) != ncv or not k < ncv <= n):
        raise ValueError(f"ncv={ncv!r} must satisfy k < ncv <= n, with k={k} and n={n}")
    if sigma is not None:
        sigma = _real(sigma)
        source = Source(_inverse(A, source, sigma, OPinv))
    start = None
    if v0 is not None:
        v0 = np.asarray(v0)
        if v0.shape != (n,):
            raise ValueError(f"`v0` must have shape {(n,)}.")
        start = source.to_real(v0).reshape(-1, 1)
    twice = 2 if source.is_complex else 1
    search = {
        # Both real vectors of each, and of one more: the last of them may be half of a pair.
        "components": min(2 * int(k) + 2, 2 * n) if source.is_complex else int(k),
        "which": which,
        "tolerance": float(tol) if tol > 0 else rounding(source.real, n),
        "products": max(1000, n) if maxiter is None else int(maxiter),
        "seed": seed_of(rng),
        "basis": twice * int(ncv) if ncv else 0,
    }
    tolerance = search["tolerance"]
    with watcher("eigsh", verbose, callback, tolerance) as watch:
        found = _core.eigen(source.core(), search, start=start, callback=watch.callback)
        values, vectors = found["values"], found["vectors"]
        residuals = found["residuals"].astype(float)
        certified = found["info"]["stop"] == "converged"
        # The residuals of the run and these each have the rounding of their products.
        room, is_lost = tolerance + 2 * rounding(source.real, n), False
        if source.is_complex and found["raised"] is None:
            values, vectors, residuals, scale = _complex_pairs(source, vectors, int(k), which)
            room = room if certified else tolerance
            certified = bool(np.all(residuals <= room * scale))
        elif found["raised"] is None and (which == "SM" or found["info"]["stop"] == "stagnated"):
            # Those of smallest magnitude are found as the largest of c**2 - A**2.
            size = float(np.abs(values).max())
            is_met = residuals.max() <= room * (size + _typical(source, n))
            is_lost = certified and not is_met and residuals.max() > _TELLS * size
            certified = bool(is_met)
        info = Info.of(found["info"], certified=certified, tolerance=tolerance, residuals=residuals)
        watch.info = info
    if found["raised"] is not None:
        raise found["raised"]
    if sigma is not None:
        values = sigma + 1 / values
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    if is_lost:
        raise ArpackNoConvergence(
            f"No convergence (residual {residuals.max():.1e}: eigenvalues this small beside the "
            "largest are not told apart; sigma=0 would)",
            values,
            vectors,
        )
    if not certified and info.stop not in ("converged", "requested"):
        raise ArpackNoConvergence(
            f"No convergence ({info.stop} after {info.applications} products, residual "
            f"{residuals.max():.1e})",
            values,
            vectors,
        )
    found = (values, vectors) if return_eigenvectors else (values,)
    if return_info:
        return (*found, info)
    return found if return_eigenvectors else values


def _complex_pairs(source, vectors, k, which):
    """The wanted Ritz pairs of a complex operator in the span of vectors of its real form, with
    their residuals and the size that these are relative to."""
    basis = source.from_real(vectors)
    image = source.multiply(basis)
    inner = basis.conj().T @ image
    values, rotation = np.linalg.eigh((inner + inner.conj().T) / 2)
    if which == "BE":
        order = np.r_[0 : k // 2, len(values) - (k - k // 2) : len(values)]
    elif which in ("LA", "SA"):
        order = np.arange(len(values))[-k:] if which == "LA" else np.arange(k)
    else:
        order = np.argsort(np.abs(values))
        order = order[-k:] if which == "LM" else order[:k]
    largest = np.abs(values).max()
    values, rotation = values[order], rotation[:, order]
    vectors = basis @ rotation
    residuals = np.linalg.norm(image @ rotation - vectors * values, axis=0).astype(float)
    return values, vectors, residuals, float(largest + _typical(source, len(basis)))


def _typical(source, n):
    """A typical eigenvalue, as the core takes it into account."""
    probe = np.random.default_rng(1).normal(size=(n, 1)).astype(source.dtype)
    return float(np.linalg.norm(source.multiply(probe)) / np.linalg.norm(probe))


def _real(sigma):
    """A shift as a number: with another one the inverse would not be symmetric."""
    if isinstance(sigma, (Real, np.ndarray)) and np.ndim(sigma) == 0 and np.isrealobj(sigma):
        if np.isfinite(sigma):
            return float(sigma)
    raise ValueError(f"sigma={sigma!r} must be a finite real number")


def _inverse(A, source, sigma, OPinv):
    """Products with the inverse of A - sigma I."""
    n = source.shape[0]
    if OPinv is not None:
        operator = aslinearoperator(OPinv)
        if operator.shape != source.shape:
            raise ValueError(f"OPinv: expected shape {source.shape}, found {operator.shape}")
        return operator
    # The identity is of double precision, and so are the factors: their rounding would make the
    # inverse less symmetric than single precision can be.
    singular = f"sigma={sigma!r} is an eigenvalue, as far as rounding shows: A - sigma I is singular"
    if issparse(A):
        try:
            inverse = splu((A.astype(source.dtype) - sigma * eye_array(n)).tocsc()).solve
        except RuntimeError as error:
            raise RuntimeError(f"{singular} ({error})") from error
    elif source.matrix is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", linalg.LinAlgWarning)
            factors = linalg.lu_factor(source.matrix - sigma * np.eye(n))
        if not np.all(np.diagonal(factors[0])):
            raise RuntimeError(singular)

        def inverse(block):
            return linalg.lu_solve(factors, block)
    else:
        raise ValueError("sigma with an operator that is no matrix needs OPinv")
    dtype = source.dtype

    def solve(block):
        return inverse(block).astype(dtype, copy=False)

    def column(x):
        return solve(np.ravel(x))

    return LinearOperator(
        (n, n), matvec=column, matmat=solve, rmatvec=column, rmatmat=solve, dtype=dtype
    )
