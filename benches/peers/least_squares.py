"""Least squares: favard's against SciPy's lsmr and lsqr, to the same ‖Aᵀr‖ / (‖A‖ ‖r‖)."""

import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsmr, lsqr, svds

TARGET = 1e-8
LADDER = [10 ** (-j / 2) for j in range(8, 27)]

# A peer that takes this many times as long, too loose still, is given up.
SLOW = 10


def well_conditioned(rows, cols, each, seed=11):
    """Random places and values: a condition of a few."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(cols, size=rows * each)
    row = np.repeat(np.arange(rows), each)
    matrix = sp.coo_array((rng.standard_normal(rows * each), (row, columns)), (rows, cols)).tocsr()
    matrix.sum_duplicates()
    return matrix


def one_hot(rows, levels, seed=12):
    """Categories with levels as frequent as Zipf has it; a third of each follows the one before."""
    rng = np.random.default_rng(seed)
    parts, before = [], np.zeros(rows)
    for count in levels:
        level = np.minimum((count * rng.random(rows) ** 4).astype(np.int64), count - 1)
        follow = rng.random(rows) < 1 / 3
        level[follow] = (before[follow] * count).astype(np.int64)
        before = level / count
        parts.append(sp.coo_array((np.ones(rows), (np.arange(rows), level)), (rows, count)))
    matrix = sp.hstack(parts, format="csr")
    matrix = matrix[:, np.flatnonzero(matrix.sum(axis=0))]
    return sp.csr_array(matrix)


def optimality(a, norm, b, x):
    r = b - a @ x
    return float(np.linalg.norm(a.T @ r) / (norm * np.linalg.norm(r)))


# Threads of a BLAS that have nothing to do spin for some 30 ms, on cores that the next solver needs.
CALM = 0.1


def timed(solve, *arguments):
    time.sleep(CALM)
    start = time.perf_counter()
    x = solve(*arguments)
    return time.perf_counter() - start, x


def favard_solve(a, b):
    import favard

    return favard.LeastSquares(fit_intercept=False, tol=TARGET).fit(a, b).coef_


def scipy_solver(method, given, back, b, tol):
    """A function that solves with columns scaled as given, and scales back."""
    limit = {"maxiter": 100_000} if method is lsmr else {"iter_lim": 100_000}
    return lambda: method(given, b, atol=tol, btol=tol, conlim=0, **limit)[0] / back


def search(method, given, back, a, norm, b, ours):
    """The loosest tolerance that reaches the target as (solve, None), or (None, why not)."""
    smallest = np.inf
    for tol in LADDER:  # loosest first
        solve = scipy_solver(method, given, back, b, tol)
        seconds, x = timed(solve)
        reached = optimality(a, norm, b, x)
        if reached <= TARGET:
            return solve, None
        smallest = min(smallest, reached)
        if seconds > SLOW * ours:
            return None, {"slower_than": seconds}
    return None, {"error": f"optimality {smallest:.1e}"}


def run(quick, rounds, say):
    """The results of both problems; SciPy is given columns of unit norm, made outside the timing."""
    sizes = [("well-conditioned", lambda: well_conditioned(2_000, 200, 10), False)] if quick else [
        ("well-conditioned", lambda: well_conditioned(400_000, 20_000, 25), False),
        ("one-hot", lambda: one_hot(1_000_000, (20_000, 5_000, 1_000, 200, 50)), True),
    ]
    out = [problem(name, make(), is_scaled, rounds, say) for name, make, is_scaled in sizes]
    say("")
    return out


def problem(name, a, is_scaled, rounds, say):
    rng = np.random.default_rng(13)
    b = a @ rng.standard_normal(a.shape[1]) + rng.standard_normal(a.shape[0])
    norm = float(svds(a, k=1, tol=1e-3, return_singular_vectors=False, rng=rng)[0])
    scale = np.sqrt(np.asarray(a.multiply(a).sum(axis=0)).ravel())
    given = sp.csr_array(a @ sp.diags_array(1 / scale)) if is_scaled else a
    back = scale if is_scaled else np.ones(a.shape[1])
    solvers = {"favard": lambda: favard_solve(a, b)}
    say(f"{name}: favard")
    ours, _ = timed(solvers["favard"])
    failed = {}
    for method in (lsmr, lsqr):
        say(f"{name}: {method.__name__}")
        solve, why = search(method, given, back, a, norm, b, ours)
        if solve is None:
            failed[method.__name__] = why
        else:
            solvers[method.__name__] = solve
    best, reached = {}, {}
    for _ in range(rounds):  # interleaved
        for who, solve in solvers.items():
            seconds, x = timed(solve)
            best[who] = min(best.get(who, np.inf), seconds)
            reached[who] = optimality(a, norm, b, x)
    return {
        "problem": name,
        "shape": a.shape,
        "entries": int(a.nnz),
        "seconds": best,
        "optimality": reached,
        "failed": failed,
    }


def ratios(problem):
    """What each peer took, as a multiple of ours, in words."""
    ours = problem["seconds"]["favard"]
    told = {who: f"{s / ours:.1f}" for who, s in problem["seconds"].items() if who != "favard"}
    for who, why in problem["failed"].items():
        told[who] = f"> {why['slower_than'] / ours:.0f}" if "slower_than" in why else why["error"]
    return told


def line(problem):
    """A problem in a line."""
    told = "  ".join(f"{who} ×{text}" for who, text in ratios(problem).items())
    reached = problem["optimality"]["favard"]
    note = "" if reached <= TARGET else f"  NOT REACHED ({reached:.1e})"
    return (
        f"least squares  {problem['problem']:18}{1e3 * problem['seconds']['favard']:8.0f} ms  "
        f"{told}{note}"
    )
