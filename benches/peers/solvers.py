"""The solvers: each takes (data, center, k, parameter) and gives (s, V, passes or None)."""

import numpy as np
from scipy.sparse.linalg import svds


def favard_auto(data, center, k, tolerance):
    import favard

    kind = favard.PCA if center else favard.TruncatedSVD
    fit = kind(n_components=k, tol=tolerance, random_state=1).fit(data.x)
    return fit.singular_values_, fit.components_.T, fit.info_.passes


def arpack(data, center, k, tol):
    a = data.operator(center)
    _, s, vt = svds(a, k=k, tol=tol, solver="arpack", rng=np.random.default_rng(1))
    return s, vt.T, a.passes


def propack(data, center, k, tol):
    a = data.operator(center)
    # Its basis is not restarted: the default of 10 k columns is too small for tight tolerances.
    most = min(*data.x.shape, max(500, 20 * k))
    rng = np.random.default_rng(1)
    _, s, vt = svds(a, k=k, tol=tol, solver="propack", maxiter=most, rng=rng)
    return s, vt.T, a.passes


def lobpcg(data, center, k, iterations):
    a, rng = data.operator(center), np.random.default_rng(1)
    _, s, vt = svds(a, k=k, tol=0, solver="lobpcg", maxiter=iterations, rng=rng)
    return s, vt.T, a.passes


def primme(block):
    def solve(data, center, k, tol):
        import primme

        a = data.operator(center)
        np.random.seed(1)
        _, s, vt = primme.svds(a, k, tol=tol, maxBlockSize=block)
        return s, vt.T, a.passes

    return solve


def sklearn_pca(solver, name):
    def solve(data, center, k, parameter):
        from sklearn.decomposition import PCA

        options = {name: parameter} if name else {}
        fit = PCA(k, svd_solver=solver, random_state=1, **options).fit(data.x)
        return fit.singular_values_, fit.components_.T, None

    return solve


def sklearn_svd(data, center, k, iterations):
    from sklearn.decomposition import TruncatedSVD

    options = {"n_iter": iterations, "n_oversamples": 10, "random_state": 1}
    fit = TruncatedSVD(k, algorithm="randomized", **options).fit(data.x)
    return fit.singular_values_, fit.components_.T, None


def numpy_eigh(data, center, k, _):
    """What one writes by hand: the Gram matrix of tall dense data."""
    values, vectors = np.linalg.eigh(data.x.T @ data.x)
    return np.sqrt(np.maximum(values[-k:], 0)), vectors[:, -k:], None


# Loosest first. svds squares the tolerance that it hands to ARPACK.
HALF_DECADES = [10 ** (-j / 2) for j in range(1, 15)]
DECADES = [0.5] + [10.0**-j for j in range(1, 15)]
# PRIMME's residual is close to its tolerance: finer around the targets.
PRIMME = [0.3, 0.1, 1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10, 1e-11]
ITERATIONS = [1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 40, 60, 80, 120, 160]

SOLVERS = {
    "favard": (favard_auto, None),  # its tolerance is the target
    "ARPACK": (arpack, HALF_DECADES),
    "PROPACK": (propack, DECADES),
    "LOBPCG": (lobpcg, ITERATIONS),
    "PRIMME": (primme(1), PRIMME),
    "PRIMME block 8": (primme(8), PRIMME),
    "sklearn TruncatedSVD": (sklearn_svd, ITERATIONS),
    "sklearn PCA arpack": (sklearn_pca("arpack", "tol"), HALF_DECADES),
    "sklearn PCA randomized": (sklearn_pca("randomized", "iterated_power"), ITERATIONS),
    "sklearn PCA covariance_eigh": (sklearn_pca("covariance_eigh", None), [0]),
    "numpy eigh": (numpy_eigh, [0]),
}


def peers(shape, is_sparse, center, k):
    """The names of the peers that can solve this problem."""
    rows, cols = shape
    small = cols <= 3000 and cols <= rows  # a Gram matrix that one would form
    names = []
    if k < min(rows, cols):
        names += ["ARPACK", "PRIMME"] + (["PRIMME block 8"] if k >= 8 else [])
        if is_sparse:
            names += ["PROPACK", "LOBPCG"]
        if center and is_sparse:
            names += ["sklearn PCA arpack"]
    if center and not is_sparse:
        names += ["sklearn PCA randomized"]
    if not center:
        names += ["sklearn TruncatedSVD"]
    if small and center:
        names += ["sklearn PCA covariance_eigh"]
    if small and not center and not is_sparse:
        names += ["numpy eigh"]
    return names
