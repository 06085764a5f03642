"""MatrixCompletion: entries that were never shown, in every form of input."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import favard
from favard import MatrixCompletion


def problem(shape=(60, 50), rank=3, share=0.5, seed=0):
    """A matrix of low rank, and the places where it is known."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    return M, rng.random(shape) < share


def test_entries_that_were_never_shown_are_found():
    M, known = problem()
    rows, columns = np.nonzero(known)
    model = MatrixCompletion(3).fit((rows, columns, M[rows, columns]), shape=M.shape)
    assert model.info_.certified and model.info_.stop == "converged"
    assert model.shape_ == M.shape and model.n_held_out_ == int(0.05 * known.sum())
    assert model.undetermined_rows_.size == model.undetermined_columns_.size == 0
    # The residual on the known entries is 1e-8; on the others it is larger by the condition of the
    # problem, which is far below 1e4 for half of the entries.
    hidden = np.nonzero(~known)
    error = np.linalg.norm(model.predict(*hidden) - M[hidden]) / np.linalg.norm(M[hidden])
    assert error < 1e-4 and model.held_out_error_ < 1e-4
    assert model.score(*hidden, M[hidden]) == pytest.approx(-error, rel=1e-9)
    # The factors are those of a singular value decomposition.
    for factor in (model.left_, model.right_):
        np.testing.assert_allclose(factor.T @ factor, np.eye(3), atol=1e-12)
    exact = np.linalg.svd(M, compute_uv=False)[:3]
    np.testing.assert_allclose(model.singular_values_, exact, rtol=1e-4)
    # The residual in info_ is the one of the entries, the held-out ones among them but for some.
    product = (model.left_ * model.singular_values_) @ model.right_.T
    np.testing.assert_allclose(model.predict_row(7), product[7], rtol=1e-12)
    residual = np.linalg.norm((product - M)[known]) / np.linalg.norm(M[known])
    assert residual < 1e-4 and model.info_.residuals[0] <= 1e-8


def test_every_form_of_input_gives_the_same_matrix():
    M, known = problem(share=0.6)
    rows, columns = np.nonzero(known)
    values = M[rows, columns]
    fit = MatrixCompletion(3).fit
    expected = fit((rows, columns, values), shape=M.shape)
    order = np.random.default_rng(1).permutation(len(rows))
    coo = sp.coo_matrix((values, (rows, columns)), shape=M.shape)
    unsorted = sp.csr_array(coo)
    for i in range(M.shape[0]):
        part = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[part] = unsorted.indices[part][::-1].copy()
        unsorted.data[part] = unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    long = coo.tocsr()
    long.indptr, long.indices = long.indptr.astype(np.int64), long.indices.astype(np.int64)
    read_only = coo.tocsr()
    read_only.data.setflags(write=False)
    for given in [
        coo,
        sp.coo_array((values[order], (rows[order], columns[order])), shape=M.shape),
        coo.tocsr(),
        coo.tocsc(),
        coo.todok(),
        coo.tolil(),
        unsorted,
        long,
        read_only,
        (rows[order].tolist(), columns[order].astype(np.int32), values[order].tolist()),
        np.where(known, M, np.nan),
        np.asfortranarray(np.where(known, M, np.nan)),
        np.where(known, M, np.nan).astype(">f8"),
    ]:
        # Half of the list forms have no shape, but the last row and column are known.
        found = fit(given)
        np.testing.assert_array_equal(found.left_, expected.left_)
        np.testing.assert_array_equal(found.singular_values_, expected.singular_values_)


def test_stored_zeros_are_known_zeros():
    M, known = problem(rank=1)
    M[:, 5] = 0.0
    rows, columns = np.nonzero(known)
    given = sp.csr_matrix((M[rows, columns], (rows, columns)), shape=M.shape)
    assert given.nnz == known.sum() > np.count_nonzero(given.data)
    model = MatrixCompletion(1).fit(given)
    assert model.info_.certified
    assert np.abs(model.predict(np.arange(60), 5)).max() < 1e-6


