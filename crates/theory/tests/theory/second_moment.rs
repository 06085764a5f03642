//! Exact second moments against enumeration, and against the facts measured by simulation.

use faer::Mat;
use favard_theory::{
    Growth, Spread, Start, ball_coefficient, epoch_factor_bound, noise_ball,
    second_moment::{
        Anchored, Epoch, Finite, FullCovariance, GaussianRows, Noise, NoiseFn, Propagation, Scaled,
        critical_batch, mean_square_rate,
    },
};
use ndarray::{Array1, Array2};
use proptest::prelude::*;

use crate::support::{Problem, config, decimal, direction, matrix, problem, slack};

/// $\mathbb E[F_t\otimes F_t]-\mathbb EF_t\otimes\mathbb EF_t$ by enumerating every sample path.
fn enumerate(problem: &Problem, ticks: usize, start: Start) -> (Array2<f64>, Array2<f64>) {
    let dim = problem.spectrum.len();
    let points: Vec<(Array2<f64>, f64)> =
        problem.noise.deviations().map(|(n, p)| (problem.noise.mean() + n, p)).collect();
    let mut paths = vec![(Array2::eye(dim), Array2::<f64>::zeros((dim, dim)), 1.0)];
    for tick in 0..ticks {
        let half = if tick == 0 && start == Start::T { 0.5 } else { 1.0 };
        paths = paths
            .iter()
            .flat_map(|(cur, prev, weight)| {
                points.iter().map(move |(a, p)| {
                    (a.dot(cur) * half - prev * problem.beta, cur.clone(), weight * p)
                })
            })
            .collect();
    }
    let mut mean = Array2::<f64>::zeros((dim, dim));
    for (f, _, p) in &paths {
        mean.scaled_add(*p, f);
    }
    let mut covariance = Array2::zeros((dim * dim, dim * dim));
    for (f, _, p) in &paths {
        let f = f - &mean;
        for ((i, k), a) in f.indexed_iter() {
            for ((j, l), b) in f.indexed_iter() {
                covariance[[i * dim + j, k * dim + l]] += p * a * b;
            }
        }
    }
    (mean, covariance)
}

