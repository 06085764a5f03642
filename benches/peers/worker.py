"""One solver in a process of its own: asked and answered in lines of JSON.

The peak memory of a run is the process's high-water mark during it, less what it had in use when
only the data were loaded.
"""

import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp

from operators import Data, residual
from solvers import SOLVERS

warnings.simplefilter("ignore")


def memory(field):
    """A line of /proc/self/status in bytes; 0 where there is no such file."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field)) << 10
    except (OSError, StopIteration):
        return 0


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def load(path):
    if path.endswith(".npy"):
        return np.load(path)
    matrix = sp.csr_array(sp.load_npz(path)).astype(np.float64)
    matrix.sum_duplicates()
    if matrix.nnz < 2**31 and max(matrix.shape) < 2**31:
        # Half the bytes for everybody.
        matrix.indices, matrix.indptr = (i.astype(np.int32) for i in (matrix.indices, matrix.indptr))
    return matrix


def main():
    name, path = sys.argv[1:]
    solve = SOLVERS[name][0]
    data = Data(load(path))
    # What is loaded and started on the first use is no part of a run.
    tiny = Data(np.eye(12, 8) + 1)
    for center in (True, False):
        solve(tiny, center, 2, SOLVERS[name][1][0] if SOLVERS[name][1] else 1e-4)
    base = memory("VmRSS")
    print(json.dumps({"shape": data.x.shape}), flush=True)
    for line in sys.stdin:
        ask = json.loads(line)
        center, k, parameter = ask["center"], ask["k"], ask["parameter"]
        try:
            data.operator(center)
            if name != "favard":
                data.transpose
            reset_peak()
            start = time.perf_counter()
            s, v, passes = solve(data, center, k, parameter)
            seconds = time.perf_counter() - start
            peak = max(memory("VmHWM") - base, 0)
            order = np.argsort(-np.asarray(s))
            s, v = np.asarray(s)[order], np.asarray(v)[:, order]
            reply = {
                "seconds": seconds,
                "passes": passes,
                "peak": peak,
                "residual": residual(data, center, s, v),
                "values": (s**2).tolist(),
            }
        except Exception as error:  # a solver that fails is reported, whatever it failed with
            text = str(error).splitlines()
            reply = {"error": f"{type(error).__name__}: {text[0] if text else ''}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
