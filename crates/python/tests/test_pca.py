"""PCA and TruncatedSVD against a dense decomposition."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

import favard

EPS = np.finfo(float).eps


def reference(X, weights=None, scale=False):
    """Variances and components of a dense matrix by NumPy's SVD."""
    weights = np.ones(len(X)) if weights is None else weights
    total = weights.sum()
    centred = X - weights @ X / total
    if scale:
        centred = centred / np.sqrt((weights @ centred**2) / (total - 1))
    s, vt = np.linalg.svd(np.sqrt(weights)[:, None] * centred, full_matrices=False)[1:]
    signs = np.sign(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)])
    return s**2 / (total - 1), vt * signs[:, None]


def close(model, X, tol, weights=None, scale=False):
    """The residuals prove it: |λ − θ| ≤ r, and sin ≤ r / gap (Davis and Kahan); r ≤ tol λ₁, and the
    rounding of the reference is 100 ε λ₁."""
    variance, components = reference(X, weights, scale)
    k = model.n_components_
    bound = (tol + 100 * EPS) * variance[0]
    assert np.abs(model.explained_variance_ - variance[:k]).max() <= bound
    padded = np.concatenate([[np.inf], variance, [-np.inf]])
    for j in range(k):
        gap = min(padded[j] - padded[j + 1], padded[j + 1] - padded[j + 2]) - bound
        assert gap > 0
        # |v − u| ≤ √2 sin for unit vectors of the same sign
        apart = np.linalg.norm(model.components_[j] - components[j])
        assert apart <= 2**0.5 * bound / gap
    ratio = model.explained_variance_ratio_
    np.testing.assert_allclose(ratio, model.explained_variance_ / variance.sum(), rtol=1e-12)


@pytest.mark.parametrize("make", [csr_array, csc_array])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(70, 4000), (4000, 70)])
def test_sparse_data_solved_exactly(shape, weighted, scale, make):
    """Whose Gram matrix is formed from the pairs of their entries: rare ones, and columns that most rows have."""
    rng = np.random.default_rng(11)
    X = rng.poisson(0.05, shape) * rng.gamma(2.0, size=shape)
    X[:, ::25] = 3 + rng.random(X[:, ::25].shape)
    X[: len(X) // 2] *= 1 + rng.random(shape[1])
    X[0, ~X.any(axis=0)] = 1.0
    weights = 1.0 + np.arange(len(X)) % 3 if weighted else None
    model = favard.PCA(3, tol=1e-8, scale=scale).fit(make(X), sample_weight=weights)
    assert model.info_.certified and model.info_.solver == "exact"
    close(model, X, 1e-8, weights, scale)


@pytest.mark.parametrize("make", [np.asarray, csr_array, csc_array, csr_matrix])
@pytest.mark.parametrize("scale", [False, True])
def test_components(make, scale, dense):
    model = favard.PCA(4, tol=1e-10, scale=scale).fit(make(dense))
    assert model.info_.certified
    close(model, dense, 1e-10, scale=scale)


@pytest.mark.parametrize(
    "solver",
    ["exact", "krylov", "power", "momentum", "dynamic", "chebyshev", "heavy-ball", "vr-pca", "vr"],
)
def test_every_solver_that_converges(solver, dense):
    model = favard.PCA(2, solver=solver, tol=1e-6, max_iter=3000).fit(dense)
    assert model.info_.certified and model.info_.solver == solver
    close(model, dense, 1e-6)


@pytest.mark.parametrize("solver", ["oja", "oja-momentum", "ada-oja", "minibatch", "inhomogeneous"])
def test_every_solver_that_samples_runs(solver, dense):
    model = favard.PCA(1, solver=solver, tol=0.5, max_iter=50).fit(csr_array(dense))
    assert model.components_.shape == (1, 30) and np.isfinite(model.components_).all()


def test_weights_are_repeats(dense, rng):
    """A row of weight 3 is three rows, one of weight 0 none."""
    weights = rng.integers(0, 4, size=len(dense))
    model = favard.PCA(3, tol=1e-10).fit(dense, sample_weight=weights)
    close(model, dense, 1e-10, weights=weights.astype(float))
    again = favard.PCA(3, tol=1e-10).fit(np.repeat(dense, weights, axis=0))
    np.testing.assert_allclose(model.noise_variance_, again.noise_variance_, rtol=1e-9)


def test_sparse_stays_sparse_and_agrees(sparse):
    model = favard.PCA(5, tol=1e-9).fit(sparse)
    assert model.info_.solver == "krylov" and model.info_.certified
    close(model, sparse.toarray(), 1e-9)
    scores = model.transform(sparse)
    expected = (sparse.toarray() - model.mean_) @ model.components_.T
    np.testing.assert_allclose(scores, expected, atol=1e-12 * np.abs(expected).max())


def test_share_of_the_variance(sparse, dense):
    """The fewest components that explain more than the share, also where they are found by and by."""
    for X, share in ((dense, 0.9), (sparse, 0.3)):
        ratio = reference(X if X is dense else X.toarray())[0]
        ratio = np.cumsum(ratio / ratio.sum())
        model = favard.PCA(share).fit(X)
        assert model.n_components_ == np.searchsorted(ratio, share, side="right") + 1


def test_rank_deficient_components_are_complete(rng):
    """Beyond the rank the variances are zero and the components orthonormal."""
    X = rng.normal(size=(6, 9))
    model = favard.PCA().fit(X)
    assert model.components_.shape == (6, 9)
    assert model.explained_variance_[5] == 0.0 and model.explained_variance_[4] > 0.0
    gram = model.components_ @ model.components_.T
    np.testing.assert_allclose(gram, np.eye(6), atol=100 * EPS)


def test_no_variance():
    model = favard.PCA(2).fit(np.full((5, 3), 2.5))
    assert (model.explained_variance_ == 0).all() and model.noise_variance_ == 0
    np.testing.assert_array_equal(model.components_, np.eye(3)[:2])


def test_inverse_transform(dense):
    for whiten in (False, True):
        for scale in (False, True):
            model = favard.PCA(whiten=whiten, scale=scale).fit(dense)
            back = model.inverse_transform(model.transform(dense))
            np.testing.assert_allclose(back, dense, rtol=1e-9)


def test_score_of_scaled_data(dense):
    """With all components but one the model is a Gaussian: scaling columns changes only units."""
    model, scaled = favard.PCA(29).fit(dense), favard.PCA(29, scale=True).fit(dense)
    assert abs(model.score(dense) / scaled.score(dense) - 1) < 0.01


def test_same_bits_on_any_number_of_threads(sparse):
    before = favard.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 4):
            favard.set_num_threads(threads)
            assert favard.get_num_threads() == threads
            found.append(favard.PCA(3).fit(sparse).components_)
    finally:
        favard.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_truncated_svd(sparse):
    """σ² is within the residual of an eigenvalue of XᵀX: |σ − s| ≤ tol σ₁² / (σ + s)."""
    model = favard.TruncatedSVD(4, tol=1e-10).fit(sparse)
    s = np.linalg.svd(sparse.toarray(), compute_uv=False)
    assert model.info_.certified
    bound = (1e-10 + 100 * EPS) * s[0] ** 2 / s[3]
    assert np.abs(model.singular_values_ - s[:4]).max() <= bound
    scores = model.fit_transform(sparse)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), s[:4], rtol=1e-8)
    weighted = favard.TruncatedSVD(2).fit(sparse, sample_weight=np.full(sparse.shape[0], 4.0))
    np.testing.assert_allclose(weighted.singular_values_, 2 * s[:2], rtol=1e-6)


