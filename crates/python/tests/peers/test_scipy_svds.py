"""SciPy's test_svds.py."""

from peers.adopt import adopt

import favard

globals().update(
    adopt(
        "scipy.sparse.linalg._eigen.tests.test_svds",
        "scipy.sparse.linalg",
        {"svds": favard.svds},
    )
)
