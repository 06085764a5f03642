"""Multiplies the bench's matrix with scipy, one line of input at a time."""
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sparse

folder, rows, cols, dtype = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
columns = np.fromfile(f"{folder}/columns", np.int32)
values = np.fromfile(f"{folder}/values", dtype)
pointers = np.arange(rows + 1, dtype=np.int32) * np.int32(len(values) // rows)
x = sparse.csr_array((values, columns, pointers), shape=(rows, cols))
print(scipy.__version__, flush=True)


def block(k):
    w = (np.arange(cols * k) * 7919 % 1009) / 1009 - 0.5
    w = w.astype(dtype)
    return w if k == 1 else w.reshape(cols, k)


width, w = None, None
for line in sys.stdin:
    command, k = line.split()
    if k != width:
        width, w = k, block(int(k))
    start = time.perf_counter()
    z = x @ w
    middle = time.perf_counter()
    y = x.T @ z
    end = time.perf_counter()
    if command == "save":
        z.astype(np.float64).tofile(f"{folder}/forward")
        y.astype(np.float64).tofile(f"{folder}/gram")
    print(middle - start, end - middle, end - start, flush=True)
