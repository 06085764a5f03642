//! Theorems nonsvrg and svrg in corrected form: over seeded runs of the engine, the fraction that
//! fails stays within what the theorem allows.

use favard_engine::Engine;
use favard_engine::gauge::Norm;
use favard_engine::map::{MiniBatch, VarianceReduced};
use favard_engine::recurrence::{Momentum, Start};
use favard_operator::{Block, Sampler};
use favard_theory::{Growth, MiniBatch as MiniBatchBound, VarianceReduced as EpochBound};

use crate::support::{finite, operator, points};

const RUNS: u64 = 200;

/// 1 − (u₁ᵀw)²/‖w‖² with u₁ = e₁.
fn error(block: &Block<f64>) -> f64 {
    let (a, b) = (block.row(0)[0], block.row(1)[0]);
    b * b / (a * a + b * b)
}

/// Errata 3.7 and 3.8: with T from the corrected formula and s_op ≤ Dδε/(64T), the error is at most
/// ε with probability 1 − 2δ.
#[test]
fn mini_batch_runs_fail_within_delta() {
    let (epsilon, delta) = (0.05, 0.1);
    let growth = Growth::optimal(1.0, 0.8).unwrap();
    let theorem = MiniBatchBound::new(&growth, delta, epsilon).unwrap();
    let points = points(0.05);
    let s_op = finite(&points).s_op().unwrap();
    let batch = theorem.batch(s_op).unwrap();
    // The theorem speaks of the sampled operator's own variance: the batch is just large enough.
    assert!(s_op / batch as f64 <= theorem.s_op_max());
    assert!(s_op / (batch as f64 - 1.0) > theorem.s_op_max(), "not larger than needed");
    let op = operator(points);
    // The theorem's start has |u₁ᵀw₀| ≥ 1/2.
    let start = Block::column(&[0.5, 0.75_f64.sqrt()]);
    let mut failures = 0;
    for seed in 0..RUNS {
        let map = MiniBatch::new(&op, Sampler::uniform(6, batch, seed).unwrap()).unwrap();
        let recurrence = Momentum::new(growth.beta(), Start::U).unwrap();
        let mut engine = Engine::new(map, recurrence, start.clone()).unwrap().with_gauge(Norm);
        for _ in 0..theorem.iterations() {
            engine.advance().unwrap();
        }
        failures += u32::from(error(engine.block()) > epsilon);
    }
    let allowed = 2.0 * delta * RUNS as f64;
    assert!(f64::from(failures) <= allowed, "{failures} of {RUNS} failed, allowed {allowed}");
}

/// Errata 3.9 to 3.12: K epochs of T steps bring the error to ε with probability 1 − 2Kδ, the batch
/// being independent of ε.
#[test]
fn variance_reduced_runs_fail_within_delta() {
    let (epsilon, delta, c) = (1e-9, 0.01, 1.0 / 49.0);
    let growth = Growth::optimal(1.0, 0.8).unwrap();
    let theorem = EpochBound::new(&growth, delta, c).unwrap();
    let points = points(0.02);
    let s_op = finite(&points).s_op().unwrap();
    let batch = theorem.batch(s_op).unwrap();
    assert!(s_op / batch as f64 <= theorem.s_op_max());
    let start = Block::column(&[0.75_f64.sqrt(), 0.5]);
    let epochs = theorem.epochs(0.25, epsilon).unwrap();
    let ticks = theorem.iterations();
    let op = operator(points);
    let mut failures = 0;
    for seed in 0..RUNS {
        let sampler = Sampler::uniform(6, batch, seed).unwrap();
        let map = VarianceReduced::new(&op, sampler, ticks as u64).unwrap();
        let recurrence = Momentum::new(growth.beta(), Start::U).unwrap();
        let mut engine = Engine::new(map, recurrence, start.clone()).unwrap().with_gauge(Norm);
        for _ in 0..epochs * ticks {
            engine.advance().unwrap();
        }
        failures += u32::from(error(engine.block()) > epsilon);
    }
    let allowed = (1.0 - theorem.success(epochs)) * RUNS as f64;
    assert!(allowed < RUNS as f64 / 2.0, "the theorem says something");
    assert!(f64::from(failures) <= allowed, "{failures} of {RUNS} failed, allowed {allowed}");
}
