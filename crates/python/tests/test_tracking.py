"""SubspaceTracker: a subspace that stands, one that turns, rows with holes."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import favard
from favard import SubspaceTracker

DIM = 12


def rows(rng, count=200, turned=0.0):
    """Gaussian rows: deviations 3 along two axes, one of them turned, 1 along the others."""
    batch = rng.normal(size=(count, DIM))
    batch[:, :2] *= 3.0
    c, s = np.cos(turned), np.sin(turned)
    batch[:, [1, 2]] = batch[:, [1, 2]] @ np.array([[c, s], [-s, c]])
    return batch


def outside(model):
    """The sum of the squared sines of the angles to the first two axes."""
    return 2.0 - np.sum(model.components_[:, :2] ** 2)


def fitted(model, batches=40, seed=0, spoil=lambda rng, batch: batch):
    rng = np.random.default_rng(seed)
    for _ in range(batches):
        model.partial_fit(spoil(rng, rows(rng)))
    return model


def test_a_power_step_is_the_covariance_times_the_basis():
    rng = np.random.default_rng(1)
    start = np.linalg.qr(rng.normal(size=(DIM, 3)))[0]
    batch = rng.normal(size=(50, DIM))
    model = SubspaceTracker(3, momentum=False, init=start.T).partial_fit(batch)
    expected = np.linalg.qr(batch.T @ (batch @ start))[0]
    assert np.linalg.norm(model.components_ @ model.components_.T - np.eye(3)) < 1e-12
    # Equal spans: the projectors agree, up to rounding times the condition of the product.
    gap = model.components_.T @ model.components_ - expected @ expected.T
    assert np.linalg.norm(gap) < 1e-10
    values = np.linalg.eigvalsh(start.T @ batch.T @ batch @ start / 50)[::-1]
    # A further column is carried along: the Ritz values are at least those of the three alone.
    assert (model.explained_variance_ >= values - 1e-10).all()


def test_the_subspace_is_found():
    model = fitted(SubspaceTracker(2))
    # Batches of 200: a noise of about 10 · 9 / (200 · 64) a direction a step, halved by forgetting.
    assert outside(model) < 0.05
    assert model.n_batches_seen_ == 40 and model.n_samples_seen_ == 8000
    assert model.components_.shape == (2, DIM) and model.n_features_in_ == DIM
    assert model.info_.iterations == 40 and model.info_.residuals.shape == (2,)
    assert model.weighing_ is not None and model.report_


def test_momentum_can_be_forced():
    assert fitted(SubspaceTracker(2, momentum=False)).report_ == "no momentum: asked for"
    always = fitted(SubspaceTracker(2, momentum=True))
    assert always.momentum_ and always.beta_ > 0 and outside(always) < 0.1
    fixed = fitted(SubspaceTracker(2, momentum=0.25))
    assert fixed.beta_ == 0.25


def test_a_turning_subspace_is_followed():
    rng = np.random.default_rng(2)
    model = SubspaceTracker(2)
    for t in range(150):
        angle = 0.02 * t
        model.partial_fit(rows(rng, turned=angle))
    axis = np.zeros(DIM)
    axis[1], axis[2] = np.cos(angle), np.sin(angle)
    # Forgets within 1 / (1 − 1/9) batches: the lag is about 0.02 radians, the noise larger.
    assert np.linalg.norm(model.components_ @ axis) > 0.98


@pytest.mark.parametrize("how", ["nan", "mask", "sparse", "probability"])
def test_missing_entries(how):
    rng = np.random.default_rng(3)
    model = SubspaceTracker(2, missing=True if how == "sparse" else "auto")
    if how == "probability":
        model.set_params(probability=0.6)
    for _ in range(60):
        batch = rows(rng, count=500)
        seen = rng.random(batch.shape) < 0.6
        if how == "mask":
            model.partial_fit(batch, mask=seen)
        elif how == "sparse":
            model.partial_fit(sp.csr_matrix(np.where(seen, batch, 0.0)))
        else:
            model.partial_fit(np.where(seen, batch, np.nan))
    assert outside(model) < 0.1


def test_masks_and_nan_are_the_same():
    rng = np.random.default_rng(4)
    batch = rows(rng)
    seen = rng.random(batch.shape) < 0.7
    one = SubspaceTracker(2).partial_fit(batch, mask=seen)
    two = SubspaceTracker(2).partial_fit(np.where(seen, batch, np.nan))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_sparse_rows_are_dense_rows():
    rng = np.random.default_rng(5)
    batches = [np.where(rng.random((60, DIM)) < 0.4, rows(rng, 60), 0.0) for _ in range(5)]
    dense, sparse, mixed = (SubspaceTracker(2, momentum=False) for _ in range(3))
    holes = batches[0].copy()
    holes[0, 0] = np.nan
    for batch in batches:
        dense.partial_fit(batch)
        sparse.partial_fit(sp.csc_matrix(batch))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-12)
    # After rows with holes, what is not stored is zero all the same.
    mixed.partial_fit(holes).partial_fit(sp.csr_array(batches[1]))
    other = SubspaceTracker(2, momentum=False).partial_fit(holes).partial_fit(batches[1])
    np.testing.assert_allclose(mixed.components_, other.components_, atol=1e-12)


def test_oja_takes_single_rows():
    rng = np.random.default_rng(6)
    model = SubspaceTracker(2, learning_rate=0.01, momentum=False)
    for row in rows(rng, count=1500):
        model.partial_fit(row[None, :])
    assert outside(model) < 0.2


def test_fit_cuts_batches_and_starts_anew():
    rng = np.random.default_rng(7)
    X = np.concatenate([rows(rng) for _ in range(20)])
    model = SubspaceTracker(2, batch_size=200).fit(X)
    assert model.n_batches_seen_ == 20
    by_hand = SubspaceTracker(2)
    for part in np.array_split(X, 20):
        by_hand.partial_fit(part)
    np.testing.assert_array_equal(model.components_, by_hand.components_)
    np.testing.assert_array_equal(model.fit(X).components_, by_hand.components_)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T, atol=1e-12)
    back = model.inverse_transform(model.transform(X))
    assert back.shape == X.shape and list(model.get_feature_names_out())[0] == "subspacetracker0"
    stopped = SubspaceTracker(2, batch_size=200, callback=lambda tick, passes, residual: tick == 3)
    assert stopped.fit(X).n_batches_seen_ == 3 and stopped.info_.stop == "requested"


def test_coordinates_of_rows_with_holes_fit_what_was_seen():
    model = fitted(SubspaceTracker(2))
    rng = np.random.default_rng(10)
    X = rows(rng, count=30)
    seen = rng.random(X.shape) < 0.6
    seen[0] = True
    V = model.components_.T
    expected = [np.linalg.lstsq(V[s], x[s], rcond=None)[0] for x, s in zip(X, seen)]
    found = model.transform(np.where(seen, X, np.nan))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    sparse = sp.csr_matrix(np.where(seen, X, 0.0))
    np.testing.assert_allclose(
        model.set_params(missing=True).transform(sparse), expected, atol=1e-9
    )
    np.testing.assert_allclose(
        model.set_params(missing="auto").transform(sparse), sparse @ V, atol=1e-12
    )


def test_single_precision_and_pickles():
    model = SubspaceTracker(2)
    rng = np.random.default_rng(8)
    for _ in range(20):
        model.partial_fit(rows(rng).astype(np.float32))
    assert model.components_.dtype == np.float32 and outside(model) < 0.1
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.components_, model.components_)
    loaded.partial_fit(rows(rng))
    assert loaded.n_batches_seen_ == 21 and outside(loaded) < 0.1
    assert not hasattr(clone(model), "components_")
    with pytest.raises(NotFittedError):
        clone(model).transform(rows(rng))


def test_an_error_leaves_it_as_it_was():
    model = fitted(SubspaceTracker(2, missing=False), batches=3)
    before = model.components_.copy()
    rng = np.random.default_rng(9)
    holes = rows(rng)
    holes[3, 4] = np.nan

    def refused(words, batch, error=ValueError, **options):
        with pytest.raises(error, match=words):
            model.partial_fit(batch, **options)
        np.testing.assert_array_equal(model.components_, before)
        assert model.n_batches_seen_ == 3

    refused("contains NaN", holes)
    refused("infinity", np.full((5, DIM), np.inf))
    refused("features", np.ones((5, DIM - 1)))
    refused("a minimum of 3 is required", np.ones((2, DIM)))
    refused("above 0", np.zeros((5, DIM)))
    refused("sample", np.zeros((0, DIM)))
    refused("missing=False", rows(rng), mask=np.ones((200, DIM), bool))
    model.missing = "auto"
    refused("shape", rows(rng), mask=np.ones((3, DIM), bool))
    refused("bool", rows(rng), mask=np.ones((200, DIM)), error=TypeError)
    refused("stored", sp.csr_matrix(rows(rng)), mask=np.ones((200, DIM), bool), error=TypeError)
    after = rows(rng)
    same = fitted(SubspaceTracker(2, missing=False), batches=3)
    model.missing = False
    np.testing.assert_array_equal(
        model.partial_fit(after).components_, same.partial_fit(after).components_
    )


def test_a_batch_from_a_callback_is_refused():
    """It waited for the batch whose callback it came from, for ever."""
    batch = rows(np.random.default_rng(9))
    model = fitted(SubspaceTracker(2), batches=1)
    model.callback = lambda tick, passes, residual: model.partial_fit(batch)
    with pytest.raises(ValueError, match="while another one is being taken in"):
        model.partial_fit(batch)
    model.callback = None
    assert model.partial_fit(batch).n_batches_seen_ == 3


def test_bad_parameters():
    X = rows(np.random.default_rng(0))
    for parameters, words in [
        ({"n_components": 0}, "n_components"),
        ({"n_components": DIM + 1}, "n_components"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": 0.0}, "above 0"),
        ({"momentum": "never"}, "momentum"),
        ({"momentum": None}, "momentum"),
        ({"momentum": -0.5}, "beta"),
        ({"missing": "maybe"}, "missing"),
        ({"probability": 2.0, "missing": True}, "probability"),
        ({"init": np.ones((3, DIM))}, "expected 2, found 3"),
        ({"batch_size": 0}, "batch_size"),
    ]:
        with pytest.raises(ValueError, match=words):
            SubspaceTracker(**parameters).fit(X)
    with pytest.raises(TypeError, match="callable"):
        SubspaceTracker(callback="no").fit(X)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks():
    check_estimator(SubspaceTracker(1))


def test_the_same_bits_with_any_number_of_threads():
    found = []
    for threads in (1, 2, 4):
        favard.set_num_threads(threads)
        found.append(fitted(SubspaceTracker(2), batches=10).components_)
    favard.set_num_threads(0)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize(
    "name, value", [("n_components", 3), ("learning_rate", 0.1), ("momentum", True)]
)
def test_parameters_of_a_tracker_that_has_begun(name, value):
    """They are not ignored: it is said which one has changed."""
    rng = np.random.default_rng(0)
    model = SubspaceTracker(2, momentum=False).partial_fit(rows(rng))
    before = model.get_params()[name]
    for each in (model, pickle.loads(pickle.dumps(model))):
        each.set_params(**{name: value})
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            each.partial_fit(rows(rng))
        each.set_params(**{name: before}).partial_fit(rows(rng))
        assert each.n_batches_seen_ == 2
        each.set_params(**{name: value}).fit(rows(rng))
        each.partial_fit(rows(rng))
