"""Matrices and operators of SciPy as the core takes them."""

import math

import numpy as np
from scipy.sparse import block_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from favard import _core
from favard._data import check_pointers, core_matrix, float_type


class Source:
    """A dense array, a sparse matrix of any format, a ``LinearOperator``, or any object with
    ``shape`` and ``matvec`` or ``matmat``.

    A complex operator A is worked on as the real one of twice the size, ``[[Re, -Im], [Im, Re]]``:
    it has every singular value and, if it is Hermitian, every eigenvalue of A twice.
    With ``booleans`` an A of bool is one of zeros and ones; else it is refused.
    """

    def __init__(self, A, booleans=False):
        if hasattr(A, "matmat") and not hasattr(A, "matvec") and hasattr(A, "shape"):
            A = _by_blocks(A)
        if (issparse(A) or isinstance(A, np.ndarray)) and not A.dtype.isnative:
            # SciPy's own products refuse other byte orders.
            A = A.astype(A.dtype.newbyteorder("="))
        if booleans and (issparse(A) or isinstance(A, np.ndarray)) and A.dtype == bool:
            A = A.astype(np.float64)
        if issparse(A):
            check_pointers(A)
        self.operator = aslinearoperator(A)
        dtype = self.operator.dtype
        if booleans and dtype == bool:
            dtype = np.dtype(np.float64)
        if dtype is None or not np.issubdtype(dtype, np.number):
            raise ValueError("`A` must be of numeric data type.")
        self.shape = tuple(map(int, self.operator.shape))
        if math.prod(self.shape) == 0:
            raise ValueError("`A` must not be empty.")
        self.matrix = A if issparse(A) or isinstance(A, np.ndarray) else None
        if self.matrix is not None and self.matrix.ndim != 2:
            self.matrix = np.atleast_2d(self.matrix)
        self.is_complex = np.issubdtype(dtype, np.complexfloating)
        single = np.complex64 if self.is_complex else np.float32
        self.real = np.float32 if dtype == single else float_type(np.float64)
        self.dtype = np.result_type(self.real, np.complex64) if self.is_complex else self.real

    def core(self):
        """What the core works on."""
        if self.matrix is not None:
            return core_matrix(self._real_matrix())
        shape = tuple(2 * n for n in self.shape) if self.is_complex else self.shape
        example = np.zeros(0, dtype=self.real)
        forward = self._served(self.operator.matmat, self.shape)
        adjoint = self._served(self._adjoint, self.shape[::-1])
        return "operator", shape, forward, adjoint, example

    def _real_matrix(self):
        A = self.matrix
        if not self.is_complex:
            if A.dtype == self.real:
                return A
            return A.astype(self.real)
        re, im = A.real.astype(self.real), A.imag.astype(self.real)
        join = np.block if isinstance(A, np.ndarray) else block_array
        A = join([[re, -im], [im, re]])
        return A if isinstance(A, np.ndarray) else A.tocsr()

    def _adjoint(self, block):
        """The adjoint of A times a block."""
        try:
            return self.operator.rmatmat(block)
        except TypeError:
            # SciPy calls an rmatmat that is not there. Its rmatvec says that there is none.
            self.operator.rmatvec(block[:, 0])
            raise

    def _served(self, product, shape):
        """A product as the core asks for it: a block in, a block of the same type out."""
        rows, cols = shape

        def serve(block):
            if self.is_complex:
                block = block[:cols] + 1j * block[cols:]
            image = np.asarray(product(block))
            if image.shape != (rows, block.shape[1]):
                raise ValueError(
                    f"the product of an operator of shape {shape} with a block of shape "
                    f"{block.shape} has shape {image.shape}"
                )
            if self.is_complex:
                image = np.concatenate([image.real, image.imag])
            elif np.iscomplexobj(image):
                raise TypeError("the product of an operator of a real dtype is complex")
            return np.require(image, self.real, "AC")

        return serve

    def multiply(self, block):
        """A times a block."""
        if self.matrix is None or self.is_complex:
            return np.asarray(self.operator.matmat(block))
        block = np.ascontiguousarray(block, dtype=self.real)
        return _core.multiply(core_matrix(self._real_matrix()), block)

    def from_real(self, vectors):
        """Orthonormal complex columns in the span of those of the real form: at least half as many.

        The squares of the singular values come in pairs 1 + s and 1 - s, with s = 1 where both real
        vectors of a complex one are there: what is then left is rounding. Where one alone is there,
        at the end of what was asked for, they are 1, and the column is as good as the others.
        """
        half = vectors.shape[0] // 2
        columns = vectors[:half] + 1j * vectors[half:]
        basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        return basis[:, sizes > 0.5]

    def to_real(self, vector):
        """A start vector for the real form."""
        if not self.is_complex:
            return np.real(vector).astype(self.real)
        return np.concatenate([vector.real, np.imag(vector)]).astype(self.real)


def _by_blocks(A):
    """An operator that knows only ``matmat``, and ``rmatmat`` perhaps."""
    adjoint = getattr(A, "rmatmat", None)
    return LinearOperator(
        A.shape,
        matvec=lambda x: np.asarray(A.matmat(x.reshape(-1, 1))).ravel(),
        matmat=A.matmat,
        rmatvec=adjoint and (lambda x: np.asarray(adjoint(x.reshape(-1, 1))).ravel()),
        rmatmat=adjoint,
        dtype=getattr(A, "dtype", np.float64),
    )


def seed_of(rng):
    """A seed from what SciPy takes: an integer, a generator, or None (always the same one)."""
    if rng is None:
        return 1
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        return int(rng) % 2**63
    if isinstance(rng, np.random.RandomState):
        return int(rng.randint(2**31 - 1))
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31 - 1))
    raise ValueError(
        f"'{rng}' is neither a NumPy Generator nor an integer seed to instantiate one. For "
        "future-proofing, prefer using a NumPy Generator."
    )
