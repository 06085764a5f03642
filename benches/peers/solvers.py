"""The solvers: each takes (data, center, k, parameter) and gives (s, V, passes or None)."""

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np
from scipy.sparse.linalg import svds


@dataclass(frozen=True)
class Solver:
    """A solver, the process it shares with its like, and its parameters, the loosest first."""

    family: str
    solve: Callable
    ladder: list
    # The first parameter to try for a residual; afterwards the last one that was right.
    guess: Callable = lambda target: 1.0
    # Whether it multiplies with the transpose, which it may have stored by rows first.
    may_store: bool = False

    def first(self, target):
        """The rung that is the closest to the guess."""
        near = lambda at: abs(math.log(max(self.ladder[at], 1e-300) / self.guess(target)))
        return min(range(len(self.ladder)), key=near)


def between(loose, tight):
    """A parameter in the middle: of the exponents, or a whole number; None if there is none."""
    if isinstance(loose, int):
        middle = round(math.sqrt(loose * tight))
        return middle if loose < middle < tight else None
    return math.sqrt(loose * tight)


def favard_auto(data, center, k, tolerance):
    import favard

    kind = favard.PCA if center else favard.TruncatedSVD
    fit = kind(n_components=k, tol=tolerance, random_state=1).fit(data.x)
    return fit.singular_values_, fit.components_.T, fit.info_.passes


def arpack(is_large):
    """SciPy's, with the basis of its default max(2k + 1, 20), or with a larger one."""

    def solve(data, center, k, tol):
        a = data.operator(center)
        ncv = min(max(3 * k, 40), *data.x.shape) if is_large else None
        options = {"solver": "arpack", "rng": np.random.default_rng(1)}
        _, s, vt = svds(a, k=k, tol=tol, ncv=ncv, **options)
        return s, vt.T, a.passes

    return solve


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
    """Its default, the hybrid of both stages with the dynamic method, which chooses by time."""

    def solve(data, center, k, tol):
        import primme

        a = data.operator(center)
        np.random.seed(1)
        _, s, vt = primme.svds(a, k, tol=tol, maxBlockSize=block)
        return s, vt.T, a.passes

    return solve


def slepc(data, center, k, tol):
    """Thick-restart Lanczos bidiagonalization, one-sided; runs in an interpreter of its own."""
    import slepc_solver

    return slepc_solver.solve(data, center, k, tol)


def sklearn_pca(solver, name, more=None):
    def solve(data, center, k, parameter):
        from sklearn.decomposition import PCA

        options = {name: parameter} if name else {}
        if more is not None:
            options["n_oversamples"] = more(k)
        fit = PCA(k, svd_solver=solver, random_state=1, **options).fit(data.x)
        # Power iterations, the last product, and the mean.
        passes = {"randomized": parameter + 2, "covariance_eigh": 1}.get(solver)
        return fit.singular_values_, fit.components_.T, passes

    return solve


def sklearn_svd(more):
    def solve(data, center, k, iterations):
        from sklearn.decomposition import TruncatedSVD

        options = {"n_iter": iterations, "n_oversamples": more(k), "random_state": 1}
        fit = TruncatedSVD(k, algorithm="randomized", **options).fit(data.x)
        return fit.singular_values_, fit.components_.T, iterations + 1

    return solve


def numpy_eigh(data, center, k, _):
    """What one writes by hand: the Gram matrix of tall dense data."""
    values, vectors = np.linalg.eigh(data.x.T @ data.x)
    return np.sqrt(np.maximum(values[-k:], 0)), vectors[:, -k:], 1


# Loosest first. svds squares the tolerance that it hands to ARPACK.
HALF_DECADES = [10 ** (-j / 2) for j in range(1, 15)]
DECADES = [0.5] + [10.0**-j for j in range(1, 15)]
ITERATIONS = [1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 40, 60, 80, 120, 160]
ONE = [1.0]


def few(k):
    return 10


def many(k):
    return k + 20


def root(target):
    return 3 * math.sqrt(target)


def same(target):
    return target


def steps(target):
    """Power iterations gain about half a decade each where there is a gap."""
    return -2 * math.log10(target)


SOLVERS = {
    "favard": Solver("favard", favard_auto, []),  # its tolerance is the target
    "ARPACK": Solver("SciPy", arpack(False), HALF_DECADES, root, True),
    "ARPACK, large basis": Solver("SciPy", arpack(True), HALF_DECADES, root, True),
    "PROPACK": Solver("SciPy", propack, DECADES, root, True),
    "LOBPCG": Solver("SciPy", lobpcg, ITERATIONS, steps, True),
    "PRIMME": Solver("PRIMME", primme(1), DECADES, same, True),
    "PRIMME, blocks of 8": Solver("PRIMME", primme(8), DECADES, same, True),
    "SLEPc": Solver("SLEPc", slepc, DECADES, same, True),
    "sklearn TruncatedSVD": Solver("scikit-learn", sklearn_svd(few), ITERATIONS, steps),
    "sklearn TruncatedSVD, k + 20": Solver("scikit-learn", sklearn_svd(many), ITERATIONS, steps),
    "sklearn PCA arpack": Solver("scikit-learn", sklearn_pca("arpack", "tol"), HALF_DECADES, root),
    "sklearn PCA randomized": Solver(
        "scikit-learn", sklearn_pca("randomized", "iterated_power", few), ITERATIONS, steps
    ),
    "sklearn PCA randomized, k + 20": Solver(
        "scikit-learn", sklearn_pca("randomized", "iterated_power", many), ITERATIONS, steps
    ),
    "sklearn PCA covariance_eigh": Solver("scikit-learn", sklearn_pca("covariance_eigh", None), ONE),
    "numpy eigh": Solver("NumPy", numpy_eigh, ONE),
}


def peers(shape, is_sparse, center, k, has_slepc):
    """The names of the peers that can solve this problem."""
    rows, cols = shape
    small = cols <= 3000 and cols <= rows  # a Gram matrix that one would form
    names = []
    if k < min(rows, cols):
        names += ["ARPACK", "ARPACK, large basis", "PRIMME"]
        names += ["PRIMME, blocks of 8"] if k >= 8 else []
        names += ["SLEPc"] if has_slepc else []
        if is_sparse:
            names += ["PROPACK", "LOBPCG"]
        if center and is_sparse:
            names += ["sklearn PCA arpack"]
    if center and not is_sparse:
        names += ["sklearn PCA randomized", "sklearn PCA randomized, k + 20"]
    if not center:
        names += ["sklearn TruncatedSVD", "sklearn TruncatedSVD, k + 20"]
    if small and center:
        names += ["sklearn PCA covariance_eigh"]
    if small and not center and not is_sparse:
        names += ["numpy eigh"]
    return names