def test_single_precision():
    M, known = problem()
    given = np.where(known, M, np.nan).astype(np.float32)
    model = MatrixCompletion(3, tol=1e-5).fit(given)
    assert model.left_.dtype == np.float32 and model.info_.certified
    hidden = np.nonzero(~known)
    assert np.abs(model.predict(*hidden) - M[hidden]).max() < 0.02


def test_symmetric_from_one_triangle():
    rng = np.random.default_rng(3)
    U = rng.normal(size=(50, 2))
    M = U @ np.diag([1.0, -0.7]) @ U.T
    known = np.triu(rng.random(M.shape) < 0.6)
    model = MatrixCompletion(2, symmetric=True).fit(np.where(known, M, np.nan))
    assert model.info_.certified
    assert np.abs(model.predict(np.arange(50)[:, None], np.arange(50)) - M).max() < 1e-4
    assert model.predict(3, 4) == model.predict(4, 3)
    with pytest.raises(ValueError, match=r"entry \(0, 1\) differs from entry \(1, 0\)"):
        broken = M.copy()
        broken[0, 1] += 1.0
        MatrixCompletion(2, symmetric=True).fit(broken)


def test_ways_to_start():
    M, known = problem(share=0.7)
    given = np.where(known, M, np.nan)
    for parameters in [
        {"spectral": "auto"},
        {"spectral": "exact"},
        {"spectral": "variance-reduced", "batch_size": 500, "epoch": 3},
    ]:
        model = MatrixCompletion(3, **parameters).fit(given)
        assert model.info_.certified and model.info_.reason
        assert 0 < model.spectral_info_.passes < model.info_.passes
    # There is no plan for batches of so few entries, and it says so.
    with pytest.raises(ValueError, match="a batch of .* is needed"):
        MatrixCompletion(3, spectral="variance-reduced").fit(given)


