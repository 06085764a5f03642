//! Scale invariance A → cA, shift invariance, and monotonicity in t, Σ and the target.
//!
//! Powers of two scale without rounding, so what is invariant must be so to the last bit.

use favard_theory::{
    Covariance, Growth, MiniBatch, Shift, Spread, Start, VarianceReduced, ball_coefficient,
    epoch_factor_bound, excess, momentum,
    second_moment::{Epoch, Scaled, mean_square_rate},
};
use proptest::prelude::*;

use crate::support::{config, decimal, problem, slack};

proptest! {
    #![proptest_config(config("proptest-regressions/invariance.txt"))]

    /// A → cA, β → c²β, Σ → c²Σ changes no count, no relative variance and no rate (erratum 3.11 is what
    /// happens otherwise).
    #[test]
    fn scaling_changes_nothing(
        lambda2 in 1..=99_i32, momentum in 0..=99_i32, noise in 0..=50_i32, exponent in -20..=20_i32,
        t in 0..=60_usize,
    ) {
        let c = 2.0_f64.powi(exponent);
        let (lambda2, beta) = (f64::from(lambda2) / 100.0, 0.25 * f64::from(momentum) / 100.0);
        let noise = f64::from(noise) / 100.0;
        let one = Growth::new(1.0, lambda2, beta).unwrap();
        let two = Growth::new(c, c * lambda2, c * c * beta).unwrap();
        for start in [Start::T, Start::U] {
            let (a, b) = (one.ln_factor(start, t).unwrap(), two.ln_factor(start, t).unwrap());
            // ln μ is rounded at another place.
            prop_assert!((a - b).abs() <= slack(t) || a == b);
            let count = |g: &Growth| g.iterations(start, 3.0, 1e-6).unwrap();
            prop_assert!(count(&one).abs_diff(count(&two)) <= usize::from(!one.is_calm()));
        }
        let relative = |l: f64, b: f64, s: f64| Covariance::new(l, b, s).unwrap().relative(t).unwrap();
        prop_assert_eq!(relative(1.0, beta, noise).to_bits(), relative(c, c * c * beta, c * c * noise).to_bits());
        prop_assert_eq!(
            excess(1.0, beta, noise).unwrap().to_bits(),
            excess(c, c * c * beta, c * c * noise).unwrap().to_bits()
        );
        prop_assert_eq!(
            (ball_coefficient(&one, lambda2).unwrap()).to_bits(),
            (c * c * ball_coefficient(&two, c * lambda2).unwrap()).to_bits()
        );
        if one.is_calm() {
            let (a, b) = (MiniBatch::new(&one, 0.1, 1e-3).unwrap(), MiniBatch::new(&two, 0.1, 1e-3).unwrap());
            prop_assert_eq!(a.iterations(), b.iterations());
            prop_assert_eq!(a.batch(noise).unwrap(), b.batch(c * c * noise).unwrap());
            let (a, b) = (
                VarianceReduced::new(&one, 0.1, 0.02).unwrap(),
                VarianceReduced::new(&two, 0.1, 0.02).unwrap(),
            );
            prop_assert_eq!(a.batch(noise).unwrap(), b.batch(c * c * noise).unwrap());
        }
        let bound = |g: &Growth, s: f64| epoch_factor_bound(g, s, t + 1, Spread::Any).unwrap();
        let (a, b) = (bound(&one, noise), bound(&two, c * c * noise));
        prop_assert!((a - b).abs() <= slack(t) * a * (t + 2) as f64);
    }

    /// The exact rate and the epoch factor scale: rate by c², factor not at all.
    #[test]
    fn scaling_the_exact_moments(problem in problem(19), exponent in -10..=10_i32, ticks in 1..=12_usize) {
        let c = 2.0_f64.powi(exponent);
        let mean = problem.noise.mean();
        let scaled = mean * c;
        let noise = Scaled::new(&problem.noise, c * c).unwrap();
        let one = mean_square_rate(&problem.noise, mean.view(), problem.beta).unwrap();
        let two = mean_square_rate(&noise, scaled.view(), c * c * problem.beta).unwrap();
        // The root finder stops within a few roundings of the same number; triple roots magnify them.
        prop_assert!((two / (c * c) / one - 1.0).abs() <= 4.0 * f64::EPSILON.cbrt(), "{} {}", one, two / (c * c));
        if let Ok(epoch) = Epoch::new(&problem.noise, mean.view(), problem.beta, Start::U, ticks) {
            let other = Epoch::new(&noise, scaled.view(), c * c * problem.beta, Start::U, ticks).unwrap();
            let (a, b) = (epoch.worst().unwrap(), other.worst().unwrap());
            prop_assert!((a - b).abs() <= 1e-9 * a.max(1.0), "{a} {b}");
        }
    }

    /// p_t(cx; c²β) = c^t p_t(x; β).
    #[test]
    fn polynomials_are_homogeneous(x in -120..=120_i32, beta in 0..=30_i32, exponent in -30..=30_i32, t in 0..=120_usize) {
        let c = 2.0_f64.powi(exponent);
        let (x, beta) = (f64::from(x) / 100.0, f64::from(beta) / 100.0);
        for start in [Start::T, Start::U] {
            let one = momentum::ln_value(start, t, x, beta).unwrap();
            let two = momentum::ln_value(start, t, c * x, c * c * beta).unwrap();
            prop_assert_eq!(one.sign, two.sign);
            if one.sign != 0 {
                let shifted = one.ln_abs + t as f64 * c.ln();
                let size = 1.0 + one.ln_abs.abs() + t as f64 * c.ln().abs();
                prop_assert!((two.ln_abs - shifted).abs() <= slack(0) * size);
            }
        }
    }

    /// A + sI has the shift moved by s and nothing else changed (erratum 2.5).
    #[test]
    fn shifting_changes_nothing(lower in -50..=50_i32, width in 1..=64_i32, gap in 1..=32_i32, s in -64..=64_i32) {
        // Multiples of 1/64: every sum below is exact.
        let unit = |v: i32| f64::from(v) / 64.0;
        let (lower, upper) = (unit(lower), unit(lower + width));
        let lambda1 = upper + unit(gap);
        let one = Shift::new(lambda1, lower, upper).unwrap();
        let two = Shift::new(lambda1 + unit(s), lower + unit(s), upper + unit(s)).unwrap();
        prop_assert_eq!(one.growth(), two.growth());
        prop_assert_eq!(one.shift() + unit(s), two.shift());
    }

    /// More steps: the envelopes fall, the relative variance rises. More noise: every variance rises.
    #[test]
    fn monotone_in_time_and_noise(
        lambda2 in 0..=99_i32, momentum in 0..=99_i32, noise in decimal(0..=50, 100.0), more in decimal(1..=50, 100.0),
        t in 0..=80_usize,
    ) {
        let beta = 0.25 * f64::from(momentum) / 100.0;
        let growth = Growth::new(1.0, f64::from(lambda2) / 100.0, beta).unwrap();
        let room = slack(t) / growth.discriminant().sqrt();
        for start in [Start::T, Start::U] {
            let at = |t| growth.ln_envelope(start, t).unwrap();
            prop_assert!(at(t + 1) <= at(t) + room, "{start:?}");
        }
        let low = Covariance::new(1.0, beta, noise).unwrap();
        let high = Covariance::new(1.0, beta, noise + more).unwrap();
        prop_assert!(low.relative(t + 1).unwrap() >= low.relative(t).unwrap() * (1.0 - room));
        prop_assert!(high.lemma_sum(t).unwrap() >= low.lemma_sum(t).unwrap());
        prop_assert!(high.sharp_binomial(t).unwrap() >= low.sharp_binomial(t).unwrap());
        prop_assert!(excess(1.0, beta, noise + more).unwrap() > excess(1.0, beta, noise).unwrap());
        let factor = |s| epoch_factor_bound(&growth, s, t + 1, Spread::Any).unwrap();
        prop_assert!(factor(noise + more) >= factor(noise));
        if t > 0 {
            prop_assert!(low.breaking_variance(t + 1).unwrap() <= low.breaking_variance(t).unwrap() * (1.0 + room));
        }
    }

    /// Harder targets never cost less.
    #[test]
    fn monotone_in_the_target(lambda2 in 1..=99_i32, digits in 1..=9_i32, failure in 1..=9_i32) {
        let growth = Growth::optimal(1.0, f64::from(lambda2) / 100.0).unwrap();
        let (epsilon, delta) = (10.0_f64.powi(-digits), 0.5_f64.powi(failure));
        let easy = MiniBatch::new(&growth, delta, epsilon).unwrap();
        let strict = MiniBatch::new(&growth, delta / 2.0, epsilon / 2.0).unwrap();
        prop_assert!(strict.iterations() >= easy.iterations());
        prop_assert!(strict.s_op_max() < easy.s_op_max());
        prop_assert!(strict.closed_form() >= strict.iterations());
        let easy = VarianceReduced::new(&growth, delta, 0.02).unwrap();
        let strict = VarianceReduced::new(&growth, delta / 2.0, 0.01).unwrap();
        prop_assert!(strict.iterations() >= easy.iterations() && strict.contraction() < easy.contraction());
        prop_assert!(strict.epochs(0.5, epsilon).unwrap() <= easy.epochs(0.5, epsilon).unwrap());
    }
}
