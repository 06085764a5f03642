"""svds, eigsh and lsmr against dense decompositions and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import favard
from favard import _core

EPS = np.finfo(float).eps
FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.fixture
def matrix(rng):
    return sp.random_array((200, 150), density=0.1, format="csr", rng=rng)


@pytest.fixture
def symmetric(rng):
    half = sp.random_array((150, 150), density=0.05, format="csr", rng=rng)
    signs = sp.diags_array(rng.choice([-1.0, 1.0], size=150))
    return (half + half.T + 2 * signs).tocsr()


class Blocks:
    """An object that knows its products with blocks, and nothing else."""

    def __init__(self, A):
        self.A, self.shape, self.dtype = A, A.shape, A.dtype

    def matmat(self, X):
        return self.A @ X

    def rmatmat(self, X):
        return self.A.T @ X


class Vectors:
    """The same with vectors."""

    def __init__(self, A):
        self.A, self.shape, self.dtype = A, A.shape, A.dtype

    def matvec(self, x):
        return self.A @ x

    def rmatvec(self, x):
        return self.A.T @ x


def kinds(A):
    yield A.toarray()
    yield np.asfortranarray(A.toarray())
    yield sp.csr_matrix(A)
    yield from (A.asformat(name) for name in FORMATS)
    yield sla.aslinearoperator(A)
    yield Blocks(A)
    yield Vectors(A)


def test_svds_of_every_kind(matrix):
    exact = np.linalg.svd(matrix.toarray(), compute_uv=False)
    D = matrix.toarray()
    for A in kinds(matrix):
        u, s, vh, info = favard.svds(A, k=4, return_info=True)
        assert info.certified
        np.testing.assert_allclose(s, exact[3::-1], rtol=1e-12)
        # The residual of AᵀA is at most 8 ε √n σ₁²; that of A is that over σ.
        bound = (8 * 150**0.5 + 100) * EPS * exact[0] ** 2 / exact[3]
        assert np.linalg.norm(D @ vh.T - u * s) <= bound
        assert np.linalg.norm(D.T @ u - vh.T * s) <= 10 * bound
        np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("shape", [(200, 150), (150, 200), (1300, 1200)])
def test_svds_smallest(shape, rng):
    """Also above the size up to which the matrix is formed."""
    exact = np.r_[1.0, 2.0, 3.0, np.linspace(9.0, 10.0, min(shape) - 3)]
    A = sp.diags_array(rng.permutation(exact), shape=shape).tocsr()
    s, info = favard.svds(
        A, k=3, which="SM", tol=1e-10, return_singular_vectors=False, return_info=True
    )
    assert info.certified
    # |σ − s| ≤ tol c / s, with c at most twice σ₁²
    np.testing.assert_allclose(s, exact[:3], atol=2e-10 * 10.0**2)


def test_svds_without_convergence(sparse):
    with pytest.raises(sla.ArpackNoConvergence) as caught:
        favard.svds(sparse, k=3, maxiter=2)
    assert len(caught.value.eigenvalues) == 3


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_eigsh_of_every_kind(which, symmetric):
    w = np.linalg.eigvalsh(symmetric.toarray())
    order = {
        "LM": np.argsort(-np.abs(w))[:5],
        "SM": np.argsort(np.abs(w))[:5],
        "LA": np.arange(145, 150),
        "SA": np.arange(5),
        "BE": np.r_[0, 1, 147:150],
    }[which]
    exact = np.sort(w[order])
    for A in kinds(symmetric):
        values, vectors = favard.eigsh(A, k=5, which=which)
        scale = np.abs(w).max()
        # Each value is within its residual, 8 ε √n of the largest, of an eigenvalue.
        np.testing.assert_allclose(values, exact, atol=1000 * EPS * scale)
        residual = symmetric @ vectors - vectors * values
        assert np.linalg.norm(residual) <= 1000 * EPS * scale


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_eigsh_largest_magnitude_of_a_definite_matrix(sign, rng):
    """The other end is looked at, and not searched to the end."""
    diagonal = np.linspace(0.0, 10.0, 900) ** 2
    values, _, info = favard.eigsh(
        sp.diags_array(sign * diagonal).tocsr(), k=3, tol=1e-8, return_info=True
    )
    np.testing.assert_allclose(np.sort(np.abs(values)), diagonal[-3:], rtol=1e-8)
    assert info.certified


def test_eigsh_shift_invert(symmetric):
    w = np.linalg.eigvalsh(symmetric.toarray())
    exact = np.sort(w[np.argsort(np.abs(w - 0.3))[:4]])
    for A in (symmetric, symmetric.toarray()):
        np.testing.assert_allclose(favard.eigsh(A, k=4, sigma=0.3)[0], exact, atol=1e-10)
    solve = sla.splu((symmetric - 0.3 * sp.eye_array(150)).tocsc()).solve
    inverse = sla.LinearOperator((150, 150), matvec=solve, dtype=float)
    found = favard.eigsh(sla.aslinearoperator(symmetric), k=4, sigma=0.3, OPinv=inverse)[0]
    np.testing.assert_allclose(found, exact, atol=1e-10)


def test_complex_operators(rng):
    A = rng.normal(size=(90, 70)) + 1j * rng.normal(size=(90, 70))
    u, s, vh = favard.svds(A, k=3)
    np.testing.assert_allclose(s, np.linalg.svd(A, compute_uv=False)[2::-1], rtol=1e-12)
    np.testing.assert_allclose(A @ vh.conj().T, u * s, atol=1e-11)
    H = A[:70] + A[:70].conj().T
    for B in (H, sp.csr_array(H), sla.aslinearoperator(H)):
        w, v = favard.eigsh(B, k=3, which="LA")
        np.testing.assert_allclose(w, np.linalg.eigvalsh(H)[-3:], rtol=1e-12)
        np.testing.assert_allclose(H @ v, v * w, atol=1e-11)


def test_eigsh_refuses(symmetric, matrix):
    for bad, message in (
        ({"k": 0}, "k=0"),
        ({"k": 151}, "k=151"),
        ({"which": "XX"}, "which must be one of"),
        ({"tol": -1}, "tol=-1"),
        ({"maxiter": 0}, "maxiter=0"),
        ({"v0": np.ones(3)}, "`v0` must have shape"),
        ({"ncv": 2}, "ncv=2"),
    ):
        with pytest.raises(ValueError, match=message):
            favard.eigsh(symmetric, **bad)
    with pytest.raises(ValueError, match="square"):
        favard.eigsh(matrix)
    with pytest.raises(NotImplementedError, match="generalised"):
        favard.eigsh(symmetric, M=symmetric)


def test_exceptions_of_operators_come_through(symmetric):
    class Broken(Exception):
        pass

    def product(x):
        raise Broken("file is gone")

    operator = sla.LinearOperator((100, 100), matvec=product, rmatvec=product, dtype=float)
    for call in (favard.svds, favard.eigsh, lambda A: favard.lsmr(A, np.ones(100))):
        with pytest.raises(Broken, match="file is gone"):
            call(operator)
    wrong = sla.LinearOperator((100, 100), matvec=lambda x: x * np.nan, dtype=float)
    with pytest.raises(ValueError, match="not finite"):
        favard.eigsh(wrong)


def test_operators_may_call_favard(symmetric):
    """A product that itself runs a job: there is always a thread for it."""
    before = favard.get_num_threads()

    def product(x):
        favard.TruncatedSVD(1).fit(np.eye(3))
        return symmetric @ x

    operator = sla.LinearOperator((150, 150), matvec=product, dtype=float)
    try:
        favard.set_num_threads(1)
        values = favard.eigsh(operator, k=1, which="LA", tol=1e-3)[0]
    finally:
        favard.set_num_threads(before)
    exact = np.linalg.eigvalsh(symmetric.toarray())[-1]
    assert abs(values[0] - exact) <= 1e-2 * abs(exact)


def test_lsmr_of_every_kind(matrix, rng):
    b, matrix = rng.normal(size=200), matrix[:, :60]
    exact = np.linalg.lstsq(matrix.toarray(), b, rcond=None)[0]
    for A in kinds(matrix):
        x, istop, itn, normr, normar, norma, conda, normx = favard.lsmr(
            A, b, atol=1e-12, btol=1e-12, maxiter=1000
        )
        assert istop == 2 and itn > 0 and np.isnan(conda)
        np.testing.assert_allclose(x, exact, atol=1e-8 * np.linalg.norm(exact))
        np.testing.assert_allclose(normr, np.linalg.norm(b - matrix @ x), rtol=1e-10)
        assert normar <= 1e-11 * norma * normr
        assert norma <= np.linalg.norm(matrix.toarray(), 2) * (1 + 1e-12)
        np.testing.assert_allclose(normx, np.linalg.norm(x), rtol=1e-12)


def test_lsmr_damped_from_a_start(matrix, rng):
    b, x0 = rng.normal(size=200), rng.normal(size=150)
    ours = favard.lsmr(matrix, b, damp=0.7, x0=x0, atol=1e-12, btol=1e-12)[0]
    theirs = sla.lsmr(matrix, b, damp=0.7, x0=x0, atol=1e-14, btol=1e-14, maxiter=2000)[0]
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_lsmr_stops(matrix, rng):
    x, istop, itn, *_, info = favard.lsmr(
        matrix, rng.normal(size=200), atol=1e-14, btol=1e-14, maxiter=5, return_info=True
    )
    assert istop == 7 and itn == 5 and info.stop == "passes" and np.isfinite(x).all()
    assert favard.lsmr(matrix, np.zeros(200))[:2][1] == 0
    x = rng.normal(size=150)
    assert favard.lsmr(matrix, matrix @ x)[1] == 1
    with pytest.raises(ValueError, match="b: expected shape"):
        favard.lsmr(matrix, np.ones(3))
    with pytest.raises(TypeError, match="complex"):
        favard.lsmr(matrix.astype(complex), np.ones(200))


def hermitian(rng, eigenvalues):
    """A complex Hermitian matrix with these eigenvalues."""
    n = len(eigenvalues)
    Q = np.linalg.qr(rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))[0]
    H = (Q * eigenvalues) @ Q.conj().T
    return (H + H.conj().T) / 2


@pytest.mark.parametrize("k", [1, 3, 4])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE", "sigma"])
@pytest.mark.parametrize("each, times", [(10, 1), (5, 2), (60, 1)])
def test_eigsh_of_complex_pairs_of_both_signs(which, k, each, times, rng):
    """The real form has every eigenvalue twice: what is returned is no mixture of both signs."""
    half = np.repeat(np.linspace(1.0, 5.0, each), times)
    w = np.sort(np.r_[half, -half])
    H = hermitian(rng, w)
    asked = {"sigma": 0.0} if which == "sigma" else {"which": which}
    for A in (H, sp.csr_array(H), sla.aslinearoperator(H))[: 2 if which == "sigma" else 3]:
        found, vectors, info = favard.eigsh(A, k=k, return_info=True, **asked)
        sizes = np.sort(np.abs(w))
        if which in ("LM", "SM", "sigma"):
            exact = sizes[-k:] if which == "LM" else sizes[:k]
            np.testing.assert_allclose(np.sort(np.abs(found)), exact, atol=1e-11)
        else:
            order = {"LA": w[-k:], "SA": w[:k], "BE": np.r_[w[: k // 2], w[k // 2 - k :]]}
            np.testing.assert_allclose(found, order[which], atol=1e-11)
        assert info.certified and info.residuals.shape == (k,)
        residuals = np.linalg.norm(H @ vectors - vectors * found, axis=0)
        assert residuals.max() <= 1e-11
        if which != "sigma":
            np.testing.assert_allclose(np.sort(info.residuals), np.sort(residuals), atol=1e-13)
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(k), atol=1e-12)


@pytest.mark.parametrize("which", ["LM", "SM"])
def test_svds_of_complex_values_that_are_repeated(which, rng):
    exact = np.repeat(np.arange(1.0, 41.0), 2)
    A = hermitian(rng, exact * rng.choice([-1.0, 1.0], size=80))
    for k in (1, 2, 3):
        u, s, vh, info = favard.svds(A, k=k, which=which, return_info=True)
        np.testing.assert_allclose(s, exact[-k:] if which == "LM" else exact[:k], atol=1e-11)
        np.testing.assert_allclose(A @ vh.conj().T, u * s, atol=1e-11)
        np.testing.assert_allclose(vh @ vh.conj().T, np.eye(k), atol=1e-12)
        assert info.certified


def test_eigsh_in_single_precision_near_a_shift(rng):
    """The result is of the precision of the matrix; the factors are not, or it would not converge."""
    H = hermitian(rng, np.linspace(-4.0, 5.0, 70)).astype(np.complex64)
    for A in (H, sp.csr_array(H), H.real, sp.csr_array(H.real)):
        w, v = favard.eigsh(A, k=2, sigma=0.3)
        assert w.dtype == np.float32
        assert v.dtype == A.dtype


@pytest.mark.parametrize("stop", ["stagnated", "breakdown", "passes"])
def test_what_did_not_converge_is_an_exception(stop, symmetric, monkeypatch):
    """Whatever ended it, a limit or not."""
    core = {name: getattr(_core, name) for name in ("singular", "eigen")}

    def fail(name, how):
        def call(*args, **kwargs):
            found = core[name](*args, **kwargs)
            found["info"]["stop"] = how
            found["residual"] = 1.0
            if "residuals" in found:
                found["residuals"] = np.ones_like(found["residuals"])
            return found

        monkeypatch.setattr(_core, name, call)

    for name, function in (("singular", favard.svds), ("eigen", favard.eigsh)):
        fail(name, stop)
        with pytest.raises(sla.ArpackNoConvergence, match=stop) as caught:
            function(symmetric, k=3)
        assert len(caught.value.eigenvalues) == 3
        fail(name, "requested")
        info = function(symmetric, k=3, return_info=True)[-1]
        assert not info.certified and info.stop == "requested"


def test_bool_is_zeros_and_ones(symmetric):
    """As SciPy has it; its svds refuses them, and so does ours."""
    pattern = symmetric != 0
    numbers = pattern.astype(float)
    for A in (pattern, pattern.toarray(), sla.aslinearoperator(pattern)):
        w = favard.eigsh(A, k=3)[0]
        np.testing.assert_allclose(w, favard.eigsh(numbers, k=3)[0], rtol=1e-12)
        x = favard.lsmr(A, np.ones(150), maxiter=1000)[0]
        np.testing.assert_allclose(numbers @ x, np.ones(150), atol=1e-3)
    near = favard.eigsh(pattern, k=2, sigma=0.3)[0]
    np.testing.assert_allclose(near, favard.eigsh(numbers, k=2, sigma=0.3)[0], rtol=1e-10)
    with pytest.raises(ValueError, match="numeric"):
        favard.svds(pattern)


def test_operators_without_an_adjoint(matrix):
    class Forward:
        shape, dtype = matrix.shape, matrix.dtype

        def matmat(self, X):
            return matrix @ X

    one_way = sla.LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, dtype=float)
    for A in (one_way, 2 * one_way, Forward()):
        with pytest.raises(NotImplementedError, match="rmatvec is not defined"):
            favard.svds(A)
        with pytest.raises(NotImplementedError, match="rmatvec is not defined"):
            favard.lsmr(A, np.ones(200))

    def typo(x):
        return x + "1"

    wrong = sla.LinearOperator((20, 20), matvec=lambda x: x, rmatvec=typo, dtype=float)
    with pytest.raises(TypeError) as caught:
        favard.lsmr(wrong, np.ones(20))
    assert "rmatvec is not defined" not in str(caught.value)


@pytest.mark.parametrize("size", [1e155, 1e170])
def test_lsmr_whose_norms_overflow(size, rng):
    """Not finite: nothing is proved."""
    A, b = size * rng.normal(size=(50, 5)), rng.normal(size=50)
    x, istop, *_, info = favard.lsmr(A, b, return_info=True)
    exact = np.linalg.lstsq(A / size, b, rcond=None)[0] / size
    right = np.linalg.norm((x - exact) * size) <= 1e-4 * np.linalg.norm(exact * size)
    assert right or not info.certified and istop == 5
    # Squares that overflow are no norms that do.
    x, istop, _, normr, *_ = favard.lsmr(A / size, b * size)
    assert istop == 2 and np.isfinite(normr)
    np.testing.assert_allclose(x / size, exact * size, rtol=1e-6)


@pytest.mark.parametrize("norm", [np.inf, np.nan])
def test_lsmr_does_not_certify_what_is_not_finite(norm, matrix, monkeypatch):
    solve = _core.least_squares

    def overflow(*args, **kwargs):
        return {**solve(*args, **kwargs), "norm": norm}

    monkeypatch.setattr(_core, "least_squares", overflow)
    _, istop, *_, info = favard.lsmr(matrix, np.ones(200), maxiter=1000, return_info=True)
    assert istop == 5 and not info.certified and info.residuals[0] == np.inf


def test_lsmr_is_as_exact_from_any_start(matrix, rng):
    """The tolerance is relative to b, not to what the start leaves of it."""
    A, solution = matrix[:, :60], rng.normal(size=60)
    b = A @ solution
    x, istop, itn, normr, *_, info = favard.lsmr(A, b, x0=solution + 1e-9, return_info=True)
    np.testing.assert_array_equal(x, solution + 1e-9)
    assert (istop, itn) == (0, 0) and info.certified and info.tolerance == 1e-6
    np.testing.assert_allclose(normr, np.linalg.norm(b - A @ x), rtol=1e-6)
    np.testing.assert_allclose(info.residuals, normr / np.linalg.norm(b))
    for x0 in (None, solution + 1e-3, solution + 1e5):
        x, istop, _, normr, *_, info = favard.lsmr(A, b, x0=x0, return_info=True)
        assert istop == 1 and info.certified
        assert normr <= 1e-6 * np.linalg.norm(b)
    assert favard.lsmr(A, b, x0=solution + 1e-3)[1] == 1
    noisy = b + rng.normal(size=200)
    best = np.linalg.lstsq(A.toarray(), noisy, rcond=None)[0]
    for x0 in (best + 1e-5, best + 1e4):
        x, istop, _, normr, normar, norma, *_ = favard.lsmr(A, noisy, x0=x0, maxiter=1000)
        assert istop == 2 and normar <= 1e-6 * norma * normr * (1 + 1e-6)
    # Nothing is relative to nothing.
    assert favard.lsmr(A, np.zeros(200), x0=solution)[1] == 1
    assert favard.lsmr(A, np.zeros(200), x0=np.zeros(60))[1] == 0


@pytest.mark.parametrize("sigma", [1 + 2j, np.nan, np.inf, "a", [5.5], None])
def test_a_shift_is_a_finite_real_number(sigma):
    """A complex one gave complex numbers for eigenvalues, without a word but NumPy's."""
    matrix = np.diag(np.arange(100.0))
    if sigma is None:
        np.testing.assert_array_equal(
            favard.eigsh(matrix, k=2, sigma=np.float32(5.5))[0],
            favard.eigsh(matrix, k=2, sigma=np.array(5.5))[0],
        )
        return
    with pytest.raises(ValueError, match="finite real number"):
        favard.eigsh(matrix, k=3, sigma=sigma)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_shift_that_is_an_eigenvalue_is_named(make):
    """Dense matrices spoke of a NaN in a closure."""
    with pytest.raises(RuntimeError, match=r"sigma=5.0 is an eigenvalue"):
        favard.eigsh(make(np.diag(np.arange(100.0))), k=3, sigma=5)


