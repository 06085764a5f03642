//! The spectral stage of completion: entry sampling, its noise, the shift of the dilation.

use favard_engine::gauge::{AugmentedQr, Norm};
use favard_engine::map::{Exact, VarianceReduced};
use favard_engine::observe::{Tolerance, Unwatched};
use favard_engine::recurrence::{Momentum, Power, Recurrence, Start};
use favard_engine::{Engine, Stop};
use favard_models::{CompletionSpectral, Entries, ErrorKind, MatrixCompletion};
use favard_operator::{Block, Csr, Sampler, Shifted};
use favard_testkit::check_stochastic;
use favard_theory::Start as Family;
use favard_theory::second_moment::{Epoch, NoiseFn};
use ndarray::{Array2, ArrayView2};

use crate::support::{assert_same, low_rank, sample, symmetric};

/// Symmetric entries and dilations are linear, fused, and the sum of their terms.
#[test]
fn entries_keep_the_laws() {
    let rectangular = sample(&low_rank::<f64>(9, 5, &[1.0, 0.5], 1), 0.5, 2, |_, _| true);
    check_stochastic(&Entries::dilation(rectangular.view(), 2.5).unwrap()).unwrap();
    let (matrix, _) = symmetric(7, &[1.0, -0.5], 3);
    let square = sample(&matrix, 9.0, 4, |i, j| (i + j) % 3 != 1);
    check_stochastic(&Entries::symmetric(square.view(), 0.5).unwrap()).unwrap();
    let single = sample(&low_rank::<f32>(1, 4, &[1.0], 5), 9.0, 6, |_, _| true);
    check_stochastic(&Entries::dilation(single, 1.0).unwrap()).unwrap();
    let error = Entries::symmetric(rectangular, 1.0).unwrap_err();
    assert_eq!(error.to_string(), "symmetric entries: needs a square operator, found 9 × 5");
    let half = sample(&matrix, 9.0, 4, |i, j| i <= j);
    let error = Entries::symmetric(half, 1.0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Asymmetric { row: 0, .. }), "{error}");
}

/// sin² of the angle between a column and the first column of q.
fn sin2(block: &Block<f64>, q: &Block<f64>) -> f64 {
    let rows = || (0..block.rows()).map(|i| (block.row(i)[0], q.row(i)[0]));
    let norm: f64 = rows().map(|(b, _)| b * b).sum();
    let dot: f64 = rows().map(|(b, q)| b * q).sum();
    rows().map(|(b, q)| (b - dot * q).powi(2)).sum::<f64>() / norm
}

/// Steps of an epoch.
const EPOCH: u16 = 14;

/// Epochs to sin² ≤ 1e-6 and to 1e-12, for each of three seeds.
fn epochs<R: Recurrence<f64>>(
    recurrence: impl Fn() -> R,
    (matrix, q): (&Csr<'_, f64>, &Block<f64>),
    batch: usize,
) -> Vec<(u64, u64)> {
    let dim = q.rows();
    let one = |seed: u64| {
        let op = Entries::symmetric(matrix.view(), 1.0).unwrap();
        let sampler = Sampler::uniform(dim * dim, batch, seed).unwrap();
        let map = VarianceReduced::new(op, sampler, u64::from(EPOCH)).unwrap();
        let start = Block::gaussian(dim, 1, seed + 77);
        let mut engine = Engine::new(map, recurrence(), start).unwrap().with_gauge(Norm);
        let mut to = |target: f64| {
            while sin2(engine.block(), q) > target {
                engine.run(u64::from(EPOCH), &mut Unwatched).unwrap();
                assert!(engine.tick() <= 200 * u64::from(EPOCH), "no convergence");
            }
            engine.tick() / u64::from(EPOCH)
        };
        (to(1e-6), to(1e-12))
    };
    (1..=3).map(one).collect()
}

/// The exact factor of E tan² for an epoch near convergence, in the worst direction. The noise of a
/// batch of s entries is 𝒮(P) = (n²/2 (diag(W diag P) + W∘P) − MPM)/s with W = M∘M.
fn exact_factor(matrix: &Block<f64>, batch: usize, beta: f64) -> f64 {
    let m = matrix.view().to_owned();
    let (w, n) = (&m * &m, matrix.rows());
    let all = (n * n) as f64;
    let noise = NoiseFn::new(n, |p: ArrayView2<'_, f64>| {
        let spread = Array2::from_diag(&w.dot(&p.diag())) + &w * &p;
        (spread * (all / 2.0) - m.dot(&p).dot(&m)) / batch as f64
    });
    let epoch = Epoch::new(noise, m.view(), beta, Family::U, usize::from(EPOCH)).unwrap();
    epoch.worst().unwrap()
}

