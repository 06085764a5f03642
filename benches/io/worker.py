"""Reads Matrix Market files with scipy, one path on each line of input."""
import sys
import time

import scipy
import scipy.io

print(scipy.__version__, flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    x = scipy.io.mmread(line.strip())
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    csr = x.tocsr()
    csr.sum_duplicates()
    print(seconds, time.perf_counter() - start, csr.nnz, repr(float(csr.data.sum())), flush=True)
    del x, csr
