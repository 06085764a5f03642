//! The contraction regime: breaking variance, rates, critical batches.

use favard_theory::{
    Covariance, HeavyBall, contraction_breaking_variance, contraction_rate, excess,
    second_moment::{
        GaussianRows, Noise, NoiseFn, Scaled, critical_batch, mean_square_rate, stability_gain,
    },
};
use ndarray::{Array1, Array2, array};
use proptest::prelude::*;

use crate::support::{config, problem, slack};

proptest! {
    #![proptest_config(config("proptest-regressions/contraction.txt"))]

    /// The growth of the lemma sum bounds the exact mean-square rate of every problem, on both sides of
    /// λ₁ = 2√β, with equality for d = 1 and λ₁ ≥ 2√β (errata 3.2, 3.5).
    #[test]
    fn scalar_rate_bounds_the_exact_rate(problem in problem(40)) {
        let noise = &problem.noise;
        let lambda = problem.spectrum[0].abs();
        let e = excess(lambda, problem.beta, noise.sigma_norm().unwrap()).unwrap();
        let base = mu(lambda, problem.beta).powi(2);
        let exact = mean_square_rate(noise, noise.mean().view(), problem.beta).unwrap();
        // At the double root an error ε of the data moves the rate by ε^{1/3}: λ₁ = 2√β to rounding.
        let is_edge = (lambda * lambda / (4.0 * problem.beta) - 1.0).abs() < 1e-9;
        let room = if is_edge { f64::EPSILON.cbrt() } else { slack(40) };
        prop_assert!(exact <= base * (1.0 + e) * (1.0 + room), "{exact} {}", base * (1.0 + e));
        if problem.spectrum.len() == 1 && lambda * lambda >= 4.0 * problem.beta {
            prop_assert!(exact >= base * (1.0 + e) * (1.0 - room), "{exact} {}", base * (1.0 + e));
        }
    }

    /// The rate is 1 exactly where the gain is 1: stability_gain, mean_square_rate and critical_batch
    /// agree (d = 1 gives ‖Σ‖(1+β)/(1−β)³ at the double root, erratum 3.2).
    #[test]
    fn gain_and_rate_agree(problem in problem(60), scale in 1..=9_i32) {
        let mean = problem.noise.mean() * (f64::from(scale) / 10.0 / problem.spectrum[0].abs());
        let beta = problem.beta / (4.0 * problem.spectrum[0].powi(2)); // at most 3/16
        let gain = stability_gain(&problem.noise, mean.view(), beta).unwrap();
        prop_assume!(gain > 1e-3);
        for (factor, stable) in [(0.99 / gain, true), (1.01 / gain, false)] {
            let noise = Scaled::new(&problem.noise, factor).unwrap();
            let rate = mean_square_rate(&noise, mean.view(), beta).unwrap();
            prop_assert_eq!(rate < 1.0, stable, "gain {}, factor {}, rate {}", gain, factor, rate);
        }
        let batch = critical_batch(1 << 40, |s| {
            let noise = Scaled::new(&problem.noise, 1.0 / s as f64)?;
            Ok(stability_gain(&noise, mean.view(), beta)? < 1.0)
        })
        .unwrap();
        prop_assert!(batch as f64 >= gain * (1.0 - slack(40)) && (batch - 1) as f64 <= gain * (1.0 + slack(40)));
    }

    /// Below the breaking variance the scalar recurrence contracts, above it does not (erratum 3.2).
    #[test]
    fn breaking_variance_is_the_border(lambda in 0..=19_i32, beta in 1..=90_i32) {
        let beta = f64::from(beta) / 100.0;
        let lambda = (1.0 + beta) * f64::from(lambda) / 20.0;
        let breaking = contraction_breaking_variance(lambda, beta).unwrap();
        let below = contraction_rate(lambda, beta, breaking * 0.99).unwrap();
        prop_assert!(below < 1.0);
        prop_assert!(contraction_rate(lambda, beta, breaking * 1.01).is_err());
        let above = mu(lambda, beta).powi(2) * (1.0 + excess(lambda, beta, breaking * 1.01).unwrap());
        prop_assert!(above > 1.0);
        let scalar = NoiseFn::new(1, move |p| &p * breaking);
        let effective = lambda.max(2.0 * beta.sqrt());
        let gain = stability_gain(&scalar, array![[effective]].view(), beta).unwrap();
        prop_assert!((gain - 1.0).abs() <= slack(0) / (1.0 - beta).powi(3), "{}", gain);
    }

    /// The excess really is the growth of the lemma sum.
    #[test]
    fn excess_is_the_growth(momentum in 0..=19_i32, noise in 1..=40_i32) {
        let beta = 0.25 * f64::from(momentum) / 20.0;
        let noise = f64::from(noise) / 100.0;
        let e = excess(1.0, beta, noise).unwrap();
        let bound = Covariance::new(1.0, beta, noise).unwrap();
        // E f² = p² (1 + relative); the second largest root of the cubic is at most r = ν/μ ≤ 0.64.
        let second = |t| bound.relative(t).unwrap() + 1.0;
        let growth = second(400) / second(399);
        prop_assert!((growth / (1.0 + e) - 1.0).abs() <= slack(400), "{growth} {e}");
    }
}

