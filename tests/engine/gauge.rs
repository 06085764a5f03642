//! Gauges change the basis and nothing else.

use favard_engine::Engine;
use favard_engine::gauge::{AugmentedQr, NoGauge, PeriodicQr};
use favard_engine::map::Exact;
use favard_engine::recurrence::{Momentum, Power, Start};
use favard_operator::{Block, Diagonal, Orthonormalizer, Workspace};
use ndarray::Array2;

use crate::support::{gram, rows};

/// Lemma nbpm with its inverse (erratum 4.2): F_t = W_t R_t R_{t−1} ⋯ R_1 for update (A'').
#[test]
fn augmented_qr_follows_the_plain_recurrence() {
    let start = Block::gaussian(6, 3, 5);
    let recurrence = Momentum::new(0.02, Start::U).unwrap();
    let map = || Exact::new(gram(&rows())).unwrap();
    let mut plain = Engine::new(map(), recurrence, start.clone()).unwrap().with_gauge(NoGauge);
    let mut stable = Engine::new(map(), recurrence, start).unwrap().with_gauge(AugmentedQr::new(3));
    let mut total = Array2::<f64>::eye(3);
    for tick in 1..=10 {
        plain.advance().unwrap();
        stable.advance().unwrap();
        total = stable.gauge().r().view().dot(&total);
        let rebuilt = stable.block().view().dot(&total);
        let gap = (&rebuilt - &plain.block().view()).mapv(f64::abs);
        // t steps of products with 46 terms and factors of 3 columns, all of size ‖total‖ at most.
        let size = total.iter().fold(0.0_f64, |m, v| m.max(v.abs())) * 3.0;
        let allowed = f64::from(tick) * 60.0 * 3.0 * f64::EPSILON * size;
        let gap = gap.iter().fold(0.0_f64, |m, v| m.max(*v));
        assert!(gap <= allowed, "tick {tick}: {gap:e} > {allowed:e}");
    }
}

/// F9: without R the block collapses, with (A'') the eigenvalues stay exact for ever. The basis is
/// dense: in the eigenbasis rounding never mixes columns and the collapse is invisible.
#[test]
fn augmented_qr_stays_accurate() {
    let (dim, beta) = (60, 0.2025);
    let mut basis = Block::<f64>::gaussian(dim, dim, 3);
    Orthonormalizer::new(dim).orthonormalize(&mut [&mut basis], &mut Workspace::new()).unwrap();
    let spectrum: Vec<f64> = (0..dim)
        .map(|i| [1.0, 0.98, 0.96].get(i).copied().unwrap_or(0.9 * (1.0 - i as f64 / 60.0)))
        .collect();
    let q = basis.view();
    let scaled = Array2::from_shape_fn((dim, dim), |(i, j)| q[[i, j]] * spectrum[j]);
    let op = favard_operator::Dense::new(scaled.dot(&q.t())).unwrap();
    let recurrence = Momentum::new(beta, Start::U).unwrap();
    let mut engine = Engine::new(Exact::new(op).unwrap(), recurrence, Block::gaussian(dim, 3, 8))
        .unwrap()
        .with_gauge(AugmentedQr::new(3));
    for _ in 0..600 {
        engine.advance().unwrap();
    }
    for (i, &lambda) in spectrum[..3].iter().enumerate() {
        // λ = μ + β/μ with μ on the diagonal of R (erratum 4.3)
        let mu = engine.gauge().r().row(i)[i];
        let found = mu + beta / mu;
        let allowed = 10.0 * dim as f64 * f64::EPSILON;
        assert!((found - lambda).abs() <= allowed, "{found} for {lambda}");
    }
}

/// QR of the block every m ticks gives the same spans as every tick.
#[test]
fn periodic_qr_is_subspace_iteration() {
    let run = |every| {
        let map = Exact::new(gram(&rows())).unwrap();
        let start = Block::gaussian(6, 2, 1);
        let gauge = PeriodicQr::new(2, every).unwrap();
        let mut engine = Engine::new(map, Power, start).unwrap().with_gauge(gauge);
        for _ in 0..12 {
            engine.advance().unwrap();
        }
        let q = engine.block().view().to_owned();
        q.dot(&q.t())
    };
    let (often, seldom) = (run(1), run(4));
    // Four steps without QR lose at most (λ₁/λ₂)⁴ digits; the data has λ₁/λ_6 < 20.
    let allowed = 20f64.powi(4) * 46.0 * 12.0 * f64::EPSILON;
    let gap = (&often - &seldom).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(gap <= allowed, "{gap:e} > {allowed:e}");
}

/// Rank-deficient operators: the block stays orthonormal, nothing becomes noise or NaN.
#[test]
fn qr_survives_rank_deficiency() {
    let op = Diagonal::<f64>::new(vec![1.0, 0.5, 0.0, 0.0, 0.0]).unwrap();
    let map = Exact::new(op).unwrap();
    let gauge = AugmentedQr::new(4);
    let mut engine = Engine::new(map, Power, Block::gaussian(5, 4, 2)).unwrap().with_gauge(gauge);
    for _ in 0..50 {
        engine.advance().unwrap();
    }
    assert!(engine.block().view().iter().all(|v: &f64| v.is_finite()));
    engine.advance_measured().unwrap();
    let ritz: &[f64] = &engine.measure().ritz;
    assert!((ritz[0] - 1.0).abs() < 20.0 * f64::EPSILON && (ritz[1] - 0.5).abs() < 1e-12);
    assert!(ritz[2..].iter().all(|theta| theta.abs() < 20.0 * f64::EPSILON));
}
