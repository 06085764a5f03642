//! Monte Carlo variance of u₁ᵀF_t w₀ from the real engine: it matches the exact recursion of the
//! theory, and lies below the bounds.
//!
//! The test statistic is the median of 110 means of groups of (X − E X)². A group's mean is within
//! two standard deviations of its expectation with probability at least 3/4 (Chebyshev, with the
//! exact fourth moment), so the median of 110 independent groups is further away with probability
//! at most exp(−110 · KL(1/2 ‖ 1/4)) = exp(−15.8) = 1.4e−7 (Chernoff), 4.1e−7 for the three
//! statistics of this file. That is the probability of a false alarm for fresh seeds; they are fixed.

use favard_engine::Engine;
use favard_engine::map::{MiniBatch, StepMap, VarianceReduced};
use favard_engine::recurrence::{Momentum, Start};
use favard_operator::{Block, Sampler};
use favard_theory::second_moment::{Anchored, Propagation, Scaled};
use favard_theory::{Covariance, Start as TheoryStart, epoch_covariance};
use ndarray::{Array2, array};

use crate::support::{batches, finite, moments, operator, points};

const GROUPS: usize = 110;
const GROUP: usize = 300;
const BETA: f64 = 0.16; // λ₂²/4
const START: [f64; 2] = [0.6, 0.8];
const TICKS: usize = 8;

/// The median of group means of (X − mean)² over engine runs with consecutive seeds.
fn median_of_means<M: StepMap<f64>>(mean: f64, make: impl Fn(u64) -> M) -> f64 {
    let mut groups: Vec<f64> = (0..GROUPS)
        .map(|group| {
            let total: f64 = (0..GROUP)
                .map(|run| {
                    let map = make((group * GROUP + run) as u64);
                    let recurrence = Momentum::new(BETA, Start::U).unwrap();
                    let mut engine = Engine::new(map, recurrence, Block::column(&START)).unwrap();
                    for _ in 0..TICKS {
                        engine.advance().unwrap();
                    }
                    (engine.block().row(0)[0] - mean).powi(2)
                })
                .sum();
            total / GROUP as f64
        })
        .collect();
    groups.sort_by(f64::total_cmp);
    f64::midpoint(groups[GROUPS / 2 - 1], groups[GROUPS / 2])
}

/// Var X from its first two moments, and the largest distance of the median that chance allows.
fn variance_and_slack([first, second, third, fourth]: [f64; 4]) -> (f64, f64) {
    let variance = second - first * first;
    // E(X − m)⁴
    let central = fourth - 4.0 * third * first + 6.0 * second * first * first - 3.0 * first.powi(4);
    (variance, 2.0 * ((central - variance * variance) / GROUP as f64).sqrt())
}

#[test]
fn mini_batch_engine_matches_the_exact_recursion_and_the_bound() {
    for (noise, size) in [(0.1, 2), (0.3, 3)] {
        let points = points(noise);
        let exact = moments(&batches(&points, size), BETA, &START, &[1.0, 0.0], TICKS);
        let (variance, slack) = variance_and_slack(exact);

        // The theory's recursion, with Σ_s = Σ₁/s (erratum 3.1), is the same number.
        let finite = finite(&points);
        let scaled = Scaled::new(&finite, 1.0 / size as f64).unwrap();
        let mean = finite.mean().clone();
        let w0 = array![START[0], START[1]];
        let mut theory =
            Propagation::new(scaled, mean.view(), BETA, TheoryStart::U, w0.view()).unwrap();
        theory.advance_by(TICKS).unwrap();
        let predicted = theory.variance_along(array![1.0, 0.0].view()).unwrap();
        // Two sums of at most 6³ · 4⁴ terms, all of the size of the fourth root of the moments.
        let rounding = 1e5 * f64::EPSILON * exact[1];
        assert!((predicted - variance).abs() <= rounding, "{predicted:e} {variance:e}");

        let op = operator(points);
        let found = median_of_means(exact[0], |seed| {
            MiniBatch::new(&op, Sampler::uniform(6, size, seed).unwrap()).unwrap()
        });
        let gap = (found - variance).abs();
        assert!(gap <= slack, "noise {noise}: {found:e}, exact {variance:e} ± {slack:e}");
        assert!(slack < 0.5 * variance, "the test can fail: {slack:e} of {variance:e}");

        // Lemma covbound and its corollaries.
        let sigma = finite.sigma_norm().unwrap() / size as f64;
        let bound = Covariance::new(1.0, BETA, sigma).unwrap();
        let lemma = bound.lemma_sum(TICKS).unwrap();
        assert!(variance <= lemma && found <= lemma + slack, "{found:e} {lemma:e}");
        assert!(lemma <= bound.sharp_exponential(TICKS).unwrap());
    }
}

#[test]
fn variance_reduced_engine_matches_the_exact_recursion_and_the_lemma() {
    let (noise, size) = (0.3, 2);
    let points = points(noise);
    // A_t = A + (Ã − A)(I − w̃w̃ᵀ), one epoch from the anchor itself.
    let finite = finite(&points);
    let mean = finite.mean().clone();
    let anchor = array![START[0], START[1]];
    let outer = Array2::from_shape_fn((2, 2), |(i, j)| anchor[i] * anchor[j]);
    let projector = Array2::<f64>::eye(2) - outer;
    let choices: Vec<(Array2<f64>, f64)> = batches(&points, size)
        .into_iter()
        .map(|(a, p)| (&mean + &(&a - &mean).dot(&projector), p))
        .collect();
    let exact = moments(&choices, BETA, &START, &[1.0, 0.0], TICKS);
    let (variance, slack) = variance_and_slack(exact);

    let scaled = Scaled::new(&finite, 1.0 / size as f64).unwrap();
    let reduced = Anchored::new(scaled, anchor.clone()).unwrap();
    let mut theory =
        Propagation::new(reduced, mean.view(), BETA, TheoryStart::U, anchor.view()).unwrap();
    theory.advance_by(TICKS).unwrap();
    let predicted = theory.variance_along(array![1.0, 0.0].view()).unwrap();
    let rounding = 1e5 * f64::EPSILON * exact[1];
    assert!((predicted - variance).abs() <= rounding, "{predicted:e} {variance:e}");

    let op = operator(points);
    let found = median_of_means(exact[0], |seed| {
        let sampler = Sampler::uniform(6, size, seed).unwrap();
        VarianceReduced::new(&op, sampler, TICKS as u64).unwrap()
    });
    let gap = (found - variance).abs();
    assert!(gap <= slack, "{found:e}, exact {variance:e} ± {slack:e}");
    assert!(slack < 0.5 * variance, "the test can fail: {slack:e} of {variance:e}");

    // Lemma svrgvar with θ = 1 − (u₁ᵀw₀)².
    let sigma = finite.sigma_norm().unwrap() / size as f64;
    let bound = Covariance::new(1.0, BETA, sigma).unwrap();
    let lemma = epoch_covariance(&bound, 1.0 - START[0] * START[0], TICKS).unwrap();
    assert!(variance <= lemma && found <= lemma + slack, "{found:e} {lemma:e}");
}