/// Variance-reduced entry sampling with and without momentum, same batches, β = λ₂²/4. The factors of
/// E tan² per epoch are exact. Power's hardly depends on the batch (0.24 to 0.28 from s = 30n on).
/// Momentum's is above 1 at s = 30n, where its noise dominates and it loses, and falls to 0.027 at
/// s = 1000n: the ratio of the logarithms grows to 2.5.
///
/// The engine obeys them. From sin² ≤ 1e-6 on, the chance that sin² > 1e-12 after K more epochs is at
/// most 1e6 ρᴷ by Markov's inequality; K = ln(1e9)/ln(1/ρ), and one more for where the count starts,
/// fails with probability below 1e-3 for each of the twelve runs. At s = 30n, where the mean of tan² says
/// nothing, that momentum takes more epochs than power in the sum of three runs (90 against 60) is a
/// regression guard with fixed seeds: no bound stands behind it.
#[test]
fn momentum_loses_with_small_batches_and_wins_with_large_ones() {
    let (matrix, q) = symmetric(24, &[1.0, 0.95, 0.9, 0.5], 5);
    let all = sample(&matrix, 99.0, 1, |_, _| true);
    let beta = 0.95 * 0.95 / 4.0;
    let sum = |runs: &[(u64, u64)]| runs.iter().map(|run| run.1).sum::<u64>();
    let mut ratios = vec![];
    for batch in [720, 7200, 24_000] {
        let factors = [0.0, beta].map(|beta| exact_factor(&matrix, batch, beta));
        let power = epochs(|| Power, (&all, &q), batch);
        let momentum = epochs(|| Momentum::new(beta, Start::U).unwrap(), (&all, &q), batch);
        for (factor, runs) in factors.into_iter().zip([&power, &momentum]) {
            let most = 1e9_f64.ln() / -factor.ln() + 1.0;
            let within = |&(half, whole): &(u64, u64)| (whole - half) as f64 <= most;
            assert!(factor >= 1.0 || runs.iter().all(within), "s = {batch}: {runs:?}, {most}");
        }
        assert!(factors[0] < 0.3, "s = {batch}: {factors:?}");
        if batch == 720 {
            assert!(factors[1] > 1.0 && sum(&momentum) > sum(&power), "momentum loses");
        } else {
            ratios.push(factors[1].ln() / factors[0].ln());
            assert!(sum(&momentum) < sum(&power), "momentum wins");
        }
    }
    assert!(1.0 < ratios[0] && ratios[0] < ratios[1] && ratios[1] > 2.0, "{ratios:?}");
}

/// A dilation has the spectrum ±σ: momentum on it as it is never settles, because u and v are only
/// known up to a sign of their own. Shifted by (σ₁ − σ₂)/2 it converges.
#[test]
fn a_dilation_needs_its_shift() {
    let values = [1.0, 0.5];
    let matrix = sample(&low_rank::<f64>(30, 20, &values, 1), 99.0, 2, |_, _| true);
    let run = |shift: f64, edge: f64| {
        let op = Entries::dilation(matrix.view(), 1.0).unwrap();
        let op = Shifted::new(op, -shift).unwrap();
        let beta = Momentum::new(edge * edge / 4.0, Start::U).unwrap();
        let start = Block::gaussian(50, 1, 3);
        let mut engine =
            Engine::new(Exact::new(op).unwrap(), beta, start).unwrap().with_gauge(Norm);
        engine.run(200, &mut Tolerance::new(1e-10, 1).unwrap()).unwrap()
    };
    let plain = run(0.0, 0.5);
    assert_eq!(plain.stop, Stop::Iterations);
    assert!(plain.residuals[0] > 0.1);
    let shifted = run((values[0] - values[1]) / 2.0, f64::midpoint(values[0], values[1]));
    assert_eq!(shifted.stop, Stop::Converged);
    assert!(shifted.iterations < 60);
}

