"""PhaseRetrieval: the signal behind intensities."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import favard
from favard import PhaseRetrieval

ROWS, DIM = 240, 24


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(ROWS, DIM)), rng.normal(size=DIM)
    x *= np.sign(x[np.argmax(abs(x))])
    return A, x, (A @ x) ** 2


def distance(model, x):
    """The error of the signal, which has a sign of its own."""
    return np.linalg.norm(model.signal_ - x) / np.linalg.norm(x)


@pytest.mark.parametrize("spectral", ["momentum", "chebyshev", "power"])
def test_the_signal_is_found(data, spectral):
    A, x, y = data
    model = PhaseRetrieval(spectral=spectral).fit(A, y)
    assert model.info_.certified and model.info_.stop == "converged"
    # ‖|Az|² − y‖ ≥ c ‖z − x‖ ‖x‖ near x, c from the smallest curvature: of the order of one here.
    assert distance(model, x) < 1e-7
    expected = np.linalg.norm((A @ model.signal_) ** 2 - y) / np.linalg.norm(y)
    # Both are rounding: of sums of DIM products, squared.
    assert abs(model.residual_ - expected) < 100 * np.finfo(float).eps
    np.testing.assert_allclose(model.predict(A), y, rtol=1e-4, atol=1e-6)
    assert model.n_features_in_ == DIM
    assert model.spectral_info_.passes < model.info_.passes


def test_every_form_of_the_measurements(data):
    A, x, y = data
    wide = np.repeat(A, 2, axis=1)[:, ::2]
    read_only = A.copy()
    read_only.setflags(write=False)
    for given in [
        np.asfortranarray(A),
        A[::-1][::-1],
        wide,
        read_only,
        A.astype(">f8"),
        A.tolist(),
        sp.csr_matrix(A),
        sp.csc_array(A),
        sp.coo_matrix(A),
        sla.aslinearoperator(A),
        sla.LinearOperator(A.shape, matvec=lambda v: A @ v, rmatvec=lambda u: A.T @ u, dtype=float),
    ]:
        model = PhaseRetrieval().fit(given, y)
        assert model.info_.certified and distance(model, x) < 1e-7
    single = PhaseRetrieval(tol=1e-5).fit(A.astype(np.float32), y)
    assert single.signal_.dtype == np.float32 and distance(single, x) < 1e-4


def test_from_an_earlier_answer(data):
    A, x, y = data
    with pytest.warns(ConvergenceWarning, match="iterations"):
        first = PhaseRetrieval(max_iter=5).fit(A, y)
    again = PhaseRetrieval().fit(A, y, start=first.signal_)
    assert again.info_.certified and again.spectral_info_.iterations == 0
    with pytest.raises(ValueError, match="expected 24, found 3"):
        PhaseRetrieval().fit(A, y, start=np.ones(3))


def test_callback_and_exceptions_keep_what_there_is(data):
    A, _, y = data
    seen = []

    def callback(tick, passes, residual):
        seen.append(residual)
        return len(seen) == 10

    model = PhaseRetrieval(tol=1e-15, callback=callback).fit(A, y)
    assert model.info_.stop == "requested" and len(seen) == 10

    def broken(tick, passes, residual):
        raise KeyError("mine")

    model = PhaseRetrieval(callback=broken)
    with pytest.raises(KeyError, match="mine"):
        model.fit(A, y)
    assert model.signal_.shape == (DIM,) and model.info_.stop == "cancelled"

    def fails(v):
        raise OSError("no such file")

    operator = sla.LinearOperator(A.shape, matvec=fails, rmatvec=fails, dtype=float)
    with pytest.raises(OSError, match="no such file"):
        PhaseRetrieval().fit(operator, y)


def test_clone_pickle_and_not_fitted(data):
    A, _, y = data
    model = clone(PhaseRetrieval(random_state=3)).fit(A, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(A), model.predict(A))
    with pytest.raises(NotFittedError):
        PhaseRetrieval().predict(A)


def test_bad_input(data):
    A, _, y = data

    def refused(words, A=A, y=y, error=ValueError, **parameters):
        with pytest.raises(error, match=words):
            PhaseRetrieval(**parameters).fit(A, y)

    refused("inconsistent numbers of samples", y=y[:-1])
    refused("not negative", y=-y)
    refused("contains NaN", y=np.full(ROWS, np.nan))
    refused("contains NaN", A=np.full_like(A, np.nan))
    refused("infinity", A=np.full_like(A, np.inf))
    refused("n_samples=40 .* a minimum of 47", A=A[:40], y=y[:40])
    refused("above 0", y=np.zeros(ROWS))
    refused("2D", A=A[0])
    refused("sample", A=np.zeros((0, 3)), y=np.zeros(0))
    refused("spectral", spectral="random")
    refused("tol", tol=-1.0)
    refused("max_iter", max_iter=1.5)
    refused("callable", callback=1, error=TypeError)
    refused("expected 240, found 239", A=sla.aslinearoperator(A), y=y[:-1])
    with pytest.raises(ValueError, match="features"):
        PhaseRetrieval().fit(A, y).predict(A[:, :3])


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks():
    check_estimator(PhaseRetrieval(max_iter=50))


def test_the_same_bits_with_any_number_of_threads(data):
    A, _, y = data
    found = []
    for threads in (1, 2, 4):
        favard.set_num_threads(threads)
        found.append(PhaseRetrieval().fit(A, y).signal_)
    favard.set_num_threads(0)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_operators_that_are_complex_or_have_no_adjoint(data):
    A, _, y = data
    with pytest.raises(TypeError, match="complex operators"):
        PhaseRetrieval().fit(sla.aslinearoperator(A * 1j), y)
    with pytest.raises(TypeError, match="complex intensities"):
        PhaseRetrieval().fit(sla.aslinearoperator(A), y * 1j)
    secret = sla.LinearOperator(
        A.shape, matvec=lambda x: A @ x * 1j, rmatvec=lambda x: A.T @ x, dtype=float
    )
    with pytest.raises(TypeError, match="is complex"):
        PhaseRetrieval().fit(secret, y)
    one_way = sla.LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float)
    with pytest.raises(NotImplementedError, match="rmatvec is not defined"):
        PhaseRetrieval().fit(one_way, y)
