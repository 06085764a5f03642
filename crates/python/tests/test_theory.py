"""favard.theory against NumPy: polynomials, exact simulations, dense second moments."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from favard import theory
from favard.theory import Covariance, Estimates, Growth, Target, block, chebyshev, momentum
from favard.theory import second_moment as sm

EPS = np.finfo(np.float64).eps


def recurrence(ticks, x, beta, first):
    """p_0, ..., p_ticks by the recurrence itself."""
    values = [1.0, first * x]
    while len(values) <= ticks:
        values.append(x * values[-1] - beta * values[-2])
    return np.array(values[: ticks + 1])


def test_chebyshev_is_cos_and_cosh():
    x = np.linspace(-1, 1, 101)
    # Both sides round the argument of a cosine that is multiplied by the degree.
    np.testing.assert_allclose(chebyshev.t(20, x), np.cos(20 * np.arccos(x)), atol=400 * EPS)
    assert chebyshev.t(5, 2.0) == pytest.approx(np.cosh(5 * np.arccosh(2.0)), rel=50 * EPS)
    assert chebyshev.u(7, 1.0) == 8.0
    assert isinstance(chebyshev.t(3, 0.5), float)
    assert chebyshev.u(2, np.zeros((2, 3))).shape == (2, 3)


def test_logarithms_go_where_floats_end():
    ln_abs, sign = chebyshev.ln_t(10**6, 2.0)
    assert ln_abs == pytest.approx(10**6 * np.arccosh(2.0) - np.log(2), rel=10 * EPS)
    assert sign == 1.0
    assert chebyshev.t(10**6, 2.0) == np.inf


@pytest.mark.parametrize("start, first", [("U", 1.0), ("T", 0.5)])
def test_momentum_polynomials_obey_the_recurrence(start, first):
    for x in (0.3, 0.9, 1.0, -1.2):
        expected = recurrence(12, x, 0.2, first)
        size = np.abs(recurrence(12, abs(x), -0.2, 1.0)).max()
        found = momentum.sequence(12, x, 0.2, start=start)
        np.testing.assert_allclose(found, expected, atol=50 * EPS * size)
        value = momentum.value(12, x, 0.2, start=start)
        assert value == pytest.approx(expected[-1], abs=50 * EPS * size)
        ln_abs, sign = momentum.ln_value(12, x, 0.2, start=start)
        assert sign * np.exp(ln_abs) == pytest.approx(expected[-1], abs=500 * EPS * size)


def test_the_bound_holds_and_the_exact_error_is_the_run_of_the_algorithm():
    spectrum = np.array([1.0, 0.9, 0.6, 0.3, -0.2])
    start = np.array([0.1, 0.5, -0.4, 0.3, 0.2])
    growth = Growth.optimal(1.0, 0.9)
    tangent = np.sum(start[1:] ** 2) / start[0] ** 2
    prev, cur = np.zeros(5), start
    for tick in range(1, 30):
        prev, cur = cur, spectrum * cur - growth.beta * prev
        exact = np.sum(cur[1:] ** 2) / np.sum(cur**2)
        squares = start**2
        assert theory.sin2(tick, spectrum, squares, growth.beta) == pytest.approx(exact, rel=1e-9)
        assert exact <= growth.bound(tick, tangent)
        assert np.exp(growth.ln_envelope(tick)) * tangent >= exact


def test_growth_numbers():
    growth = Growth.optimal(1.0, 0.9)
    assert growth.beta == pytest.approx(0.2025, rel=EPS)
    root = np.sqrt(1 - 4 * growth.beta)
    assert growth.discriminant == pytest.approx(root**2, rel=10 * EPS)
    assert growth.mu == pytest.approx((1 + root) / 2, rel=4 * EPS)
    assert growth.ln_rate == pytest.approx(np.log(0.9 / (1 + root)), rel=10 * EPS)
    assert growth.is_calm and not Growth(1.0, 0.9, 0.1).is_calm
    steps = growth.iterations(99.0, 1e-10)
    assert 99.0 * np.exp(growth.ln_envelope(steps)) <= 1e-10
    assert 99.0 * np.exp(growth.ln_envelope(steps - 1)) > 1e-10
    assert growth.complexity == pytest.approx(0.5 + 0.45 / root, rel=10 * EPS)


def test_values_are_plain_compared_and_pickled():
    growth = Growth.optimal(1.0, 0.9)
    assert growth == Growth(1.0, 0.9, growth.beta)
    known = Estimates.from_spectrum([1.0, 0.9], s_op=1.0, sigma_norm=1.0, kappa=1.0, cos2=0.5)
    found = theory.plan(known, 1e-2)
    for value in (growth, Covariance(1.0, 0.2, 1e-3), theory.Shift(1.0, 0.0, 0.5), known, found):
        assert pickle.loads(pickle.dumps(value)) == value
    assert type(growth.mu) is float and type(growth.iterations(1.0, 0.1)) is int


def test_blocks():
    rng = np.random.default_rng(1)
    left, right = (np.linalg.qr(rng.normal(size=(30, 4)))[0] for _ in range(2))
    expected = np.linalg.norm(left @ left.T - right @ right.T, 2)
    assert block.distance(left, right) == pytest.approx(expected, rel=1e-12)
    spectrum = [1.0, 0.8, 0.5, -0.3]
    values = [recurrence(9, x, 0.06, 1.0)[-1] for x in spectrum]
    expected = max(abs(np.array(values[2:]))) / min(abs(np.array(values[:2])))
    assert block.exact_ratio(9, spectrum, 2, 0.06) == pytest.approx(expected, rel=1e-11)
    assert block.factor(Growth(0.8, 0.5, 0.0625), 9) >= block.exact_ratio(9, spectrum, 2, 0.0625)
    with pytest.raises(ValueError, match="2D"):
        block.distance([1.0, 0.0], [0.0, 1.0])


def test_the_variance_of_the_scalar_recurrence_is_the_lemma_sum():
    # f_{t+1} = (λ + n) f_t − β f_{t−1} with E n² = s: second moments (E f², E f f₋, E f₋²) obey a
    # linear map.
    lam, beta, s = 1.0, 0.2025, 0.04
    step = np.array([[lam**2 + s, -2 * beta * lam, beta**2], [lam, -beta, 0.0], [1.0, 0.0, 0.0]])
    moments, bound = np.array([1.0, 0.0, 0.0]), Covariance(lam, beta, s)
    for tick in range(1, 15):
        moments = step @ moments
        mean = recurrence(tick, lam, beta, 1.0)[-1]
        assert bound.lemma_sum(tick) == pytest.approx(moments[0] - mean**2, rel=1e-10)
        assert bound.relative(tick) == pytest.approx(moments[0] / mean**2 - 1, rel=1e-10)
        assert bound.lemma_sum(tick) <= bound.sharp_binomial(tick) <= bound.sharp_exponential(tick)
        assert bound.sharp_exponential(tick) <= bound.paper_exponential(tick)
    # The growth a step is the largest eigenvalue.
    growth = Growth.optimal(lam, 0.9)
    expected = np.abs(np.linalg.eigvals(step)).max() / growth.mu**2 - 1
    assert theory.excess(lam, beta, s) == pytest.approx(expected, rel=1e-10)
    assert bound.sharp_linear(4) is not None and bound.sharp_linear(5) is None
    breaking = bound.breaking_variance(20)
    assert Covariance(lam, beta, breaking).relative(20) == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_array_equal(bound.lemma_sums(3)[-1], bound.lemma_sum(3))


def test_the_noise_ball_is_the_stationary_variance_of_an_ar2():
    growth, eigenvalue = Growth.optimal(1.0, 0.9), 0.7
    a1, a2 = eigenvalue / growth.mu, -growth.beta / growth.mu**2
    # The companion matrix's discrete Lyapunov equation.
    companion = np.array([[a1, a2], [1.0, 0.0]])
    noise = np.diag([1 / growth.mu**2, 0.0])
    full = np.eye(4) - np.kron(companion, companion)
    variance = np.linalg.solve(full, noise.ravel())[0]
    assert theory.ball_coefficient(growth, eigenvalue) == pytest.approx(variance, rel=1e-11)
    ball = theory.noise_ball(growth, [(0.7, 2.0), (0.1, 1.0)], 50)
    expected = (2 * variance + theory.ball_coefficient(growth, 0.1)) / 50
    assert ball == pytest.approx(expected, rel=1e-11)


def second_moment_map(noise, mean, beta):
    """The map of (P, C, Q) as a dense matrix: the second moment of (F_t, F_{t−1})."""
    d = len(mean)
    shift = np.block([[mean, -beta * np.eye(d)], [np.eye(d), np.zeros((d, d))]])
    full = np.kron(shift, shift)
    top = np.zeros((2 * d, 2 * d))
    for weight, point in noise:
        top[:d, :d] = point
        full = full + weight * np.kron(top, top)
    return full


def test_rates_are_those_of_the_dense_second_moment():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 3, 3))
    points = 0.1 * (points + points.transpose(0, 2, 1)) + np.diag([0.7, 0.4, 0.1])
    noise = sm.Finite(points)
    mean = points.mean(axis=0)
    np.testing.assert_allclose(noise.mean, mean, atol=4 * EPS)
    deviations = points - mean
    kron = sum(np.kron(n, n) for n in deviations) / 6
    assert noise.sigma_norm == pytest.approx(np.linalg.norm(kron, 2), rel=1e-10)
    second = sum(n.T @ n for n in deviations) / 6
    assert noise.s_op == pytest.approx(np.linalg.norm(second, 2), rel=1e-10)
    pairs = [(1 / 6 / 4, n) for n in deviations]
    full = second_moment_map(pairs, mean, 0.1)
    expected = np.abs(np.linalg.eigvals(full)).max()
    assert sm.mean_square_rate(noise, mean, 0.1, batch=4) == pytest.approx(expected, rel=1e-9)
    gain = sm.stability_gain(noise, mean, 0.1)
    edge = [(1 / 6 / gain, n) for n in deviations]
    border = np.abs(np.linalg.eigvals(second_moment_map(edge, mean, 0.1))).max()
    assert border == pytest.approx(1.0, rel=1e-9)
    # The iterate of a start, tick by tick.
    w0 = np.array([1.0, 2.0, -1.0])
    state = np.concatenate([w0, np.zeros(3)])
    moment = np.kron(state, state)
    found = sm.propagate(noise, mean, 0.1, w0, 7, batch=4)
    for _ in range(7):
        moment = full @ moment
    moment = moment.reshape(6, 6)[:3, :3]
    run = np.array(w0), np.zeros(3)
    for _ in range(7):
        run = mean @ run[0] - 0.1 * run[1], run[0]
    np.testing.assert_allclose(found["mean"], run[0], rtol=1e-12)
    covariance = moment - np.outer(run[0], run[0])
    np.testing.assert_allclose(found["covariance"], covariance, rtol=1e-9, atol=1e-12)
    assert found["total_variance"] == pytest.approx(np.trace(covariance), rel=1e-9)


def test_critical_batch_asks_python():
    assert theory.critical_batch(10**6, lambda batch: 7.0 / batch <= 0.01) == 700

    def broken(batch):
        raise KeyError("of the question")

    with pytest.raises(KeyError, match="question"):
        theory.critical_batch(10, broken)
    with pytest.raises(ValueError, match="no answer"):
        theory.critical_batch(10, lambda batch: False)
    with pytest.raises(ValueError):
        theory.critical_batch(0, bool)


def test_plans_stand_side_by_side():
    known = Estimates.from_spectrum(
        [1.0] + 9 * [0.9], s_op=10.097, sigma_norm=9.124, kappa=8.096, cos2=0.5, terms=10**6
    )
    found = theory.plan(known, Target(1e-3, 0.1))
    practical, guaranteed = found.mini_batch.practical, found.mini_batch.guaranteed
    assert practical.beta.value == pytest.approx(0.2025, rel=EPS)
    # s = 2 C / ε
    ball = theory.noise_ball(Growth.optimal(1.0, 0.9), [(0.9, 8.096)], 1)
    assert practical.batch.value == np.ceil(2 * ball / 1e-3)
    steps = Growth.optimal(1.0, 0.9).iterations(theory.tan2(0.5), 0.5e-3)
    assert practical.iterations.value == steps
    assert practical.passes.value == pytest.approx(steps * practical.batch.value / 1e6, rel=EPS)
    demand = theory.MiniBatch(Growth.optimal(1.0, 0.9), 0.05, 1e-3)
    assert guaranteed.batch.value == demand.batch(10.097)
    assert guaranteed.batch.times == guaranteed.batch.value / practical.batch.value
    assert found.variance_reduced is not None and found.shift is not None
    assert "guaranteed" in str(found) and "λ₂²/4" in str(found)
    far = theory.plan(Estimates.from_spectrum([1.0, 0.9], cos2=0.1), 1e-3)
    assert far.mini_batch.guaranteed is None and "cos2" in far.mini_batch.why_not
    with pytest.raises(ValueError, match="no gap"):
        theory.plan(Estimates(1.0, 1.0), 1e-3)
    with pytest.raises(ValueError, match="epsilon"):
        theory.plan(known, 2.0)
    with pytest.raises(TypeError, match="Estimates"):
        theory.plan({"lambda1": 1.0}, 1e-3)


@pytest.mark.parametrize("form", ["dense", "csr", "csc", "float32"])
def test_estimates_of_data(form):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 8)) * [1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1] + 5.0
    exact = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    given = {"dense": X, "csr": sp.csr_matrix(X), "csc": sp.csc_array(X)}.get(form)
    given = X.astype(np.float32) if given is None else given
    found = theory.estimate(given, max_products=60)
    digits = np.sqrt(np.finfo(np.float32).eps) if form == "float32" else 1e-6
    for value, true, bar in zip(
        (found.estimates.lambda1, found.estimates.lambda2), exact, found.residuals
    ):
        assert abs(value - true) <= bar + digits
    centred = X - X.mean(axis=0)
    first = np.linalg.eigh(np.cov(X.T))[1][:, -1]
    # κ = E ‖(I − v vᵀ) x (x·v)‖², the mean of 3000 numbers estimated from 500 of them, with
    # replacement: five standard errors fail with a probability below 1e-6.
    along = centred @ first
    terms = (np.sum(centred**2, axis=1) - along**2) * along**2
    kappa = terms.mean()
    spread = 5 * terms.std() / np.sqrt(500)
    assert abs(found.estimates.kappa - kappa) < spread + 0.01 * kappa
    assert found.estimates.terms == 3000 and found.estimates.dim == 8
    assert theory.plan(found, 1e-2).mini_batch.practical.batch.value > 1
    again = theory.estimate(given, max_products=60)
    assert again == found


def test_bad_input_is_a_value_error_with_the_number():
    for wrong in [
        lambda: Growth.optimal(1.0, 1.0),
        lambda: Growth(1.0, 0.9, 0.3),
        lambda: Growth.optimal(float("nan"), 0.5),
        lambda: Growth.optimal(1.0, 0.9).bound(-1, 1.0),
        lambda: Growth.optimal(1.0, 0.9).iterations(1.0, 2.0),
        lambda: Growth.optimal(1.0, 0.9).bound(1, 1.0, start="V"),
        lambda: theory.tan2(0.0),
        lambda: Covariance(1.0, 0.2, -1.0),
        lambda: theory.MiniBatch(Growth.optimal(1.0, 0.9), 2.0, 0.1),
        lambda: theory.VarianceReduced(Growth.optimal(1.0, 0.9), 0.1, 0.5),
        lambda: theory.HeavyBall.polyak(0.0, 1.0),
        lambda: theory.noise_ball(Growth.optimal(1.0, 0.9), [(1.0, 1.0)], 10),
        lambda: sm.GaussianRows([1.0]),
        lambda: sm.mean_square_rate(sm.GaussianRows(np.eye(2)), np.eye(3), 0.1),
        lambda: sm.mean_square_rate(sm.GaussianRows(np.eye(2)), [[0, 1], [0, 0]], 0.1),
        lambda: sm.mean_square_rate(sm.GaussianRows(np.eye(2)), np.eye(2), 0.1, batch=0),
        lambda: sm.Finite(np.zeros((0, 2, 2))),
        lambda: theory.estimate(np.full((5, 3), np.nan)),
        lambda: theory.estimate(np.zeros((0, 3))),
        lambda: theory.estimate(np.eye(3), n_samples=0),
        lambda: theory.estimate(np.ones((5, 1))),
    ]:
        with pytest.raises((ValueError, OverflowError)):
            wrong()
    with pytest.raises(TypeError):
        chebyshev.t("three", 0.5)
