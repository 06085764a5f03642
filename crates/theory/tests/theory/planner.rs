//! The planners: what they promise, and when they refuse.

use favard_theory::{
    Covariance, ErrorKind, Growth, Start, noise_ball,
    planner::{Estimates, Pessimism, Plan, Target, plan},
    second_moment::{Epoch, GaussianRows, Scaled},
    tan2,
};
use ndarray::{Array1, Array2};
use proptest::prelude::*;

use crate::support::config;

/// The paper's data (facts F3): ten dimensions, gap 0.1, a million rows.
fn paper_data() -> Estimates {
    let mut spectrum = vec![0.9; 10];
    spectrum[0] = 1.0;
    Estimates {
        sigma_norm: 9.124,
        s_op: 10.097,
        kappa: 8.096,
        terms: Some(1_000_000),
        cos2: 0.5,
        ..Estimates::from_spectrum(&spectrum).unwrap()
    }
}

fn made(estimates: &Estimates, target: &Target) -> Plan {
    plan(estimates, target).unwrap()
}

/// Facts F3 and F5: the practical batches 2e5 (ε = 1e−3) and a few thousand (VR), the guaranteed ones
/// 4.5–5.5 orders above, stated as such.
#[test]
fn plan_of_the_papers_data() {
    let plan = made(&paper_data(), &Target::new(1e-3, 0.2));
    let practical = &plan.mini_batch.practical;
    assert!((practical.batch.value / 195_500.0 - 1.0).abs() < 1e-3);
    assert!((practical.noise_ball.value - 5e-4).abs() < 1e-8);
    assert!((practical.beta.value - 0.2025).abs() < 1e-15);
    let guaranteed = plan.mini_batch.guaranteed.unwrap();
    let Pessimism::Times(factor) = guaranteed.batch.pessimism else { panic!("stated") };
    assert!((factor - guaranteed.batch.value / practical.batch.value).abs() < 1e-6 * factor);
    // Cor. nonsvrg sharp with σ² = 90 and δ = .1 asks 5.8e9; s_op is 10.1 instead of 90.
    assert!((4.0..5.5).contains(&(factor * 90.0 / 10.097).log10()), "{factor}");
    let reduced = plan.variance_reduced.unwrap();
    assert!((9.0..=11.0).contains(&reduced.practical.iterations.value));
    assert!(
        (1e3..3e4).contains(&reduced.practical.batch.value),
        "{}",
        reduced.practical.batch.value
    );
    assert_eq!(reduced.practical.noise_ball.value, 0.0);
    // Facts F5: at s = 1e4 and T = 10 about 6.5 epochs to 1e−12; here 1e−3 from tan² = 1.
    assert!(reduced.practical.epochs.value <= 3.0);
    assert!(reduced.guaranteed.unwrap().batch.value > 100.0 * reduced.practical.batch.value);
    // Each number says where it comes from.
    assert!(practical.to_string().contains("noise ball"));
    assert!(guaranteed.iterations.source.contains("nonsvrg"));
}

/// The VR plan's epochs are enough when the exact epoch recursion is run.
#[test]
fn practical_vr_plan_reaches_its_target() {
    let estimates = paper_data();
    for epsilon in [1e-3, 1e-6, 1e-12] {
        let recipe =
            made(&estimates, &Target::new(epsilon, 0.1)).variance_reduced.unwrap().practical;
        let mean =
            Array2::from_diag(&Array1::from_shape_fn(10, |i| if i == 0 { 1.0 } else { 0.9 }));
        let rows = GaussianRows::new(mean.view()).unwrap();
        let noise = Scaled::new(&rows, 1.0 / recipe.batch.value).unwrap();
        let ticks = (1..50).find(|&t| t as f64 == recipe.iterations.value).unwrap();
        let factor = Epoch::new(&noise, mean.view(), recipe.beta.value, Start::U, ticks)
            .unwrap()
            .worst()
            .unwrap();
        let error = tan2(estimates.cos2).unwrap() * factor.powf(recipe.epochs.value);
        assert!(error <= epsilon, "{error:e} > {epsilon:e}");
    }
}

