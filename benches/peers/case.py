"""One problem, solved by everybody to the same measured residuals."""

from search import Tries, misses, search
from solvers import SOLVERS, peers

# A peer that takes this many times as long as we do is cut in the search, and timed once.
SLOW = 10

# Seconds that are too short to save.
SHORT = 1.0


def solve(workers, is_sparse, guesses, center, k, targets, rounds, say):
    """A dictionary of results by solver for each of the targets."""
    ours = workers.of("favard")
    names = peers(workers.shape, is_sparse, center, k, workers.has_slepc)
    tries = {name: Tries(workers.of(name), name, center, k) for name in names}
    for target in targets:
        first = ours.run("favard", center, k, target, 600)
        results = {"favard": first | {"parameter": target}}
        if "residual" not in first:
            yield target, {"favard": {"error": first.get("error", "longer than ten minutes")}}
            continue
        limit = max(SHORT, SLOW * first["seconds"])
        found = {}
        for name in names:
            say(f"{target:.0e} {name}")
            solver = SOLVERS[name]
            guess = guesses.get((name, target), solver.first(target))
            values = first["values"]
            best, parameter, run = search(tries[name], solver.ladder, target, values, limit, guess)
            results[name] = dict(run)
            if best is not None:
                guesses[name, target] = best
                found[name] = results[name]["parameter"] = parameter
        storing = {n for n in found if is_sparse and SOLVERS[n].may_store}
        time(workers, results, found, storing, center, k, target, rounds, say)
        judge(results, target)
        yield target, results


def time(workers, results, found, storing, center, k, target, rounds, say):
    """Interleaved: everybody once, then again; the shortest counts. The search was the warm-up, and
    what it measured stays for those that are far behind. Of the peers that may store the transpose
    first, those do that are faster with it, that included."""
    first = results["favard"]["seconds"]
    far = {name for name in found if results[name]["seconds"] > SLOW * first}
    for name in far:
        results[name]["is_timed_once"] = True
    stored = set()
    for name in storing - far:
        say(f"{target:.0e} {name}, its transpose stored")
        other = workers.of(name).run(name, center, k, found[name], 600, is_stored=True)
        if other.get("seconds", float("inf")) < results[name]["seconds"]:
            stored.add(name)
    for number in range(rounds):
        say(f"{target:.0e} round {number + 1}")
        for name, parameter in {"favard": target, **found}.items():
            if name in far:
                continue
            again = workers.of(name).run(name, center, k, parameter, 600, name in stored)
            if "seconds" in again:
                best = results[name]["seconds"] if number else again["seconds"]
                results[name]["seconds"] = min(best, again["seconds"])
                peak = results[name]["peak"]
                results[name]["peak"] = min(peak, again["peak"]) if number else again["peak"]


def judge(results, target):
    """Marks the peers that have found a larger eigenvalue than we have: a failure of ours."""
    ours = results["favard"]
    for other in results.values():
        if "values" in other:
            other["is_ahead"] = misses(ours, other["values"], other["residual"])
