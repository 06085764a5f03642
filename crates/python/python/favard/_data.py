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
    check_pointers(X)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = np.require(X.data, float_type(X.data.dtype), "AC")
    return X.format, tuple(map(int, X.shape)), _indices(X.indptr), _indices(X.indices), data


def check_pointers(X, indices=False):
    """``ValueError`` unless the pointers of a sparse matrix lie within what it stores.

    SciPy's compiled code takes them on trust, also to see whether indices are sorted. The core checks
    indices itself; before SciPy converts from CSC to CSR they need to be checked here.
    """
    if X.format not in ("csr", "csc", "bsr"):
        return
    across = X.format == "csc"
    lines, length = X.shape[across], X.shape[not across]
    if X.format == "bsr":
        lines, length = lines // X.blocksize[0], length // X.blocksize[1]
    pointers, stored = X.indptr, min(len(X.indices), len(X.data))
    what = f"indptr of the {X.format.upper()} matrix"
    if pointers.shape != (lines + 1,) or pointers[0] != 0:
        raise ValueError(f"{what} must have {lines + 1} entries, the first of them 0")
    wrong = (pointers[:-1] > pointers[1:]) | (pointers[1:] > stored)
    if np.any(wrong):
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{what} must not fall, nor go beyond the {stored} stored entries: found "
            f"{pointers[at]}, {pointers[at + 1]} at {at}"
        )
    used = X.indices[: pointers[-1]]
    if indices and used.size and (used.min() < 0 or used.max() >= length):
        raise ValueError(
            f"indices of the {X.format.upper()} matrix must be at least 0 and less than {length}"
        )


def _indices(array):
    wanted = array.dtype if array.dtype in (np.int32, np.int64) else np.int64
    return np.require(array, np.dtype(wanted).newbyteorder("="), "AC")


def rounding(dtype, dim):
    """The residual that rounding leaves, relative to the largest eigenvalue."""
    return 8 * float(np.finfo(dtype).eps) * max(dim, 1) ** 0.5
