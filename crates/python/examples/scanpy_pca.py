"""favard in place of scikit-learn inside scanpy: ``sc.pp.pca`` on a sparse AnnData.

Two ways, both compared with scanpy's own result on generated counts:

1. ``in_scanpy()``: within it ``sc.pp.pca`` itself runs on ``favard.PCA``. scanpy looks
   ``sklearn.decomposition.PCA`` up when it is called, so the name is all that has to change.
2. ``favard_pca(adata)``: a function that fills ``obsm``, ``varm`` and ``uns`` as ``sc.pp.pca``
   does. Nothing is replaced, and it gives what scanpy's has no place for: scaling without a dense
   matrix, a tolerance, a progress bar, the certificate.

Needs ``pip install favard scanpy``. Run it with ``python scanpy_pca.py``; it raises when the
results do not agree.
"""

import time
from contextlib import contextmanager
from unittest import mock

import anndata
import numpy as np
import scanpy as sc
import scipy.sparse as sp

import favard


@contextmanager
def in_scanpy():
    """Within it scanpy takes favard for scikit-learn's PCA and TruncatedSVD."""
    with (
        mock.patch("sklearn.decomposition.PCA", favard.PCA),
        mock.patch("sklearn.decomposition.TruncatedSVD", favard.TruncatedSVD),
    ):
        yield


def favard_pca(adata, n_comps=50, *, layer=None, mask_var=None, key_added=None, **parameters):
    """Principal components of an AnnData, where ``sc.pp.pca`` puts them.

    Parameters
    ----------
    adata : AnnData
        Cells by genes, sparse or dense.
    n_comps : int, default=50
        How many.
    layer : str, default=None
        The layer; ``X`` for None.
    mask_var : str or array of bool, default=None
        Which genes; the column ``highly_variable`` for None, where there is one.
    key_added : str, default=None
        The key of all three places, in place of ``X_pca``, ``PCs`` and ``pca``.
    **parameters
        Of ``favard.PCA``: ``scale=True``, ``tol=``, ``verbose=1``, ...

    Returns
    -------
    favard.PCA
        The fitted estimator, with its certificate in ``info_``.
    """
    if mask_var is None and "highly_variable" in adata.var:
        mask_var = "highly_variable"
    name = mask_var if isinstance(mask_var, str) else None
    mask = slice(None) if mask_var is None else np.asarray(adata.var[name] if name else mask_var)
    X = adata.X if layer is None else adata.layers[layer]
    pca = favard.PCA(n_comps, **parameters)
    scores = pca.fit_transform(X[:, mask])
    loadings = np.zeros((adata.n_vars, n_comps))
    loadings[mask] = pca.components_.T
    obsm, varm, uns = ("X_pca", "PCs", "pca") if key_added is None else (key_added,) * 3
    adata.obsm[obsm] = scores.astype(np.float32)
    adata.varm[varm] = loadings
    adata.uns[uns] = {
        "params": {
            "zero_center": True,
            "use_highly_variable": name == "highly_variable",
            "mask_var": name,
        },
        "variance": pca.explained_variance_,
        "variance_ratio": pca.explained_variance_ratio_,
    }
    return pca


def cells(n_cells=3000, n_genes=2000, n_types=6, seed=0):
    """Counts of cells of some types, normalised and logarithmic as usual: sparse, of float32."""
    rng = np.random.default_rng(seed)
    profiles = rng.gamma(0.3, 1.0, size=(n_types, n_genes)) + 0.02
    kinds = rng.integers(n_types, size=n_cells)
    depth = rng.lognormal(0.0, 0.3, size=(n_cells, 1))
    counts = sp.csr_matrix(rng.poisson(0.4 * depth * profiles[kinds]).astype(np.float32))
    adata = anndata.AnnData(counts)
    adata.obs["kind"] = kinds.astype(str)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def compare(name, theirs, ours, leading):
    """Variances, scores and the subspace of the components that are well separated.

    Both work on float32: sums of n numbers are good to ``eps * sqrt(n)`` of the largest eigenvalue.
    """
    one, two = theirs.uns["pca"], ours.uns["pca"]
    rounding = np.finfo(np.float32).eps * np.sqrt(theirs.n_obs)
    largest = one["variance"][0]
    variance = np.abs(one["variance"] - two["variance"]).max() / largest
    ratio = np.abs(one["variance_ratio"] - two["variance_ratio"]).max()
    V, W = (a.varm["PCs"][:, :leading] for a in (theirs, ours))
    angle = favard.theory.block.distance(V, W)
    S, T = (a.obsm["X_pca"][:, :leading] for a in (theirs, ours))
    signs = np.sign(np.sum(S * T, axis=0))
    scores = np.abs(S - T * signs).max() / np.abs(S).max()
    print(
        f"{name}: relative difference of the {len(one['variance'])} variances {variance:.1e}, of "
        f"the ratios {ratio:.1e}; of the first {leading}: largest angle {angle:.1e}, scores "
        f"{scores:.1e} (up to sign)"
    )
    gap = (one["variance"][leading - 1] - one["variance"][leading]) / largest
    assert variance < 10 * rounding and ratio < 10 * rounding
    assert angle < 10 * rounding / gap and scores < 100 * rounding / gap
    assert ours.obsm["X_pca"].dtype == theirs.obsm["X_pca"].dtype
    assert ours.varm["PCs"].shape == theirs.varm["PCs"].shape
    assert two["params"] == one["params"]


def main():
    """Compares the three."""
    adata = cells()
    stored = adata.X.nnz / np.prod(adata.shape)
    print(f"{adata.n_obs} cells, {adata.n_vars} genes, {stored:.0%} stored, {adata.X.dtype}")
    n_comps, leading = 30, 5
    scikit, patched, direct = adata.copy(), adata.copy(), adata.copy()

    began = time.perf_counter()
    sc.pp.pca(scikit, n_comps=n_comps)
    print(f"scanpy with scikit-learn: {time.perf_counter() - began:.2f} s")

    began = time.perf_counter()
    with in_scanpy():
        sc.pp.pca(patched, n_comps=n_comps)
    print(f"scanpy with favard: {time.perf_counter() - began:.2f} s")
    compare("sc.pp.pca", scikit, patched, leading)

    began = time.perf_counter()
    pca = favard_pca(direct, n_comps, tol=1e-6)
    print(f"favard_pca: {time.perf_counter() - began:.2f} s, {pca.info_}")
    compare("favard_pca", scikit, direct, leading)

    # Genes that vary most, and scaling: scanpy's would make a dense matrix.
    sc.pp.highly_variable_genes(direct, n_top_genes=500)
    scaled = favard_pca(direct, n_comps, scale=True, key_added="scaled")
    print(f"500 genes, scaled, still sparse: {scaled.info_}")

    # What comes after it in scanpy reads the same places.
    sc.pp.neighbors(patched, n_neighbors=10, method="gauss", transformer="sklearn")
    graph = patched.obsp["connectivities"].tocoo()
    kinds = patched.obs["kind"].to_numpy()
    same = np.mean(kinds[graph.row] == kinds[graph.col])
    print(f"neighbours of the same type: {same:.1%}")
    assert same > 0.95


if __name__ == "__main__":
    main()
