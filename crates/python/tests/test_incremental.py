"""IncrementalPCA and LeastSquares."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix, lil_array
from sklearn.exceptions import ConvergenceWarning

import favard

EPS = np.finfo(float).eps


@pytest.mark.parametrize("make", [np.asarray, csr_array, csc_matrix, lil_array])
def test_batches_of_every_kind(make, dense):
    """20 + 10 directions are all there are: nothing is thrown away, and it is PCA."""
    model = favard.IncrementalPCA(20)
    for rows in np.array_split(np.arange(len(dense)), 7):
        model.partial_fit(make(dense[rows]))
    whole = favard.PCA(20, tol=0).fit(dense)
    assert model.info_.certified and model.n_samples_seen_ == len(dense)
    largest = whole.explained_variance_[0]
    # 7 batches, each exact to a tenth of the tolerance 1e-6.
    gap = np.abs(model.explained_variance_ - whole.explained_variance_).max()
    assert gap <= 7e-7 * largest
    np.testing.assert_allclose(model.mean_, dense.mean(axis=0), rtol=100 * EPS)
    np.testing.assert_allclose(model.var_, dense.var(axis=0), rtol=1e-12)


def test_fit_takes_batches(dense):
    """The part of scikit-learn's test of sparse data that applies."""
    X = csr_matrix(dense)
    model = favard.IncrementalPCA(2, batch_size=50).fit(X)
    assert model.fit_transform(X).shape == (400, 2)
    whole = favard.PCA(2).fit(dense).explained_variance_ratio_.sum()
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), whole, rtol=1e-3)
    for k in (1, 2, 30):
        model = favard.IncrementalPCA(k, batch_size=50).fit(X)
        identity = model.get_covariance() @ model.get_precision()
        np.testing.assert_allclose(identity, np.eye(30), atol=1e-10)


def test_error_bound_holds(dense):
    """What is thrown away bounds the error of every variance."""
    model = favard.IncrementalPCA(2, n_oversamples=0, batch_size=20).fit(dense)
    whole = favard.PCA(2, tol=0).fit(dense)
    bound = model.info_.residuals[0]
    assert np.abs(model.explained_variance_ - whole.explained_variance_).max() <= bound


def test_a_refused_batch_changes_nothing(dense):
    model = favard.IncrementalPCA(2).partial_fit(dense[:50])
    before = model.components_.copy()
    bad = dense[50:60].copy()
    bad[3, 4] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.partial_fit(bad)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(dense[50:60, :20])
    model.partial_fit(dense[50:])
    again = favard.IncrementalPCA(2).partial_fit(dense[:50]).partial_fit(dense[50:])
    np.testing.assert_array_equal(model.components_, again.components_)
    assert before.shape == (2, 30)


def test_precision_is_that_of_the_first_batch(dense):
    model = favard.IncrementalPCA(2).partial_fit(dense[:50].astype(np.float32))
    model.partial_fit(dense[50:100])
    assert model.components_.dtype == np.float32


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("solver", ["auto", "direct", "cg", "lsmr", "heavy-ball", "chebyshev"])
def test_least_squares(make, solver, rng):
    """Aᵀr is what the certificate says: ‖AᵀA (x − x*)‖ ≤ tol ‖A‖ ‖r‖."""
    X = rng.normal(size=(200, 10))
    y = X @ np.arange(10.0) + 3.0 + rng.normal(size=200)
    model = favard.LeastSquares(solver=solver, tol=1e-9).fit(make(X), y)
    assert model.info_.certified and model.info_.solver == {"auto": "direct"}.get(
        solver, solver.replace("-", "")
    )
    A = np.column_stack([X, np.ones(200)])
    exact = np.linalg.lstsq(A, y, rcond=None)[0]
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    residual = np.linalg.norm(y - A @ exact)
    bound = (1e-9 + 100 * EPS) * s[0] * residual / s[-1] ** 2 * 1.1
    assert np.linalg.norm(model.coef_ - exact[:10]) <= bound
    assert abs(model.intercept_ - exact[10]) <= 10 * bound
    np.testing.assert_allclose(model.predict(make(X)), A @ exact, atol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_least_squares_by_batches(make, rng):
    """SVRG meets the certificate with noise, mini-batches without; with noise they say that they did not."""
    X = rng.normal(size=(4000, 8))
    clean = X @ np.arange(8.0)
    noisy = clean + 3.0 + rng.normal(size=4000)
    svrg = favard.LeastSquares(solver="svrg", batch_size=32, tol=1e-8).fit(make(X), noisy)
    assert svrg.info_.certified and svrg.info_.solver == "svrg"
    exact = np.linalg.lstsq(np.column_stack([X, np.ones(4000)]), noisy, rcond=None)[0]
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    # ‖AᵀA (x − x*)‖ ≤ tol ‖A‖ ‖r‖
    bound = (1e-8 + 100 * EPS) * s[0] * np.linalg.norm(noisy) / s[-1] ** 2
    assert np.linalg.norm(svrg.coef_ - exact[:8]) <= bound
    batches = favard.LeastSquares(solver="minibatch", fit_intercept=False, tol=1e-8)
    assert batches.fit(make(X), clean).info_.certified
    with pytest.warns(ConvergenceWarning):
        assert not batches.fit(make(X), noisy).info_.certified
    with pytest.raises(ValueError, match="batch_size"):
        favard.LeastSquares(batch_size=0).fit(X, clean)


def test_least_squares_with_targets_ridge_and_weights(rng):
    X, Y = rng.normal(size=(80, 6)), rng.normal(size=(80, 3))
    weights = rng.uniform(0.5, 2.0, size=80)
    model = favard.LeastSquares(alpha=2.0, tol=1e-12).fit(X, Y, sample_weight=weights)
    mean, center = weights @ X / weights.sum(), weights @ Y / weights.sum()
    Z = X - mean
    normal = (Z.T * weights) @ Z + 2.0 * np.eye(6)
    exact = np.linalg.solve(normal, (Z.T * weights) @ (Y - center)).T
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, center - exact @ mean, rtol=1e-8, atol=1e-10)
    assert model.predict(X).shape == (80, 3) and model.score(X, Y) <= 1.0