proptest! {
    #![proptest_config(config("proptest-regressions/second_moment.txt"))]

    /// The propagation is the expectation over all sample paths, matrix, vector and both starts.
    #[test]
    fn propagation_is_enumeration(
        (problem, w0) in problem(40).prop_flat_map(|p| {
            let dim = p.spectrum.len();
            (Just(p), direction(dim))
        }),
        t in 0..=5_usize,
    ) {
        let (noise, dim) = (&problem.noise, problem.spectrum.len());
        let size = 1.0 + noise.sigma2().unwrap() + problem.spectrum[0].powi(2) + problem.beta.powi(2);
        let allowed = slack(t) * size.powi(5);
        let (_, wanted) = enumerate(&problem, t, Start::U);
        let mut full = FullCovariance::new(noise, noise.mean().view(), problem.beta).unwrap();
        for _ in 0..t {
            full.advance().unwrap();
        }
        for (found, wanted) in full.matrix().iter().zip(&wanted) {
            prop_assert!((found - wanted).abs() <= allowed, "{found:e} {wanted:e}");
        }
        for start in [Start::T, Start::U] {
            let (mean, wanted) = enumerate(&problem, t, start);
            let mut run =
                Propagation::new(noise, noise.mean().view(), problem.beta, start, w0.view()).unwrap();
            run.advance_by(t).unwrap();
            let kron = Array1::from_shape_fn(dim * dim, |i| w0[i / dim] * w0[i % dim]);
            let wanted = wanted.dot(&kron);
            for (i, found) in run.covariance().iter().enumerate() {
                prop_assert!((found - wanted[i]).abs() <= allowed);
            }
            for (found, wanted) in run.mean().iter().zip(mean.dot(&w0)) {
                prop_assert!((found - wanted).abs() <= allowed);
            }
        }
    }

    /// A closure P ↦ E[N P Nᵀ] is as good as the distribution; the Gaussian map is the limit of its law:
    /// linear, and positive on positive matrices.
    #[test]
    fn noise_maps_obey_their_laws(n in matrix(3), p in matrix(3), c in decimal(-10..=10, 5.0)) {
        let h = n.dot(&n.t());
        let gaussian = GaussianRows::new(h.view()).unwrap();
        let closure = NoiseFn::new(3, |p| n.dot(&p).dot(&n.t()));
        let zero = Array2::<f64>::zeros((3, 3));
        let finite = Finite::new(vec![&zero + &n, &zero - &n], vec![0.5, 0.5]).unwrap();
        let near = |a: &Array2<f64>, b: &Array2<f64>| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= slack(0) * 100.0)
        };
        prop_assert!(near(&closure.apply(p.view()), &finite.apply(p.view())));
        let q = p.dot(&p.t());
        let sum = gaussian.apply((&p * c + &q).view());
        prop_assert!(near(&sum, &(gaussian.apply(p.view()) * c + gaussian.apply(q.view()))));
        for map in [gaussian.apply(q.view()), closure.apply(q.view())] {
            prop_assert!(map.diag().iter().all(|&v| v >= -slack(0) * 100.0));
        }
    }

    /// The mean-square rate is the spectral radius of the (P, C, Q) map itself.
    #[test]
    fn rate_is_the_spectral_radius(problem in problem(40)) {
        let noise = &problem.noise;
        let (a, b, d) = (noise.mean(), problem.beta, problem.spectrum.len());
        let n = d * d;
        let mut map = Mat::<f64>::zeros(3 * n, 3 * n);
        for col in 0..3 * n {
            let mut state = vec![Array2::<f64>::zeros((d, d)); 3];
            state[col / n][[col % n / d, col % n % d]] = 1.0;
            // P and Q live on symmetric matrices; the rest of the space is sent to zero.
            let symmetric = |m: &Array2<f64>| (m + &m.t()) * 0.5;
            let (p, c, q) = (&symmetric(&state[0]), &state[1], &symmetric(&state[2]));
            let ac = a.dot(c);
            let next = [
                a.dot(p).dot(&a.t()) + noise.apply(p.view()) - (&ac + &ac.t()) * b + q * (b * b),
                a.dot(p) - &c.t() * b,
                p.clone(),
            ];
            for (k, block) in next.iter().enumerate() {
                for (i, v) in block.iter().enumerate() {
                    map[(k * n + i, col)] = *v;
                }
            }
        }
        let radius = map.eigenvalues().unwrap().iter().fold(0.0, |m: f64, v| m.max(v.re.hypot(v.im)));
        let rate = mean_square_rate(noise, a.view(), b).unwrap();
        // The oracle's eigenvalues of a triple root are good to (κε)^{1/3}; κ = 4096 ≥ 48², the entries
        // of the largest map.
        prop_assert!((rate - radius).abs() <= (4096.0 * f64::EPSILON).cbrt() * radius, "{rate} {radius}");
    }

    /// The O(T) epoch bound is the convolution B_k = s_op Σ e²(h² + B) of its definition (erratum 3.7).
    #[test]
    fn epoch_bound_two_ways(
        lambda2 in 1..=99_i32, momentum in 0..=99_i32, noise in decimal(0..=50, 100.0), ticks in 1..=40_usize,
        is_flat in prop::bool::ANY,
    ) {
        let lambda2 = f64::from(lambda2) / 100.0;
        let beta = 0.25 * f64::from(momentum) / 100.0;
        let growth = Growth::new(1.0, lambda2, beta).unwrap();
        let p = favard_theory::momentum::sequence(Start::U, ticks, 1.0, beta).unwrap();
        let edge = lambda2.max(2.0 * beta.sqrt());
        let e = favard_theory::momentum::sequence(Start::U, ticks, edge, beta).unwrap();
        let mut b = vec![];
        for k in 0..=ticks {
            let term = |j: usize| {
                let h = if is_flat { p[j] - e[j] } else { p[j] + e[j] };
                e[k - 1 - j] * e[k - 1 - j] * (h * h + b[j])
            };
            let sum: f64 = (0..k).map(term).sum();
            b.push(noise * sum);
        }
        let wanted = (e[ticks] * e[ticks] + b[ticks]) / (p[ticks] * p[ticks]);
        let spread = if is_flat { Spread::Flat } else { Spread::Any };
        let found = epoch_factor_bound(&growth, noise, ticks, spread).unwrap();
        // Double roots: t² roundings instead of t.
        let allowed = slack(ticks) * (ticks + 1) as f64 / growth.discriminant();
        prop_assert!((found - wanted).abs() <= allowed * wanted, "{found:e} {wanted:e}");
    }

    /// The linearised epoch is the limit of the exact one as the anchor tends to u₁ (errata 3.9, 3.12),
    /// and the three-number bound holds for every direction.
    #[test]
    fn epoch_factor_is_the_limit(
        lower in proptest::collection::vec(-9..=9_i32, 2), n in matrix(3), v in direction(2),
        momentum in 0..=19_i32, size in 0..=10_i32, ticks in 1..=20_usize,
    ) {
        let mean = Array2::from_diag(&ndarray::array![1.0, f64::from(lower[0]) / 10.0, f64::from(lower[1]) / 10.0]);
        let n = n * (f64::from(size) / 50.0);
        let noise = Finite::new(vec![&mean + &n, &mean - &n], vec![0.5, 0.5]).unwrap();
        let beta = 0.25 * f64::from(momentum) / 20.0;
        let v = ndarray::array![0.0, v[0], v[1]];
        for start in [Start::T, Start::U] {
            let epoch = Epoch::new(&noise, mean.view(), beta, start, ticks).unwrap();
            let factor = epoch.factor(v.view()).unwrap();
            let small = 1e-5;
            let w0 = ndarray::array![1.0, small * v[1], small * v[2]];
            let norm2 = w0.dot(&w0);
            let w0 = &w0 / norm2.sqrt();
            let anchored = Anchored::new(&noise, w0.clone()).unwrap();
            let mut run = Propagation::new(&anchored, mean.view(), beta, start, w0.view()).unwrap();
            run.advance_by(ticks).unwrap();
            let (m, c) = (run.mean(), run.covariance());
            let rest = m[1] * m[1] + m[2] * m[2] + c[[1, 1]] + c[[2, 2]];
            let exact = rest / (m[0] * m[0] + c[[0, 0]]) / (small * small);
            // First order in the tilt, relative to the size of the quadratic form; and 1e−16/small² lost
            // to the projector.
            let worst = epoch.worst().unwrap();
            let allowed = 100.0 * small * (worst + factor) + 1e3 * f64::EPSILON / (small * small) * worst.max(1e-3);
            prop_assert!((factor - exact).abs() <= allowed, "{start:?} {factor:e} {exact:e} worst {worst:e}");
            prop_assert!(factor <= worst * (1.0 + slack(ticks)) + slack(ticks));
        }
        let others = f64::from(lower[0].abs().max(lower[1].abs())) / 10.0;
        let growth = Growth::new(1.0, others, beta).unwrap();
        let worst = Epoch::new(&noise, mean.view(), beta, Start::U, ticks).unwrap().worst().unwrap();
        let bound = epoch_factor_bound(&growth, noise.s_op().unwrap(), ticks, Spread::Any).unwrap();
        prop_assert!(worst <= bound * (1.0 + slack(ticks)), "{worst:e} {bound:e}");
    }
}

