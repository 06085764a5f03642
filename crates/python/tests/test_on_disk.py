"""Matrices that stay in their files."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import favard


@pytest.fixture
def matrix():
    X = sparse.random_array((3000, 90), density=0.1, format="csr", rng=np.random.default_rng(3))
    return sparse.csr_array(X * np.linspace(4, 1, 90))


@pytest.fixture
def path(matrix, tmp_path):
    name = tmp_path / "x.npz"
    sparse.save_npz(name, matrix, compressed=False)
    return name


def same(a, b, tol):
    """|λ − θ| ≤ tol λ₁ of both, and the same signs."""
    bound = 2 * tol * b.explained_variance_[0]
    assert np.abs(a.explained_variance_ - b.explained_variance_).max() <= bound
    assert np.sum(a.components_ * b.components_, axis=1).min() > 0.99


@pytest.mark.parametrize("part_entries", [1, 1000, 1 << 22])
@pytest.mark.parametrize("scale", [False, True])
def test_pca_is_that_of_the_matrix(matrix, path, part_entries, scale):
    X = favard.OnDisk(path, part_entries=part_entries)
    assert X.shape == matrix.shape and X.nnz == matrix.nnz
    pca = favard.PCA(3, tol=1e-8, scale=scale).fit(X)
    assert pca.info_.certified and pca.n_features_in_ == 90
    wanted = favard.PCA(3, tol=1e-8, scale=scale).fit(matrix)
    same(pca, wanted, 1e-8)
    # Sums of 90 products of numbers up to the size of the scores.
    scores, exact = pca.transform(X), pca.transform(matrix)
    assert np.abs(scores - exact).max() <= 90 * np.finfo(float).eps * np.abs(exact).max() * 10


def test_weights_and_singular_values(matrix, path):
    X, weights = favard.OnDisk(path), np.arange(3000) % 3
    pca = favard.PCA(2, tol=1e-8).fit(X, sample_weight=weights)
    same(pca, favard.PCA(2, tol=1e-8).fit(matrix, sample_weight=weights), 1e-8)
    svd = favard.TruncatedSVD(2, tol=1e-8)
    scores = svd.fit_transform(X)
    assert svd.info_.certified and scores.shape == (3000, 2)
    s = np.linalg.svd(matrix.toarray(), compute_uv=False)[:2]
    np.testing.assert_allclose(svd.singular_values_, s, rtol=1e-8)


@pytest.mark.parametrize("solver", ["momentum", "vr"])
def test_other_solvers(matrix, path, solver):
    options = {"solver": solver, "tol": 1e-4, "max_iter": 3000}
    pca = favard.PCA(1, **options).fit(favard.OnDisk(path))
    assert pca.info_.certified
    same(pca, favard.PCA(1, **options).fit(matrix), 1e-4)


def test_least_squares(matrix, path):
    rng = np.random.default_rng(5)
    X, targets = favard.OnDisk(path), rng.normal(size=(3000, 2))
    fit = favard.LeastSquares(tol=1e-10).fit(X, targets)
    assert fit.info_.certified
    design = np.column_stack([matrix.toarray(), np.ones(3000)])
    wanted = np.linalg.lstsq(design, targets, rcond=None)[0]
    # |x - x*| <= |A.T r| / s_min**2 for the centred columns
    centred = matrix.toarray() - matrix.mean(axis=0)
    s = np.linalg.svd(centred, compute_uv=False)
    bound = 1e-10 * s[0] * np.linalg.norm(targets) / s[-1] ** 2
    assert np.abs(fit.coef_.T - wanted[:-1]).max() <= bound
    assert fit.predict(X).shape == (3000, 2)
    assert favard.LeastSquares().fit(X, targets[:, 0]).coef_.shape == (90,)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        favard.LeastSquares().fit(X, targets[:-1])
    with pytest.raises(ValueError, match="NaN"):
        favard.LeastSquares().fit(X, np.full(3000, np.nan))


def test_single_precision(matrix, path):
    X = favard.OnDisk(path, dtype=np.float32)
    pca = favard.PCA(2, tol=1e-4).fit(X)
    assert pca.components_.dtype == np.float32 and pca.transform(X).dtype == np.float32
    same(pca, favard.PCA(2, tol=1e-4).fit(matrix), 1e-4)


def test_it_is_a_plain_object(path):
    X = pickle.loads(pickle.dumps(favard.OnDisk(path)))
    assert X.shape == (3000, 90) and "3000 x 90" in repr(X)


def test_bad_files(matrix, path, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.npz"):
        favard.OnDisk(tmp_path / "nothing.npz")
    with pytest.raises(IsADirectoryError):
        favard.OnDisk(tmp_path)
    packed = tmp_path / "packed.npz"
    sparse.save_npz(packed, matrix)
    with pytest.raises(ValueError, match="compressed=False"):
        favard.OnDisk(packed)
    columns = tmp_path / "csc.npz"
    sparse.save_npz(columns, matrix.tocsc(), compressed=False)
    with pytest.raises(ValueError, match="Csc"):
        favard.OnDisk(columns)
    with pytest.raises(ValueError, match="dtype"):
        favard.OnDisk(path, dtype=int)
    with pytest.raises(ValueError, match="part_entries"):
        favard.OnDisk(path, part_entries=0)
    matrix.data[1234] = np.nan
    sparse.save_npz(path, matrix, compressed=False)
    with pytest.raises(ValueError, match="data.npy.*not a finite number"):
        favard.PCA(2).fit(favard.OnDisk(path))


def test_other_columns_are_refused(matrix, path):
    pca = favard.PCA(2).fit(matrix[:, :50])
    with pytest.raises(ValueError, match="X has 90 features, but PCA is expecting 50"):
        pca.transform(favard.OnDisk(path))


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A process that fits a file of 120 MB in parts takes less than half of that beyond its start."""
    rng, name = np.random.default_rng(0), tmp_path / "x.npz"
    rows, each, columns = 100_000, 100, 400
    indices = np.sort(rng.integers(0, columns // each, (rows, each)) * each + np.arange(each))
    matrix = sparse.csr_array(
        (rng.random(rows * each), indices.ravel() % columns, np.arange(0, rows * each + 1, each)),
        shape=(rows, columns),
    )
    matrix.sum_duplicates()
    sparse.save_npz(name, matrix, compressed=False)
    size = 12 * matrix.nnz
    program = (
        "import resource, sys, numpy as np, favard, sklearn.decomposition\n"
        "favard.PCA(2).fit(np.random.default_rng(0).normal(size=(500, 20)))\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "pca = favard.PCA(3, tol=1e-3, solver='krylov').fit("
        "favard.OnDisk(sys.argv[1], part_entries=200_000))\n"
        "assert pca.info_.certified\n"
        "print(1024 * (peak() - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, name], capture_output=True, text=True, check=True
    )
    taken = int(done.stdout)
    assert 2 * taken < size, f"{taken} bytes for a matrix of {size}"


def test_other_types_are_refused(path):
    for dtype in (int, complex, np.float16):
        with pytest.raises(ValueError, match="float32 or float64"):
            favard.OnDisk(path).astype(dtype)
    assert favard.OnDisk(path).astype("float32").dtype == np.float32
