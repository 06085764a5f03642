"""What the peers are given: the matrix and its transpose as products, centred, with a counter."""

import numpy as np
from scipy.sparse.linalg import LinearOperator


class Data:
    """A matrix. What a peer needs beyond it, the mean and the transpose, is made in its time, as ours
    is: everybody starts from the matrix."""

    def __init__(self, x):
        self.x = x
        # Whether the transpose is stored by rows, which costs a conversion, or the matrix is read as
        # its transpose by columns, as SciPy's own `svds` does.
        self.is_stored = False
        self._mean = None

    @property
    def mean(self):
        """The mean of the columns for measuring, made once."""
        if self._mean is None:
            self._mean = np.asarray(self.x.mean(axis=0)).ravel()
        return self._mean

    def operator(self, center):
        transpose = self.x.T.tocsr() if self.is_stored else self.x.T
        # As a product: X.mean(axis=0) of a sparse matrix takes longer.
        rows = self.x.shape[0]
        mean = transpose @ np.ones(rows) / rows if center else None
        return Operator(self.x, transpose, mean)


class Operator(LinearOperator):
    """X − 1 meanᵀ without forming it, or X; counts how often each is applied to a block."""

    def __init__(self, x, transpose, mean):
        super().__init__(np.float64, x.shape)
        self.x, self.transpose, self.mean, self.products = x, transpose, mean, 0

    def _matmat(self, v):
        self.products += 1
        z = self.x @ v
        if self.mean is not None:
            z -= self.mean @ v
        return z

    def _rmatmat(self, z):
        self.products += 1
        y = self.transpose @ z
        if self.mean is not None:
            s = z.sum(axis=0)
            y -= np.outer(self.mean, s) if z.ndim == 2 else self.mean * s
        return y

    _matvec, _rmatvec = _matmat, _rmatmat

    @property
    def passes(self):
        """AᵀA is one pass: it can be had from one reading of the matrix."""
        return self.products / 2


def residual(data, center, s, v):
    """max_j ‖AᵀA v_j − s_j² v_j‖ / s_1², in f64, the same for everybody.

    With the matrix alone: a transpose kept here would be charged to whoever runs next.
    """
    s, v = np.asarray(s, np.float64), np.asarray(v, np.float64)
    z = data.x @ v
    if center:
        z -= data.mean @ v
    r = data.x.T @ z - v * s**2
    if center:
        r -= np.outer(data.mean, z.sum(axis=0))
    return float(np.linalg.norm(r, axis=0).max() / s.max() ** 2) if s.max() > 0 else 0.0
