"""scikit-learn's test_incremental_pca.py."""

from peers.adopt import adopt

import favard

globals().update(
    adopt(
        "sklearn.decomposition.tests.test_incremental_pca",
        "sklearn.decomposition",
        {"PCA": favard.PCA, "IncrementalPCA": favard.IncrementalPCA},
    )
)