/// Found by the long run: noise that feeds the top pair only through another one (N swaps u₁ and u₂) once
/// lost its feedback to rounding, and the rate fell back to the noise-free one.
#[test]
fn rate_of_noise_that_swaps() {
    let mean = Array2::from_diag(&ndarray::array![0.5, 0.9]);
    let (variance, beta) = (0.04, 0.0405);
    // E[N P Nᵀ] = v · J P J with J the swap.
    let swap = ndarray::array![[0.0, 1.0], [1.0, 0.0]];
    let noise = NoiseFn::new(2, |p| swap.dot(&p).dot(&swap) * variance);
    let rate = mean_square_rate(&noise, mean.view(), beta).unwrap();
    // The diagonal pairs decouple: v² G(.9,.9) G(.5,.5) = 1, G(a,a) = x(x+β)/((x−μ²)(x−β)(x−ν²)).
    let g = |a: f64| {
        let root = (a * a - 4.0 * beta).sqrt();
        let (mu, nu) = (f64::midpoint(a, root), f64::midpoint(a, -root));
        rate * (rate + beta) / ((rate - mu * mu) * (rate - beta) * (rate - nu * nu))
    };
    let gain = variance * variance * g(0.9) * g(0.5);
    // x − μ² is 2e−3 of x: a rounding of the rate is 500 of the gain.
    assert!((gain - 1.0).abs() < 1e4 * f64::EPSILON, "{gain}");
}

/// The paper's data: λ = (1, .9 × 9), Gaussian rows.
fn paper_data() -> (Array2<f64>, GaussianRows) {
    let mean = Array2::from_diag(&Array1::from_shape_fn(10, |i| if i == 0 { 1.0 } else { 0.9 }));
    let rows = GaussianRows::new(mean.view()).unwrap();
    (mean, rows)
}