def test_single_precision(dense):
    X = dense.astype(np.float32)
    model = favard.PCA(3).fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert model.info_.certified
    variance = reference(X.astype(float))[0][:3]
    # The rounding that the tolerance stands for: 8 ε √d.
    bound = 8 * np.finfo(np.float32).eps * 30**0.5
    np.testing.assert_allclose(model.explained_variance_, variance, rtol=4 * bound)


def test_a_share_has_no_more_components_than_there_are(rng):
    """None is left over by rounding, and nothing is explained by one, as in scikit-learn."""
    low = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 6))
    for X in (low, low[:, :2], rng.normal(size=(5, 9))):
        for share in (0.5, 0.9999999999999999):
            model = favard.PCA(share).fit(X)
            assert model.n_components_ <= min(X.shape)
            np.testing.assert_allclose(
                model.components_ @ model.components_.T, np.eye(model.n_components_), atol=1e-12
            )
    flat = favard.PCA(0.5).fit(np.ones((5, 3)))
    assert flat.n_components_ == 1
    np.testing.assert_array_equal(flat.explained_variance_, [0.0])
    np.testing.assert_array_equal(flat.transform(np.ones((2, 3))), np.zeros((2, 1)))


def test_mle_counts_the_weights():
    """As scikit-learn does of rows that are repeated, also of fewer than there are columns."""
    differ = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = rng.integers(5, 30)
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6)) + 0.7 * rng.normal(size=(n, 6))
        weights = rng.integers(1, 6, size=n)
        ours = favard.PCA("mle").fit(X, sample_weight=weights)
        theirs = decomposition.PCA("mle").fit(np.repeat(X, weights, axis=0))
        assert ours.n_components_ == theirs.n_components_
        if n >= 6:
            differ += favard.PCA("mle").fit(X).n_components_ != ours.n_components_
    assert differ > 0
    with pytest.raises(ValueError, match="mle"):
        favard.PCA("mle").fit(X[:5], sample_weight=np.ones(5))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_full_does_not_warn_of_the_rounding_of_the_mean(make, dtype, rng):
    """Products with rows around a mean have its rounding: nine in a variance of 1/200 is such a one."""
    X = np.linalg.qr(rng.normal(size=(200, 90)))[0] + 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        favard.PCA(45, svd_solver="full").fit(make(X.astype(dtype)))


def test_the_warning_compares_what_is_compared(rng):
    """The residual that it shows is relative, as the tolerance: of small data it looked met."""
    X = 1e-3 * rng.normal(size=(300, 200))
    model = favard.PCA(3, solver="krylov", tol=1e-10, max_iter=4)
    with pytest.warns(ConvergenceWarning, match="did not reach the tolerance 1.0e-10") as caught:
        model.fit(X)
    shown = float(str(caught[0].message).split("residual is ")[1].split()[0])
    relative = model.info_.residuals.max() / model.explained_variance_[0]
    # Two digits are shown.
    assert 0.94 * relative < shown < 1.06 * relative