/// No gap, a dilation, a variance beyond the breaking point, a batch that cannot be had: refused by name.
#[test]
fn refusals() {
    let target = Target::new(1e-3, 0.1);
    let refused = |estimates: &Estimates, target: &Target| plan(estimates, target).unwrap_err();
    for spectrum in [&[1.0, 1.0][..], &[1.0, -1.0], &[0.5, -0.9, 0.1], &[0.0, 0.0]] {
        let error = refused(&Estimates::from_spectrum(spectrum).unwrap(), &target);
        assert!(matches!(error.kind(), ErrorKind::NoGap { .. }), "{spectrum:?}: {error}");
    }
    let stream = Estimates { terms: None, ..paper_data() };
    let error = refused(&stream, &Target { largest_batch: Some(10), ..target });
    assert!(matches!(error.kind(), ErrorKind::BeyondBreakingPoint { .. }), "{error}");
    let error = refused(&stream, &Target { largest_batch: Some(10_000), ..target });
    assert!(matches!(error.kind(), ErrorKind::BatchTooLarge { .. }), "{error}");
    // With a full product at hand the same batch will do, but not a batch of 20.
    let limited = Target { largest_batch: Some(10_000), ..target };
    let plan = made(&paper_data(), &limited);
    let reduced = plan.variance_reduced.unwrap();
    assert!(reduced.practical.batch.value <= 10_000.0);
    assert!(matches!(reduced.guaranteed.unwrap_err().kind(), ErrorKind::BatchTooLarge { .. }));
    let error = refused(&paper_data(), &Target { largest_batch: Some(20), ..target });
    assert!(
        matches!(error.kind(), ErrorKind::BeyondBreakingPoint { name: "s_op / batch", .. }),
        "{error}"
    );
    // The theorems need a start in the right half.
    let far = Estimates { cos2: 0.1, ..paper_data() };
    assert!(made(&far, &target).mini_batch.guaranteed.is_err());
}

/// A gap of 1e−8 with noise: half a million steps, and still an answer at once.
#[test]
fn plan_of_a_tiny_gap() {
    let known = Estimates {
        sigma_norm: 1.0,
        s_op: 1.0,
        kappa: 1.0,
        terms: Some(1_000_000),
        ..Estimates::from_spectrum(&[1.0, 1.0 - 1e-8, 0.0]).unwrap()
    };
    let plan = made(&known, &Target::new(1e-2, 0.1));
    assert!(plan.mini_batch.practical.iterations.value > 1e4);
    assert!(plan.variance_reduced.unwrap().practical.batch.value > 1e6);
}

proptest! {
    #![proptest_config(config("proptest-regressions/planner.txt"))]

    /// A practical plan keeps its word: noiseless error and noise ball each at most ε/2, relative variance
    /// below 1; a guaranteed plan is never below the practical one's demands on time.
    #[test]
    fn plans_keep_their_word(
        lambda2 in 1..=99_i32, kappa in 0..=100_i32, sigma in 0..=100_i32, s_op in 0..=100_i32,
        cos in 1..=100_i32, digits in 1..=8_i32,
    ) {
        let tenth = |v: i32| f64::from(v) / 10.0;
        let estimates = Estimates {
            kappa: tenth(kappa), sigma_norm: tenth(sigma), s_op: tenth(s_op), cos2: f64::from(cos) / 100.0,
            terms: Some(1000),
            ..Estimates::from_spectrum(&[1.0, f64::from(lambda2) / 100.0, 0.0]).unwrap()
        };
        let target = Target::new(10.0_f64.powi(-digits), 0.1);
        let plan = plan(&estimates, &target).unwrap();
        let recipe = plan.mini_batch.practical;
        let growth = Growth::optimal(1.0, estimates.lambda2).unwrap();
        let (ticks, batch) = (count(recipe.iterations.value), count(recipe.batch.value));
        let bias = growth.bound(Start::U, ticks, tan2(estimates.cos2).unwrap()).unwrap();
        prop_assert!(bias <= target.epsilon / 2.0 * (1.0 + 1e-9));
        let ball = noise_ball(&growth, &[(estimates.lambda2, estimates.kappa)], batch).unwrap();
        prop_assert!(ball <= target.epsilon / 2.0 * (1.0 + 1e-9));
        prop_assert!((ball - recipe.noise_ball.value).abs() <= 1e-9 * ball);
        let noise = estimates.sigma_norm / batch as f64;
        let relative = Covariance::new(1.0, growth.beta(), noise).unwrap().relative(ticks.max(1)).unwrap();
        prop_assert!(relative <= 1.0 + 1e-9, "{relative}");
        if let Ok(guaranteed) = plan.mini_batch.guaranteed {
            prop_assert!(guaranteed.iterations.value >= recipe.iterations.value);
        }
        let shift = plan.shift.unwrap();
        prop_assert!(shift.growth().ln_rate() < growth.ln_rate());
    }
}

// A planned count is whole and below 2^52.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn count(value: f64) -> usize {
    value as usize
}
