"""SLEPc's singular values, in an interpreter that has slepc4py (python3-slepc4py of Debian)."""

import numpy as np
from petsc4py import PETSc
from slepc4py import SLEPc


class Product:
    """The operator of everybody else, as PETSc calls it."""

    def __init__(self, operator):
        self.operator = operator

    def mult(self, _, x, y):
        y.setArray(self.operator.matvec(x.getArray(readonly=1)))

    def multTranspose(self, _, x, y):
        y.setArray(self.operator.rmatvec(x.getArray(readonly=1)))


def solve(data, center, k, tol):
    operator = data.operator(center)
    rows, cols = data.x.shape
    matrix = PETSc.Mat().createPython([rows, cols], Product(operator), comm=PETSc.COMM_SELF)
    matrix.setUp()
    svd = SLEPc.SVD().create(PETSc.COMM_SELF)
    svd.setOperators(matrix) if hasattr(svd, "setOperators") else svd.setOperator(matrix)
    svd.setType(SLEPc.SVD.Type.TRLANCZOS)
    svd.setTRLanczosOneSide(True)
    svd.setDimensions(k, max(2 * k, k + 20))
    svd.setTolerances(tol, 10_000)
    svd.solve()
    if svd.getConverged() < k:
        raise RuntimeError(f"{svd.getConverged()} of {k} converged")
    u, v = matrix.createVecLeft(), matrix.createVecRight()
    s, vectors = np.empty(k), np.empty((cols, k))
    for j in range(k):
        s[j] = svd.getSingularTriplet(j, u, v)
        vectors[:, j] = v.getArray()
    return s, vectors, operator.passes
