"""scikit-learn's test_pca.py."""

from peers.adopt import adopt

import favard

globals().update(
    adopt(
        "sklearn.decomposition.tests.test_pca",
        "sklearn.decomposition",
        {"PCA": favard.PCA},
    )
)
