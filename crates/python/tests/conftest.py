"""What the tests share."""

import numpy as np
import pytest
from scipy.sparse import random_array


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def dense(rng):
    """Rows whose covariance has the deviations 3, …, 0.1: every gap is 0.1 or more of the next."""
    basis = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    return rng.normal(size=(400, 30)) * np.geomspace(3.0, 0.1, 30) @ basis + 5.0


@pytest.fixture
def sparse(rng):
    """Too many columns for the exact solver to be chosen."""
    matrix = random_array((700, 500), density=0.02, format="csr", rng=rng)
    matrix.data *= rng.choice([1.0, 5.0], size=matrix.nnz)
    return matrix