fn mu(lambda: f64, beta: f64) -> f64 {
    let root = (lambda * lambda - 4.0 * beta).max(0.0).sqrt();
    if root > 0.0 { f64::midpoint(lambda, root) } else { beta.sqrt() }
}

/// The small-noise form β/(1−(2‖Σ‖/β)^{1/3}) of the squared rate.
#[test]
fn small_noise_rate() {
    let (beta, noise) = (0.49, 1e-9);
    let rate = contraction_rate(0.0, beta, noise).unwrap();
    let formula = beta / (1.0 - (2.0 * noise / beta).cbrt());
    // The next order is the square of the cube root.
    assert!((rate / formula - 1.0).abs() < (2.0 * noise / beta).cbrt().powi(2) * 2.0);
}

/// Least squares with Polyak's parameters, Gaussian rows, d = 20, geometric spectrum: mean-square stable
/// from s = 1032 (κ = 100) and 31691 (κ = 1000) on; the norm criterion asks 1649 and 42256.
#[test]
fn critical_batches_of_least_squares() {
    for (kappa, exact, by_norm) in [(100.0_f64, 1032, 1649), (1000.0, 31691, 42256)] {
        let h = Array1::from_shape_fn(20, |i| kappa.powf(-(i as f64) / 19.0));
        let ball = HeavyBall::polyak(1.0 / kappa, 1.0).unwrap();
        let covariance = Array2::from_diag(&h);
        let rows = GaussianRows::new(covariance.view()).unwrap();
        let mean = Array2::eye(20) * (1.0 + ball.gamma) - &covariance * ball.step;
        let noise = Scaled::new(&rows, ball.step * ball.step).unwrap();
        let gain = stability_gain(&noise, mean.view(), ball.gamma).unwrap();
        assert!((gain - f64::from(exact)).abs() <= 1.0, "{gain}");
        // ‖Σ_H‖ of Gaussian rows with diagonal H: the top eigenvalue of P ↦ HPᵀH + tr(PH)H.
        let sigma = norm_of(&rows);
        let batch = ball.batch(sigma).unwrap();
        assert!(batch.abs_diff(by_norm) <= 1 + by_norm / 1000, "{batch}");
    }
}

/// The spectral norm of a self-adjoint noise map by power iteration on symmetric matrices.
fn norm_of(noise: &impl Noise) -> f64 {
    let mut p = Array2::<f64>::eye(noise.dim());
    let mut norm = 0.0;
    for _ in 0..2000 {
        let next = noise.apply(p.view());
        norm = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        p = next / norm;
    }
    norm
}
