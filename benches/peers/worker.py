"""The solvers of one family in a process of their own: asked and answered in lines of JSON.

Three lines for a question: when the solver begins, when it has ended, and the result; so that the
one who asks can cut it.

The peak memory of a run is what the process had in use at most, less what it had just before: the
data is not counted.
"""

import ctypes
import gc
import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp

from operators import Data, residual
from solvers import SOLVERS

warnings.simplefilter("ignore")

# Threads of a BLAS that have nothing to do spin for some 30 ms: those of the solver before, on cores that
# this one needs.
CALM = 0.1


def memory(field):
    """A line of /proc/self/status in bytes; 0 where there is no such file."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field)) << 10
    except (OSError, StopIteration):
        return 0


def settle():
    """Gives back what is free and starts the high-water mark anew; the memory in use."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass
    return memory("VmRSS")


def load(path):
    """The matrix in float64: float32 does not hold residuals of 1e-8."""
    if path.endswith(".npy"):
        return np.load(path).astype(np.float64, copy=False)
    matrix = sp.csr_array(sp.load_npz(path)).astype(np.float64)
    matrix.sum_duplicates()
    if matrix.nnz < 2**31 and max(matrix.shape) < 2**31:
        # Half the bytes for everybody.
        matrix.indices, matrix.indptr = (i.astype(np.int32) for i in (matrix.indices, matrix.indptr))
    return matrix


def say(reply):
    print(json.dumps(reply), flush=True)


def answer(data, ask):
    solver, center, k = SOLVERS[ask["solver"]], ask["center"], ask["k"]
    data.is_stored = ask["is_stored"]
    base = settle()
    time.sleep(CALM)
    say({"begin": True})
    start = time.perf_counter()
    s, v, passes = solver.solve(data, center, k, ask["parameter"])
    seconds = time.perf_counter() - start
    peak = max(memory("VmHWM") - base, 0)
    say({"end": True})
    order = np.argsort(-np.asarray(s))
    s, v = np.asarray(s)[order], np.asarray(v)[:, order]
    return {
        "seconds": seconds,
        "passes": passes,
        "peak": peak,
        "residual": residual(data, center, s, v),
        "values": (s**2).tolist(),
    }


def main():
    family, path = sys.argv[1:]
    data = Data(load(path))
    # What is loaded and started on the first use is no part of a run.
    tiny = Data(np.random.default_rng(1).standard_normal((60, 50)))
    for solver in SOLVERS.values():
        if solver.family == family:
            for center in (True, False):
                try:
                    solver.solve(tiny, center, 2, solver.ladder[-1] if solver.ladder else 1e-4)
                except Exception:  # told when it fails on the data
                    pass
    say({"shape": data.x.shape})
    for line in sys.stdin:
        try:
            reply = answer(data, json.loads(line))
        except Exception as error:  # a solver that fails is reported, whatever it failed with
            text = str(error).splitlines()
            reply = {"error": f"{type(error).__name__}: {text[0] if text else ''}"}
        say(reply)


if __name__ == "__main__":
    main()
