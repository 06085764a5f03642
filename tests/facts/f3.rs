//! F3: the noise ball of mini-batches, against the AR(2) formula.
//!
//! The statistic is the mean of sin² over ticks of one stationary run. sin² is the sum of nine
//! squares v_i² of AR(2) processes with nearly equal variances, so a single value has the relative
//! variance 2/9, and the mean over n ticks 2/9 · τ/n with τ = Σ ρ(t)², ρ the autocorrelation of v:
//! τ = (1 + .81)/(1 − .81) = 9.5 for the power iteration, and less with momentum, whose roots are
//! √β/μ = .63. With n = 5000 ticks that is a standard deviation of 2.05 %: 10 % is 4.9 of them, and
//! is exceeded with probability 1e−6.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_engine::observe::Step;
use favard_models::solvers::{Eigensolver, MiniBatchMomentum};
use favard_theory::{Growth, noise_ball};
use ndarray::Array2;

use crate::cases::data::{gram, kappas, paper_rows};
use crate::cases::problems::sin2;

/// Full size: 1e6 rows, batches from 1000 to 30000, ten seeds.
const ROWS: usize = 10_000;
const TICKS: u64 = 5000;
/// Ticks until the start is forgotten: .81^150 = 2e−14.
const BURN_IN: u64 = 150;
const BETA: f64 = 0.9 * 0.9 / 4.0;

/// The mean of sin² over the ticks after the burn-in.
fn ball(rows: &Array2<f64>, beta: f64, batch: usize) -> f64 {
    let mut sum = 0.0;
    let mut watch = |step: &Step<'_, f64>| {
        if step.tick > BURN_IN {
            sum += sin2(step.block);
        }
        ControlFlow::<Stop>::Continue(())
    };
    let method = MiniBatchMomentum::default().beta(beta).batch(batch).steps(BURN_IN + TICKS);
    Eigensolver::new(method, 1)
        .tolerance(0.0)
        .passes(f64::INFINITY)
        .solve_observed(&gram(rows), None, &mut watch)
        .expect("a run");
    sum / TICKS as f64
}

/// What the formula says for this data.
fn formula(rows: &Array2<f64>, beta: f64, batch: usize) -> f64 {
    let others: Vec<(f64, f64)> = kappas(rows).into_iter().map(|kappa| (0.9, kappa)).collect();
    let growth = Growth::new(1.0, 0.9, beta).expect("in range");
    noise_ball(&growth, &others, batch).expect("in range")
}

/// Within 10 % of the formula at both batch sizes, and inversely proportional to the batch: two
/// means with 2 % each give the slope a standard deviation of √2 · .0205/ln 3 = .026.
fn assert_ball(beta: f64) {
    let rows = paper_rows(ROWS, 10, 1);
    let [small, large] = [1000, 3000].map(|batch| {
        let (measured, expected) = (ball(&rows, beta, batch), formula(&rows, beta, batch));
        let off = measured / expected - 1.0;
        assert!(off.abs() <= 0.1, "β = {beta}, s = {batch}: {measured} for {expected}");
        measured
    });
    let slope = (large / small).ln() / 3.0_f64.ln();
    assert!((slope + 1.0).abs() <= 0.13, "slope {slope}");
}

#[test]
fn the_ball_of_the_power_iteration() {
    assert_ball(0.0);
}

#[test]
fn the_ball_with_momentum() {
    assert_ball(BETA);
}

/// 2.294 in theory at Δ = .1, 2.30 to 2.33 measured at full size; the standard deviation is 2.9 %
/// here, and five of them are allowed.
#[test]
fn momentum_makes_the_ball_larger() {
    let rows = paper_rows(ROWS, 10, 1);
    assert!((formula(&rows, BETA, 1000) / formula(&rows, 0.0, 1000) - 2.294).abs() < 1e-3);
    let ratio = ball(&rows, BETA, 1000) / ball(&rows, 0.0, 1000);
    assert!((ratio / 2.31 - 1.0).abs() <= 0.145, "ratio {ratio}");
}