def reflected(spectrum):
    """A dense symmetric matrix with this spectrum."""
    n = len(spectrum)
    v = np.random.default_rng(0).normal(size=n)
    mirror = np.eye(n) - 2 * np.outer(v, v) / (v @ v)
    matrix = (mirror * spectrum) @ mirror.T
    return (matrix + matrix.T) / 2


def test_values_near_zero_that_are_not_told_apart_are_not_certified():
    """They are found as the largest of c² − A², where those below √ε c are alike: numbers three times
    as large as the eigenvalues came back, certified. More than the 1000 rows that are solved whole."""
    spectrum = np.linspace(1, 2, 1100)
    spectrum[:10] = 1e-9 * np.arange(1, 11)
    with pytest.raises(sla.ArpackNoConvergence, match="sigma=0"):
        favard.eigsh(reflected(spectrum), k=4, which="SM")
    spectrum[:10] *= 1e7
    w, v, info = favard.eigsh(reflected(spectrum), k=4, which="SM", return_info=True)
    assert info.certified
    # The square of a residual over the gap, and the rounding of 1100 rows.
    np.testing.assert_allclose(w, spectrum[:4], rtol=0, atol=1100 * np.finfo(float).eps)


@pytest.mark.parametrize("n", range(65, 81))
def test_what_rounding_alone_keeps_from_the_tolerance_is_an_answer(n):
    """A few matrices a little larger than those that are solved whole ended in ArpackNoConvergence."""
    spectrum = np.linspace(1, 0.01, n)
    basis = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
    matrix = (basis * spectrum) @ basis.T
    for which in ("BE", "LA", "SA", "LM"):
        w = favard.eigsh((matrix + matrix.T) / 2, k=5, which=which, return_eigenvectors=False)
        assert len(w) == 5
