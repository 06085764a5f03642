"""Kaczmarz: consistent systems, least squares, and what momentum may not do."""

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import favard
from favard import Kaczmarz

ROWS, DIM = 2000, 12


@pytest.fixture
def system():
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(ROWS, DIM)), rng.normal(size=DIM)
    return A, x, A @ x


@pytest.mark.parametrize("method, batch", [("averaged", 1), ("averaged", 32), ("blocks", 16)])
def test_consistent_systems(system, method, batch):
    A, x, b = system
    model = Kaczmarz(method=method, batch_size=batch, tol=1e-10).fit(A, b)
    info = model.info_
    assert info.certified and info.stop == "converged" and info.solver == method
    # ‖x − x*‖ ≤ ‖A⁺‖ ‖Ax − b‖
    smallest = np.linalg.svd(A, compute_uv=False)[-1]
    assert np.linalg.norm(model.coef_ - x) <= 1e-10 * np.linalg.norm(b) / smallest * 1.01
    expected = np.linalg.norm(A @ model.coef_ - b) / np.linalg.norm(b)
    assert info.misfits[0] == pytest.approx(expected, rel=1e-2, abs=1e-14)
    assert info.rows_read == pytest.approx(info.passes * ROWS) and info.rows_read > ROWS
    np.testing.assert_allclose(model.predict(A), b, atol=1e-8)
    assert model.n_iter_ >= 1 and model.n_features_in_ == DIM


def test_many_right_hand_sides(system):
    A, x, b = system
    many = np.stack([b, 2 * b, A[:, 0]], axis=1)
    model = Kaczmarz(batch_size=16, tol=1e-9).fit(A, many)
    assert model.coef_.shape == (3, DIM) and model.info_.misfits.shape == (3,)
    np.testing.assert_allclose(model.coef_[2], np.eye(DIM)[0], atol=1e-6)
    assert model.predict(A).shape == many.shape


def test_least_squares_for_systems_without_a_solution(system):
    A, _, b = system
    noisy = b + np.random.default_rng(1).normal(size=ROWS)
    model = Kaczmarz(method="least-squares", batch_size=64, tol=1e-8).fit(A, noisy)
    exact = np.linalg.lstsq(A, noisy, rcond=None)[0]
    r = noisy - A @ exact
    largest, smallest = np.linalg.svd(A, compute_uv=False)[[0, -1]]
    # ‖x − x*‖ = ‖(AᵀA)⁻¹ Aᵀ r(x)‖ ≤ tol ‖A‖ ‖r‖ / σ²
    bound = 1e-8 * largest * np.linalg.norm(r) / smallest**2
    assert model.info_.certified and np.linalg.norm(model.coef_ - exact) <= 1.01 * bound
    # The certificate, recomputed; the norm behind it is a lower bound.
    rest = noisy - A @ model.coef_
    certificate = np.linalg.norm(A.T @ rest) / (largest * np.linalg.norm(rest))
    assert certificate <= model.info_.residuals[0] * 1.01
    with pytest.warns(ConvergenceWarning, match="stagnated"):
        stalled = Kaczmarz(batch_size=8, max_iter=200).fit(A, noisy)
    assert "outside the range" in stalled.info_.reason


def test_smallest_norm_of_many_solutions():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 15))
    b = A @ rng.normal(size=15)
    model = Kaczmarz(batch_size=4, tol=1e-10, max_iter=20_000).fit(A, b)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(A) @ b, atol=1e-6)


def test_momentum(system):
    A, x, b = system
    none = Kaczmarz(batch_size=64, momentum=False).fit(A, b)
    given = Kaczmarz(batch_size=64, momentum=0.2, relaxation=1.0).fit(A, b)
    assert none.info_.certified and given.info_.certified
    with pytest.raises(ValueError, match="diverge in mean square; they converge from batches"):
        Kaczmarz(batch_size=1, momentum=0.9, relaxation=1.5).fit(A, b)
    bounds = Kaczmarz(batch_size=64, bounds=(0.05, 0.12)).fit(A, b)
    assert bounds.info_.certified and bounds.spectrum_ == (0.05, 0.12)


def test_every_form_of_the_rows(system):
    A, x, b = system
    reference = Kaczmarz(batch_size=16).fit(A, b).coef_
    thin = np.where(np.random.default_rng(3).random(A.shape) < 0.5, A, 0.0)
    csr = sp.csr_matrix(thin)
    zeros = csr.copy()
    zeros.data[:5] = 0.0
    read_only = A.copy()
    read_only.setflags(write=False)
    for given in (np.asfortranarray(A), read_only, A.astype(">f8"), A.tolist(), A[::-1][::-1]):
        found = Kaczmarz(batch_size=16).fit(given, b).coef_
        np.testing.assert_allclose(found, reference, rtol=1e-6, atol=1e-7)
    solved = Kaczmarz(batch_size=16).fit(csr, csr @ x).coef_
    for given in (csr.tocsc(), csr.tocoo(), sp.csr_array(csr), csr.tolil()):
        np.testing.assert_array_equal(Kaczmarz(batch_size=16).fit(given, csr @ x).coef_, solved)
    model = Kaczmarz(batch_size=16).fit(zeros, zeros @ x)
    np.testing.assert_allclose(model.coef_, x, atol=1e-6)
    single = Kaczmarz(batch_size=16, tol=1e-5).fit(A.astype(np.float32), b.astype(np.float32))
    assert single.coef_.dtype == np.float32 and np.abs(single.coef_ - x).max() < 1e-3


