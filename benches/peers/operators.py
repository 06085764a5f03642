"""What the peers are given: the matrix, its transpose stored by rows, its mean, and a counter."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator


class Data:
    """A matrix. The transpose and the mean are made when first asked for; `prepare` does so outside
    of time and memory."""

    def __init__(self, x):
        self.x = x
        self.is_sparse = sp.issparse(x)
        self._transpose = self._mean = None

    @property
    def transpose(self):
        if self._transpose is None:
            self._transpose = self.x.T.tocsr() if self.is_sparse else self.x.T
        return self._transpose

    @property
    def mean(self):
        if self._mean is None:
            self._mean = np.asarray(self.x.mean(axis=0)).ravel()
        return self._mean

    def prepare(self, center, needs_transpose):
        if needs_transpose:
            self.transpose
            if center:
                self.mean

    def operator(self, center):
        return Operator(self, self.mean if center else None)


class Operator(LinearOperator):
    """X − 1 meanᵀ without forming it, or X; counts how often each is applied to a block."""

    def __init__(self, data, mean):
        super().__init__(np.float64, data.x.shape)
        self.data, self.mean, self.products = data, mean, 0

    def _matmat(self, v):
        self.products += 1
        z = self.data.x @ v
        if self.mean is not None:
            z -= self.mean @ v
        return z

    def _rmatmat(self, z):
        self.products += 1
        y = self.data.transpose @ z
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
