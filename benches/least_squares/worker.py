"""Solves the bench's problem with scipy, one line of input at a time."""
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sparse
from scipy.sparse.linalg import lsmr, lsqr

folder, name, rows, cols = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
columns = np.fromfile(f"{folder}/{name}.columns", np.int32)
values = np.fromfile(f"{folder}/{name}.values", np.float64)
scale = np.fromfile(f"{folder}/{name}.scale", np.float64)
b = np.fromfile(f"{folder}/{name}.rhs", np.float64)
pointers = np.arange(rows + 1, dtype=np.int32) * np.int32(len(values) // rows)
# The columns are divided by their norms beforehand, at no cost to scipy.
x = sparse.csr_array((values / scale[columns], columns, pointers), shape=(rows, cols))
print(scipy.__version__, flush=True)

for line in sys.stdin:
    method, tolerance = line.split()
    options = dict(atol=float(tolerance), btol=float(tolerance), conlim=0)
    start = time.perf_counter()
    if method == "lsmr":
        answer = lsmr(x, b, maxiter=100000, **options)
    else:
        answer = lsqr(x, b, iter_lim=100000, **options)
    seconds = time.perf_counter() - start
    (answer[0] / scale).tofile(f"{folder}/{name}.x")
    print(seconds, answer[2], flush=True)