def test_zero_rows_and_zero_matrices():
    A = np.eye(4)
    A[3] = 0.0
    model = Kaczmarz(tol=1e-9).fit(A, [1.0, 2.0, 3.0, 0.0])
    np.testing.assert_allclose(model.coef_, [1, 2, 3, 0], atol=1e-7)
    zero = Kaczmarz().fit(np.zeros((3, 2)), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(zero.coef_, [0.0, 0.0])


def test_callback_budget_and_seeds(system):
    A, x, b = system
    seen = []

    def callback(tick, passes, residual):
        seen.append((tick, passes, residual))
        return len(seen) == 2

    model = Kaczmarz(callback=callback, tol=1e-14).fit(A, b)
    assert len(seen) == 2 and model.info_.stop == "requested"

    def broken(tick, passes, residual):
        raise KeyError("mine")

    model = Kaczmarz(callback=broken)
    with pytest.raises(KeyError, match="mine"):
        model.fit(A, b)
    assert model.coef_.shape == (DIM,) and model.info_.stop == "cancelled"
    with pytest.warns(ConvergenceWarning, match="passes"):
        Kaczmarz(max_iter=1, tol=1e-12).fit(A, b)
    one, two, other = (Kaczmarz(random_state=s).fit(A, b).coef_ for s in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_ctrl_c_keeps_what_there_is():
    """Within a second, in an interpreter of its own, with the solution so far on the estimator."""
    code = """
        import os, signal, threading, time
        import numpy as np
        import favard
        # What runs in the background of a shell inherits that Ctrl-C is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        rng = np.random.default_rng(0)
        # ||A||_F**2 / sigma_min**2 is 4e5: a digit takes a million rows.
        A = rng.normal(size=(4000, 400)) * np.geomspace(1, 1e-2, 400)
        b = A @ rng.normal(size=400)
        M = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 50))
        M[rng.random(M.shape) < 0.4] = np.nan
        slow = lambda *_: time.sleep(0.05)
        for model, data in [
            (favard.Kaczmarz(tol=1e-14, max_iter=10**9, bounds=(2e-6, 0.03)), (A, b)),
            (favard.MatrixCompletion(3, tol=0, callback=slow), (M,)),
        ]:
            pressed = []
            def press():
                time.sleep(0.7)
                pressed.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=press).start()
            try:
                model.fit(*data)
            except KeyboardInterrupt:
                waited = time.monotonic() - pressed[0]
                print(type(model).__name__, waited < 1.0, model.info_.stop)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "Kaczmarz True cancelled",
        "MatrixCompletion True cancelled",
    ], done.stdout + done.stderr


def test_clone_pickle_and_not_fitted(system):
    A, _, b = system
    model = clone(Kaczmarz(batch_size=8)).fit(A, b)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(A), model.predict(A))
    assert loaded.info_.rows_read == model.info_.rows_read
    with pytest.raises(NotFittedError):
        Kaczmarz().predict(A)


def test_bad_input(system):
    A, _, b = system

    def refused(words, A=A, b=b, error=ValueError, **parameters):
        with pytest.raises(error, match=words):
            Kaczmarz(**parameters).fit(A, b)

    refused("inconsistent numbers of samples", b=b[:-1])
    refused("contains NaN", A=np.full_like(A, np.nan))
    refused("contains NaN", b=np.full(ROWS, np.nan))
    refused("infinity", A=np.full_like(A, np.inf))
    refused("2D", A=A[0])
    refused("sample", A=np.zeros((0, 3)), b=np.zeros(0))
    refused("feature", A=np.zeros((3, 0)), b=np.zeros(3))
    refused("could not convert", A=np.array([["a"]]), b=[1.0])
    refused("[Cc]omplex", A=A.astype(complex))
    refused("method", method="fast")
    refused("batch_size", batch_size=0)
    refused("momentum", momentum="some")
    refused("momentum", momentum=True)
    refused("momentum", momentum=(1.0, 2.0))
    refused("tol", tol=np.inf)
    refused("max_iter", max_iter=0)
    refused("bounds", bounds=(1.0, 2.0, 3.0))
    refused(".", bounds=(2.0, 1.0))
    refused("callable", callback=1, error=TypeError)
    with pytest.raises(ValueError, match="features"):
        Kaczmarz().fit(A, b).predict(A[:, :3])


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks():
    check_estimator(Kaczmarz(method="least-squares", batch_size=8, max_iter=50))


@pytest.mark.parametrize("method", ["averaged", "blocks", "least-squares"])
def test_the_same_bits_with_any_number_of_threads(system, method):
    A, _, b = system
    found = []
    for threads in (1, 2, 4):
        favard.set_num_threads(threads)
        found.append(Kaczmarz(method=method, batch_size=16).fit(A, b).coef_)
    favard.set_num_threads(0)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_warning_shows_the_misfit():
    """Without a solution: what was asked for is ||X coef - y||, not least squares."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
    with pytest.warns(ConvergenceWarning) as caught:
        model = Kaczmarz(batch_size=16, max_iter=5).fit(X, y)
    assert f"the largest residual is {model.info_.misfits[0]:.1e}" in str(caught[0].message)
    assert model.info_.residuals[0] <= model.info_.misfits[0]
