"""The loosest parameter that reaches a residual."""

from solvers import between

# Halvings of the step between the last rung that is too loose and the first that is not.
REFINEMENTS = 2


class Tries:
    """The runs of one solver on one problem, by parameter: nothing is run twice."""

    def __init__(self, worker, name, center, k):
        self.worker, self.name, self.center, self.k = worker, name, center, k
        self.runs = {}

    def run(self, parameter, limit):
        """A run, cut after `limit` seconds; one that was cut earlier is given its time again."""
        run = self.runs.get(parameter)
        if run is None or run.get("cut", limit) < limit:
            run = self.worker.run(self.name, self.center, self.k, parameter, limit)
            self.runs[parameter] = run
        return run


def search(tries, ladder, target, values, limit, guess):
    """(index in the ladder, parameter, run) of the loosest parameter whose run reaches the target
    within the limit; (None, None, why not) if none does.

    A run is good, too loose, or cut (too slow, or failed). From the guess one goes looser while
    runs are good or cut, since what is looser is faster and fails less; if none was good, tighter
    until one is. A peer that is cut beyond what is too loose is slower than the limit.
    """
    last = len(ladder) - 1
    guess = min(max(guess, 0), last)

    def verdict(parameter):
        run = tries.run(parameter, limit)
        if "residual" not in run:
            return "cut"
        return "good" if is_solved(run, target, values) else "loose"

    best, loose, found = None, None, {}
    for at in range(guess, -1, -1):
        found[at] = verdict(ladder[at])
        if found[at] == "good":
            best = at
        elif found[at] == "loose":
            loose = at
            break
    if best is None:
        # Tighter, unless that is known to be cut already.
        for at in range(guess + 1 if loose is None else loose + 1, last + 1):
            found[at] = found.get(at) or verdict(ladder[at])
            if found[at] == "good":
                best = at
            if found[at] != "loose":
                break
            loose = at
    return refined(tries, ladder, loose, best, found, verdict)


def refined(tries, ladder, loose, best, found, verdict):
    """The end of `search`: between what is too loose and what is not, there may be better."""
    if best is None and (loose is None or found.get(loose + 1) != "cut"):
        return None, None, why_not(tries)
    low = ladder[loose] if loose is not None else None
    high = ladder[best] if best is not None else ladder[loose + 1]
    is_good = best is not None
    for _ in range(REFINEMENTS):
        middle = None if low is None else between(low, high)
        if middle is None:
            break
        seconds = [tries.runs[p].get("seconds") for p in (low, high)]
        if is_good and seconds[0] is not None and seconds[0] > 0.95 * seconds[1]:
            break  # there is nothing to gain
        kind = verdict(middle)
        if kind == "loose":
            low = middle
        else:
            high, is_good = middle, kind == "good"
    if not is_good:
        return None, None, why_not(tries)
    return (best if best is not None else loose + 1), high, tries.runs[high]


def why_not(tries):
    """Slower than the limit, or the smallest residual, or the last error."""
    runs = list(tries.runs.values())
    cut = [run["cut"] for run in runs if "cut" in run]
    if cut:
        return {"slower_than": max(cut)}
    reached = [run["residual"] for run in runs if "residual" in run]
    errors = [run["error"] for run in runs if "error" in run]
    if reached:
        why = f" ({errors[-1]})" if errors else ""
        return {"error": f"residual {min(reached):.1e}{why}"}
    return {"error": errors[-1] if errors else "not run"}


def is_solved(run, target, values):
    """Whether a run reaches the target and has missed none of the eigenvalues we have."""
    return run["residual"] <= target and not misses(run, values, target)


def misses(run, values, other):
    """Whether an eigenvalue is smaller than that of another run with residual `other`.

    Each value is within its residual ρ of an eigenvalue: if both have found the same ones, they
    differ by at most (ρ + ρ') of the first.
    """
    if not values or not values[0] > 0:
        return False
    room = (run["residual"] + other + 1e-12) * values[0]
    return any(b < a - room for a, b in zip(values, run["values"]))