/// Whatever finds the start, the completed matrix is the same; the stage says how it ran and why.
#[test]
fn every_spectral_stage_leads_to_the_same_matrix() {
    let exact = low_rank::<f64>(120, 90, &[1.0, 0.9], 1);
    let observed = sample(&exact, 1.0, 2, |_, _| true);
    let batches = CompletionSpectral::Batches { batch: 5000, epoch: 4 };
    let all = [
        (CompletionSpectral::Auto, "all entries every step"),
        (CompletionSpectral::Exact, "asked for: all entries"),
        (CompletionSpectral::VarianceReduced, "variance-reduced batches of "),
        (batches, "variance-reduced batches of 5000 entries in epochs of 4 steps: asked for"),
    ];
    for (spectral, reason) in all {
        let model = MatrixCompletion::new(2).spectral(spectral).spectral_tolerance(1e-4);
        let found = model.solve(&observed).unwrap();
        assert!(found.method().starts_with(reason), "{}", found.method());
        assert_eq!(found.spectral().stop, Stop::Converged, "{spectral:?}");
        assert!(found.is_certified(), "{spectral:?}");
        assert!((found.predict(5, 6).unwrap() - exact.row(5)[6]).abs() < 1e-6);
        // σ₁² of B within the sampling error of the entries: B is M and noise of norm about
        // √(n (1/p − 1)) max|m| < 0.3.
        assert!((found.spectral().ritz[0].sqrt() - 1.0).abs() < 0.3);
        assert!(found.spectral().passes > 0.0 && !found.spectral().history.is_empty());
    }
    assert_same("batches", || {
        MatrixCompletion::new(2).spectral(batches).iterations(3).solve(&observed).unwrap()
    });
}

/// A second singular value that drowns in the noise of the sample leaves no gap for batches:
/// `Auto` reads all entries and says why, and batches that were asked for are refused.
#[test]
fn a_plan_that_does_not_exist() {
    let exact = low_rank::<f64>(100, 80, &[1.0, 0.02], 1);
    let observed = sample(&exact, -0.9, 2, |_, _| true);
    let model = MatrixCompletion::new(2).spectral_tolerance(1e-5).iterations(1);
    let found = model.solve(&observed).unwrap();
    let why = "all entries every step: no plan for batches";
    assert!(found.method().starts_with(why), "{}", found.method());
    let forced = model.spectral(CompletionSpectral::VarianceReduced);
    let error = forced.solve(&observed).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Theory(_)), "{error}");
    let zero = CompletionSpectral::Batches { batch: 0, epoch: 4 };
    assert!(MatrixCompletion::new(3).spectral(zero).solve(&observed).is_err());
    let zero = CompletionSpectral::Batches { batch: 4, epoch: 0 };
    assert!(MatrixCompletion::new(3).spectral(zero).solve(&observed).is_err());
}

/// Blocks too: variance reduction with the stable gauge finds three vectors at once, both signs.
#[test]
fn a_block_of_both_signs() {
    let (matrix, q) = symmetric(60, &[1.0, -0.95, 0.9, 0.3], 2);
    let all = sample(&matrix, 99.0, 1, |_, _| true);
    let op = Entries::symmetric(all, 1.0).unwrap();
    let sampler = Sampler::uniform(3600, 40_000, 1).unwrap();
    let map = VarianceReduced::new(op, sampler, 6).unwrap();
    let recurrence = Momentum::new(0.3 * 0.3 / 4.0, Start::U).unwrap();
    let mut engine = Engine::new(map, recurrence, Block::gaussian(60, 3, 1))
        .unwrap()
        .with_gauge(AugmentedQr::new(3));
    let info = engine.run(600, &mut Tolerance::new(1e-9, 3).unwrap().every(6)).unwrap();
    assert_eq!(info.stop, Stop::Converged);
    // Ritz values come in descending order; |λ − θ| is at most the residual.
    for (ritz, exact) in info.ritz.iter().zip([1.0, 0.9, -0.95]) {
        assert!((ritz - exact).abs() < 1e-8, "{:?}", info.ritz);
    }
    // The block spans the first three columns of q: for orthonormal columns whose residuals are at
    // most 1e-9 and a gap of 0.9 − 0.3, sin θ is at most √3 · 1e-9 / 0.6, and a step makes it smaller.
    let along = |c: usize, j: usize| -> f64 {
        (0..60).map(|i| q.row(i)[c] * engine.block().row(i)[j]).sum()
    };
    for j in 0..3 {
        let rest = |i: usize| {
            engine.block().row(i)[j] - (0..3).map(|c| along(c, j) * q.row(i)[c]).sum::<f64>()
        };
        let sine = (0..60).map(|i| rest(i).powi(2)).sum::<f64>().sqrt();
        assert!(sine <= 3f64.sqrt() * 1e-9 / 0.6, "column {j}: {sine:e}");
    }
}
