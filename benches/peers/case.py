"""One problem, solved by everybody to the same measured residual."""

import json
import subprocess
import sys
from pathlib import Path

from solvers import SOLVERS, peers

HERE = Path(__file__).parent

# A peer that takes this many times as long is timed once, and not tuned further.
SLOW = 10


class Worker:
    """A solver's process."""

    def __init__(self, name, path):
        command = [sys.executable, str(HERE / "worker.py"), name, str(path)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.shape = tuple(self._answer()["shape"])

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            return {"error": f"the process ended with {self.process.returncode}"}
        return json.loads(line)

    def run(self, center, k, parameter):
        ask = {"center": center, "k": k, "parameter": parameter}
        try:
            self.process.stdin.write(json.dumps(ask) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"error": "the process has ended"}
        return self._answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def search(worker, name, center, k, target, ours, guess):
    """The loosest parameter of the ladder that reaches the target, and its run; or an error."""
    ladder = SOLVERS[name][1]
    step, best, tried = None, None, {}
    at = min(guess, len(ladder) - 1)
    while 0 <= at < len(ladder) and at not in tried:
        run = tried[at] = worker.run(center, k, ladder[at])
        if "error" in run and step is None:
            return None, run
        good = "error" not in run and run["residual"] <= target
        if good and (best is None or at < best):
            best = at
        step = step or (-1 if good else 1)
        if good == (step == 1) or run.get("seconds", 0) > SLOW * ours and best is not None:
            break
        at += step
    if best is None:
        reached = min((r["residual"] for r in tried.values() if "residual" in r), default=None)
        return None, {"error": f"residual {reached:.1e}" if reached is not None else "failed"}
    return best, tried[best]


def solve(workers, guesses, center, k, target, rounds, say):
    """Runs a case; gives a dictionary of results by solver."""
    ours = workers["favard"]
    shape, is_sparse = ours.shape, workers["is_sparse"]
    first = ours.run(center, k, target)
    if "error" in first:
        return {"favard": first}
    results = {"favard": first | {"parameter": target}}
    found = {}
    for name in peers(shape, is_sparse, center, k):
        guess = guesses.get((name, target), len(SOLVERS[name][1]) // 3)
        best, run = search(workers[name], name, center, k, target, first["seconds"], guess)
        results[name] = run
        if best is not None:
            guesses[name, target] = best
            found[name] = SOLVERS[name][1][best]
            results[name]["parameter"] = found[name]
        say(name)
    # Interleaved: everybody once, then again. The shortest counts.
    for _ in range(rounds - 1):
        again = ours.run(center, k, target)
        keep_shorter(results["favard"], again)
        for name, parameter in found.items():
            if results[name]["seconds"] <= SLOW * results["favard"]["seconds"]:
                keep_shorter(results[name], workers[name].run(center, k, parameter))
    mark_other_values(results)
    return results


def keep_shorter(result, again):
    if "error" not in again:
        result["seconds"] = min(result["seconds"], again["seconds"])


def mark_other_values(results):
    """Eigenvalues that two solvers found to residuals ρ and ρ' differ by at most ρ + ρ' of the
    first, or one of the two has missed one."""
    ours = results["favard"]
    for name, other in results.items():
        if "error" in other or not ours["values"][0] > 0:
            continue
        room = (ours["residual"] + other["residual"] + 1e-12) * ours["values"][0]
        gaps = [abs(a - b) for a, b in zip(ours["values"], other["values"])]
        other["missed"] = max(gaps, default=0) > room