def test_noise_ends_converged_and_not_certified_without_a_warning():
    M, known = problem()
    noisy = M + 1e-3 * np.random.default_rng(5).normal(size=M.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MatrixCompletion(3).fit(np.where(known, noisy, np.nan))
    assert model.info_.stop == "converged" and not model.info_.certified
    assert 1e-5 < model.held_out_error_ < 1e-2


def test_a_budget_is_a_warning_and_keeps_the_result():
    M, known = problem()
    with pytest.warns(ConvergenceWarning, match="iterations"):
        model = MatrixCompletion(3, max_iter=2).fit(np.where(known, M, np.nan))
    assert model.info_.stop == "iterations" and model.left_.shape == (60, 3)


def test_callback_stops_with_a_result():
    M, known = problem()
    seen = []

    def callback(tick, passes, residual):
        seen.append(residual)
        return len(seen) == 12

    model = MatrixCompletion(3, tol=1e-14, callback=callback).fit(np.where(known, M, np.nan))
    assert len(seen) == 12 and model.info_.stop == "requested"
    assert np.isfinite(model.predict(0, 0))

    def broken(tick, passes, residual):
        raise KeyError("mine")

    model = MatrixCompletion(3, callback=broken)
    with pytest.raises(KeyError, match="mine"):
        model.fit(np.where(known, M, np.nan))
    assert model.info_.stop == "cancelled" and model.right_.shape == (50, 3)


def test_the_same_bits_with_any_number_of_threads():
    M, known = problem()
    found = []
    for threads in (1, 2, 4):
        favard.set_num_threads(threads)
        found.append(MatrixCompletion(3).fit(np.where(known, M, np.nan)).left_)
    favard.set_num_threads(0)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_progress_is_a_line(capsys):
    M, known = problem()
    MatrixCompletion(3, verbose=1).fit(np.where(known, M, np.nan))
    shown = capsys.readouterr().err
    assert shown.startswith("\rMatrixCompletion [") and shown.endswith("\n")
    assert "converged after" in shown


def test_seeds_clones_and_pickles():
    M, known = problem()
    given = np.where(known, M, np.nan)
    model = MatrixCompletion(3, random_state=4)
    one, two = clone(model).fit(given), clone(model).fit(given)
    np.testing.assert_array_equal(one.left_, two.left_)
    assert clone(model).set_params(rank=2).get_params()["rank"] == 2
    loaded = pickle.loads(pickle.dumps(one))
    assert loaded.predict(1, 2) == one.predict(1, 2)
    with pytest.raises(NotFittedError):
        model.predict(0, 0)


@pytest.mark.parametrize(
    "given, error, words",
    [
        (sp.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)), ValueError, "given twice"),
        (([0, 1], [0, 1], [1.0]), ValueError, "2 rows, 2 columns and 1 values"),
        (([0, -1], [0, 1], [1.0, 2.0]), ValueError, "index -1"),
        (([0.5], [0], [1.0]), TypeError, "integers"),
        (([0, 1], [0, 1], [1.0, np.nan]), ValueError, "contains NaN"),
        (([0], [0], [np.inf]), ValueError, "infinity"),
        (np.array([[1.0, np.inf], [2.0, 3.0]]), ValueError, "infinity"),
        (np.full((4, 4), np.nan), ValueError, "sample|fewer"),
        (np.zeros((0, 3)), ValueError, "0 sample"),
        (np.ones(3), ValueError, "2D"),
        (np.array([["a", "b"]]), ValueError, "could not convert"),
        (np.array([[1.0, object()]], dtype=object), TypeError, "float"),
        (np.eye(2, dtype=complex), ValueError, "[Cc]omplex"),
        (np.zeros((4, 4)), ValueError, "above 0"),
        (sp.csr_matrix(np.eye(5)), ValueError, "are fewer than"),
        ("text", ValueError, "."),
        (None, (ValueError, TypeError), "."),
    ],
)
def test_bad_entries(given, error, words):
    with pytest.raises(error, match=words):
        MatrixCompletion(1, held_out=0.0).fit(given)


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"rank": 0}, "rank"),
        ({"rank": 2.5}, "rank"),
        ({"rank": 100}, "rank"),
        ({"held_out": 1.0}, "held_out"),
        ({"held_out": "some"}, "held_out"),
        ({"tol": -1.0}, "tol"),
        ({"tol": np.nan}, "tol"),
        ({"max_iter": -1}, "max_iter"),
        ({"spectral": "best"}, "spectral"),
        ({"spectral_max_iter": 0}, "spectral_max_iter"),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_bad_parameters(parameters, words):
    M, _ = problem(shape=(12, 10), rank=1)
    with pytest.raises(ValueError, match=words):
        MatrixCompletion(**{"rank": 1, **parameters}).fit(M)
    with pytest.raises(TypeError, match="callable"):
        MatrixCompletion(1, callback=3).fit(M)


def test_bad_places():
    M, known = problem(shape=(12, 10), rank=1)
    model = MatrixCompletion(1).fit(M)
    with pytest.raises(ValueError, match="index 12 is outside of the 12"):
        model.predict(12, 0)
    with pytest.raises(ValueError, match="index -1"):
        model.predict(0, [-1])
    with pytest.raises(ValueError, match="expected .* found"):
        MatrixCompletion(1).fit(M, shape=(3, 3))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int16])
def test_indices_of_every_type_without_a_shape(dtype):
    """Unsigned ones too: the largest is found without a negative number."""
    index = np.arange(30)
    places = (index // 5).astype(dtype), (index % 5).astype(dtype)
    model = MatrixCompletion(rank=1, held_out=0.0).fit((*places, np.ones(30)))
    assert model.shape_ == (6, 5)
    with pytest.raises(ValueError, match="two positive numbers"):
        nothing = np.zeros(0, dtype=dtype)
        MatrixCompletion(rank=1).fit((nothing, nothing, np.ones(1)))
