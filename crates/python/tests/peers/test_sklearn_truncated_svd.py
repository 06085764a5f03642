"""scikit-learn's test_truncated_svd.py."""

from peers.adopt import adopt

import favard

globals().update(
    adopt(
        "sklearn.decomposition.tests.test_truncated_svd",
        "sklearn.decomposition",
        {"PCA": favard.PCA, "TruncatedSVD": favard.TruncatedSVD},
    )
)
