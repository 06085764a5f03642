"""What the core takes: arrays of float32 and float64, in place where they can be."""

import numpy as np

from favard._on_disk import OnDisk

FLOATS = (np.float64, np.float32)


def is_sparse(X):
    """Whether X is a sparse matrix or array of SciPy."""
    import scipy.sparse

    return scipy.sparse.issparse(X)


def float_type(dtype):
    """The type in which numbers of another type are worked on: float32 as it is, else float64."""
    return np.float32 if np.dtype(dtype) == np.float32 else np.float64


def core_matrix(X):
    """X as the core takes it.

    Dense arrays of native, aligned float32 or float64 are read in place, whatever their strides;
    CSR and CSC matrices as well, with int32 or int64 indices, if these are sorted and none is
    repeated; a matrix on disk stays there. Anything else is copied into that form.
    """
    if isinstance(X, OnDisk):
        return X._core()
    return core_sparse(X) if is_sparse(X) else core_dense(X)


def core_dense(X):
    """A two-dimensional array as the core takes it."""
    X = np.asarray(X)
    X = np.require(X, float_type(X.dtype), "A")
    # Entries that share their memory (np.broadcast_to) are no matrix in memory.
    shared = any(stride == 0 and length > 1 for stride, length in zip(X.strides, X.shape))
    return X.copy() if shared else X


def core_sparse(X):
    """A sparse matrix as (format, shape, indptr, indices, data)."""
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D sparse array instead")
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = np.require(X.data, float_type(X.data.dtype), "AC")
    return X.format, tuple(map(int, X.shape)), _indices(X.indptr), _indices(X.indices), data


def _indices(array):
    wanted = array.dtype if array.dtype in (np.int32, np.int64) else np.int64
    return np.require(array, np.dtype(wanted).newbyteorder("="), "AC")


def rounding(dtype, dim):
    """The residual that rounding leaves, relative to the largest eigenvalue."""
    return 8 * float(np.finfo(dtype).eps) * max(dim, 1) ** 0.5