fn epoch_factor(batch: usize, beta: f64, start: Start) -> f64 {
    let (mean, rows) = paper_data();
    let noise = Scaled::new(&rows, 1.0 / batch as f64).unwrap();
    let epoch = Epoch::new(&noise, mean.view(), beta, start, 10).unwrap();
    // All directions are alike here.
    epoch.factor(Array1::from_shape_fn(10, |i| f64::from(u8::from(i == 3))).view()).unwrap()
}

/// Facts F5: the exact one-epoch factors, power and momentum, T = 10.
#[test]
fn epoch_factors_of_the_facts() {
    for (batch, power, accelerated) in [
        (100, 0.224, 0.966),
        (300, 0.152, 0.238),
        (1000, 0.130, 0.0670),
        (3000, 0.1245, 0.0243),
        (10_000, 0.1225, 0.00997),
    ] {
        // The facts give three digits (of data whose covariance is that of a sample of 1e6).
        let found = epoch_factor(batch, 0.0, Start::U);
        assert!((found / power - 1.0).abs() < 5e-3, "power, s = {batch}: {found}");
        let found = epoch_factor(batch, 0.2025, Start::U);
        assert!((found / accelerated - 1.0).abs() < 5e-3, "momentum, s = {batch}: {found}");
    }
    let (large, limit) = (1 << 40, 1e-9);
    assert!((epoch_factor(large, 0.0, Start::U) - 0.1216).abs() < 5e-5 + limit);
    assert!((epoch_factor(large, 0.2025, Start::U) - 0.003_907).abs() < 5e-7 + limit);
    assert!((epoch_factor(large, 0.2025, Start::T) - 0.000_35).abs() < 5e-6 + limit);
}

/// Facts F5: momentum contracts from s = 98 on and beats VR power from 487 on; power contracts from 23.
#[test]
fn critical_batches_of_the_facts() {
    let from = |holds: &dyn Fn(usize) -> bool| critical_batch(1 << 20, |s| Ok(holds(s))).unwrap();
    assert_eq!(from(&|s| epoch_factor(s, 0.2025, Start::U) < 1.0), 98);
    assert_eq!(from(&|s| epoch_factor(s, 0.0, Start::U) < 1.0), 23);
    let beats = from(&|s| epoch_factor(s, 0.2025, Start::U) < epoch_factor(s, 0.0, Start::U));
    assert_eq!(beats, 487);
}

/// Facts F3: the noise balls 42.61/s and 97.75/s, and their ratio for four gaps → 1/√(2Δ).
#[test]
fn noise_balls_of_the_facts() {
    let power = Growth::new(1.0, 0.9, 0.0).unwrap();
    let momentum = Growth::optimal(1.0, 0.9).unwrap();
    let ball = |growth| noise_ball(growth, &[(0.9, 8.096)], 1).unwrap();
    assert!((ball(&power) - 42.61).abs() < 5e-3);
    assert!((ball(&momentum) - 97.75).abs() < 2e-2, "{}", ball(&momentum));
    for (delta, ratio) in [(0.1, 2.294), (0.01, 7.089), (1e-3, 22.37), (1e-4, 70.7)] {
        let lambda2 = 1.0 - delta;
        let plain = ball_coefficient(&Growth::new(1.0, lambda2, 0.0).unwrap(), lambda2).unwrap();
        let fast = ball_coefficient(&Growth::optimal(1.0, lambda2).unwrap(), lambda2).unwrap();
        assert!((fast / plain / ratio - 1.0).abs() < 1e-3, "Δ = {delta}: {}", fast / plain);
    }
}

/// The AR(2) variance itself: the coefficient is the stationary variance of the recurrence it names.
#[test]
fn ball_coefficient_is_the_ar2_variance() {
    for (lambda2, lambda, beta) in
        [(0.9, 0.9, 0.2025), (0.9, -0.4, 0.2025), (0.5, 0.5, 0.0), (0.9, 0.9, 0.1)]
    {
        let growth = Growth::new(1.0, lambda2, beta).unwrap();
        let mu = growth.mu();
        let (a1, a2) = (lambda / mu, -beta / (mu * mu));
        // ψ weights of v = a₁v₋ + a₂v₋₋ + n/μ: E v² = Σψ²/μ².
        let (mut prev, mut cur, mut sum) = (0.0, 1.0_f64, 0.0);
        for _ in 0..20_000 {
            sum += cur * cur;
            (prev, cur) = (cur, a1 * cur + a2 * prev);
        }
        let wanted = sum / (mu * mu);
        let found = ball_coefficient(&growth, lambda).unwrap();
        assert!((found / wanted - 1.0).abs() < slack(200), "{found} {wanted}");
    }
}
