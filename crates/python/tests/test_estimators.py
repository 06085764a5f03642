"""scikit-learn's conventions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import favard

ESTIMATORS = [favard.PCA, favard.TruncatedSVD, favard.IncrementalPCA, favard.LeastSquares]
TRANSFORMERS = ESTIMATORS[:3]


@parametrize_with_checks([make() for make in ESTIMATORS])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def fitted(make, X):
    model = make()
    if make is favard.LeastSquares:
        return model.fit(X, X[:, 0] - X[:, 1])
    return model.fit(X)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_clone_and_pickle_keep_everything(make, dense):
    model = fitted(make, dense)
    assert clone(model).get_params() == make().get_params()
    again = pickle.loads(pickle.dumps(model))
    use = model.predict if make is favard.LeastSquares else model.transform
    same = again.predict if make is favard.LeastSquares else again.transform
    np.testing.assert_array_equal(use(dense), same(dense))
    assert repr(again.info_) == repr(model.info_)


def test_pickled_stream_goes_on(dense):
    """The stream is part of the pickle: what comes after gives the same bits."""
    model = favard.IncrementalPCA(3).partial_fit(dense[:100])
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        each.partial_fit(dense[100:])
    np.testing.assert_array_equal(model.components_, again.components_)


@pytest.mark.parametrize("make", TRANSFORMERS)
def test_feature_names_and_set_output(make, dense):
    frame = pd.DataFrame(dense, columns=[f"c{i}" for i in range(dense.shape[1])])
    model = make(n_components=2).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    name = make.__name__.lower()
    assert list(model.transform(frame).columns) == [f"{name}0", f"{name}1"]
    assert list(model.get_feature_names_out()) == [f"{name}0", f"{name}1"]


def test_pipeline_and_grid_search(dense):
    target = dense @ np.arange(30.0)
    pipeline = make_pipeline(StandardScaler(), favard.PCA(), LinearRegression())
    search = GridSearchCV(pipeline, {"pca__n_components": [2, 5, 20]}, cv=3)
    search.fit(dense, target)
    assert search.best_params_ == {"pca__n_components": 20}
    ridge = GridSearchCV(favard.LeastSquares(), {"alpha": [0.0, 1e6]}, cv=3)
    assert ridge.fit(dense, target).best_params_ == {"alpha": 0.0}


@pytest.mark.parametrize("make", TRANSFORMERS)
def test_not_fitted(make, dense):
    with pytest.raises(NotFittedError):
        make().transform(dense)
    with pytest.raises(NotFittedError):
        favard.LeastSquares().predict(dense)


def test_budget_is_a_warning_and_the_result_is_kept(sparse):
    """Running out of products is no error: what was found is there, and says so."""
    model = favard.PCA(3, tol=1e-12, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="did not reach the tolerance 1.0e-12"):
        model.fit(sparse)
    assert model.components_.shape == (3, sparse.shape[1])
    assert not model.info_.certified and model.info_.stop == "iterations"


@pytest.mark.parametrize(
    "model, message",
    [
        (favard.PCA(svd_solver="simplex"), "svd_solver"),
        (favard.PCA(solver="simplex"), "solver"),
        (favard.PCA(tol=-1.0), "tol"),
        (favard.PCA(tol=float("nan")), "tol"),
        (favard.PCA(max_iter=0), "max_iter"),
        (favard.PCA(max_iter=10**30), "must be at most 9223372036854775807"),
        (favard.PCA(n_components=31), "between 0 and min"),
        (favard.PCA(n_components="many"), "mle"),
        (favard.PCA(n_components=2.5), "type int"),
        (favard.PCA(n_components=-1), "between 0 and min"),
        (favard.TruncatedSVD(n_components=0), "n_components"),
        (favard.TruncatedSVD(n_components=31), "n_components"),
        (favard.TruncatedSVD(algorithm="simplex"), "algorithm"),
        (favard.IncrementalPCA(n_components=31), "n_components"),
        (favard.IncrementalPCA(batch_size=0), "batch_size"),
    ],
)
def test_bad_parameters(model, message, dense):
    with pytest.raises(ValueError, match=message):
        model.fit(dense)


@pytest.mark.parametrize(
    "params, message",
    [({"alpha": -1.0}, "alpha"), ({"tol": -1.0}, "tol"), ({"solver": "simplex"}, "solver")],
)
def test_bad_parameters_of_least_squares(params, message, dense):
    with pytest.raises(ValueError, match=message):
        favard.LeastSquares(**params).fit(dense, dense[:, 0])


def test_callback_must_be_callable(dense):
    with pytest.raises(TypeError, match="callback must be callable"):
        favard.PCA(2, callback="no").fit(dense)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_warning_unless_rounding_alone_is_missing(dtype, rng):
    """What counts as rounding is 8 ε √n of the type: a residual of 1e-7 is that in float32, and a
    result that missed its tolerance in float64."""
    from favard import _common
    from favard._info import Info

    eps = float(np.finfo(dtype).eps)
    model = favard.PCA(1).fit(rng.normal(size=(20, 4)).astype(dtype))
    for residual, is_told in ((1e-10 + 16 * eps, False), (1e-10 + 100 * eps, True)):
        model.info_ = Info(
            stop="converged", iterations=1, applications=1, passes=1.0, tolerance=1e-10,
            history=np.array([[1.0, 1.0, 1.0, residual]]), residuals=np.array([residual]),
        )
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            _common.finish(model, {})
        assert bool(told) == is_told


@pytest.mark.parametrize("make", [*TRANSFORMERS, favard.SubspaceTracker])
def test_inverse_transform_checks_its_scores(make, dense):
    model = make(n_components=2).fit(dense)
    scores = model.transform(dense)
    rows = model.inverse_transform(scores)
    np.testing.assert_array_equal(model.inverse_transform(scores.tolist()), rows)
    assert model.inverse_transform(np.ones((1, 2), dtype=int)).dtype == np.float64
    bad = scores.copy()
    bad[1, 0] = np.nan
    for X, error, message in (
        (bad, ValueError, "contains NaN"),
        (scores[0], ValueError, "Expected 2D array"),
        (csr_array(scores), TypeError, "[Ss]parse"),
        (scores[:, :1], ValueError, f"X has 1 features, but {make.__name__} has 2 components"),
    ):
        with pytest.raises(error, match=message):
            model.inverse_transform(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_default_tolerance_is_within_reach(dtype, rng):
    X = rng.normal(size=(300, 20)).astype(dtype)
    exact, noisy = X @ np.ones(20, dtype=dtype), rng.normal(size=300).astype(dtype)
    expected = max(1e-8, 8 * float(np.finfo(dtype).eps) * 20**0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (exact, noisy):
            info = favard.LeastSquares().fit(X, y).info_
            assert info.certified and info.tolerance == pytest.approx(expected)
        info = favard.Kaczmarz(batch_size=16).fit(X, exact).info_
        assert info.certified and info.tolerance == pytest.approx(expected)


def test_the_residual_shown_is_the_one_that_was_tested(rng, capsys):
    """Of a system with a solution the gradient is rounding; the misfit is what counts."""
    X = rng.normal(size=(100, 5))
    model = favard.LeastSquares(verbose=1).fit(X, X @ np.ones((5, 2)))
    assert model.info_.certified
    assert model.info_.residuals.shape == (2,)
    assert model.info_.residuals.max() <= model.info_.tolerance
    assert f"residual={model.info_.residuals.max():.1e}" in capsys.readouterr().err
    y = X @ np.ones(5) + rng.normal(size=100)
    with pytest.warns(ConvergenceWarning, match="residual"):
        rough = favard.LeastSquares(solver="cg", max_iter=3, tol=1e-14).fit(X, y)
    r = y - rough.predict(X)
    assert not rough.info_.certified
    assert rough.info_.residuals[0] <= np.linalg.norm(r) / np.linalg.norm(y - y.mean())


def test_least_squares_whose_norms_overflow(rng):
    """They warn, and certify nothing that is wrong."""
    A, b = 1e155 * rng.normal(size=(50, 5)), rng.normal(size=50)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = favard.LeastSquares(solver="lsmr", fit_intercept=False).fit(A, b)
    exact = np.linalg.lstsq(A / 1e155, b, rcond=None)[0]
    if model.info_.certified:
        np.testing.assert_allclose(model.coef_ * 1e155, exact, rtol=1e-6)
    else:
        assert any(issubclass(each.category, ConvergenceWarning) for each in caught)


def test_an_overflow_is_not_certified(dense, monkeypatch):
    solve = favard._core.least_squares

    def overflow(*args, **kwargs):
        return {**solve(*args, **kwargs), "sizes": np.array([np.inf])}

    monkeypatch.setattr(favard._core, "least_squares", overflow)
    with pytest.warns(ConvergenceWarning, match="residual is inf"):
        model = favard.LeastSquares().fit(dense, dense[:, 0])
    assert not model.info_.certified