def test_least_squares_without_intercept(rng):
    X = rng.normal(size=(50, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0]
    model = favard.LeastSquares(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 0.5, 0.0], atol=1e-7)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_one_row_is_a_first_batch(make, dense):
    """It has a mean and no variance."""
    model = favard.IncrementalPCA(1).partial_fit(make(dense[:1]))
    assert model.n_samples_seen_ == 1 and not model.info_.certified
    np.testing.assert_array_equal(model.mean_, dense[0])
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "var_"):
        assert not getattr(model, name).any()
    np.testing.assert_array_equal(model.transform(dense[:1]), [[0.0]])
    for row in dense[1:60]:
        model.partial_fit(make(row[None]))
    whole = favard.PCA(1).fit(dense[:60])
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-2)
    np.testing.assert_allclose(model.mean_, whole.mean_, rtol=1e-12)
    seen = []
    by_row = favard.IncrementalPCA(1, batch_size=1, callback=lambda *tick: seen.append(tick))
    by_row.fit(dense[:5])
    assert len(seen) == 5
    with pytest.raises(ValueError, match="minimum of 2"):
        favard.IncrementalPCA(1).fit(dense[:1])
    with pytest.raises(ValueError, match="must be less or equal to the batch"):
        favard.IncrementalPCA(2).partial_fit(dense[:1])


def test_a_refused_fit_changes_nothing(dense):
    model = favard.IncrementalPCA(2, batch_size=100).fit(dense[:200])
    late = dense.copy()
    late[350, 3] = np.nan
    for bad in (late, late[150:], dense[:1], dense[:, :1], "no data"):
        with pytest.raises(ValueError):
            model.fit(bad)
    assert model.n_samples_seen_ == 200 and model.n_features_in_ == 30
    again = favard.IncrementalPCA(2, batch_size=100).fit(dense[:200]).partial_fit(dense[200:])
    model.partial_fit(dense[200:])
    np.testing.assert_array_equal(model.components_, again.components_)


def test_a_matrix_by_columns_is_turned_once(monkeypatch, dense):
    """Each batch of rows was looked for in all of the columns: as many passes as batches."""
    turned = []
    csc = csc_array(dense)
    whole = type(csc).tocsr
    monkeypatch.setattr(type(csc), "tocsr", lambda self, *a, **k: turned.append(1) or whole(self))
    found = favard.IncrementalPCA(3, batch_size=20).fit(csc)
    assert len(turned) == 1
    expected = favard.IncrementalPCA(3, batch_size=20).fit(csr_array(dense))
    np.testing.assert_array_equal(found.components_, expected.components_)


@pytest.mark.parametrize("make", [favard.LeastSquares, favard.Kaczmarz])
def test_sparse_targets_are_refused_by_name(make, dense):
    with pytest.raises(TypeError, match="Sparse data was passed for y"):
        make().fit(dense, csr_array(dense[:, :1]))
