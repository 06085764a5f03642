//! The printed statements are false: every counterexample of the errata, against `as_printed`.

use favard_theory::{
    Family, Growth, MiniBatch, Optimal, Start, VarianceReduced, as_printed, block, momentum,
    second_moment::Finite, sin2,
};
use ndarray::{Array2, array};

use crate::support::{GOLDEN, slack};

/// Erratum 1.1: λ = (1, .9), β = .2025, c² = ½: printed Theorem 1 fails for the U start from t = 5 on,
/// by 7.4e3 at t = 400; the corrected bound holds throughout.
#[test]
fn theorem_1_fails_for_algorithm_1() {
    let growth = Growth::optimal(1.0, 0.9).unwrap();
    for t in 1..=400 {
        let truth = sin2(Start::U, t, &[1.0, 0.9], &[0.5, 0.5], 0.2025).unwrap();
        let printed = as_printed::theorem1_body(&growth, t, 0.5).unwrap();
        assert_eq!(truth > printed, t >= 5, "t = {t}");
        assert!(truth <= growth.bound(Start::U, t, 1.0).unwrap() * (1.0 + slack(t)));
        if t == 400 {
            assert!((truth / printed / 7.4e3 - 1.0).abs() < 0.01, "{}", truth / printed);
        }
    }
}

/// Erratum 1.2: the printed arccos has argument 2.22 at x = .9, β = .2025, and a wrong value elsewhere.
#[test]
fn lemma_op_fails() {
    assert_eq!(as_printed::lemma_op(7, 0.9, 0.2025).unwrap(), None);
    let printed = as_printed::lemma_op(3, 0.2, 0.2025).unwrap().unwrap();
    let truth = momentum::value(Start::T, 3, 0.2, 0.2025).unwrap();
    assert!((printed / truth - 1.0).abs() > 0.5);
}

/// Erratum 1.3: with (P), β = 0 gives λ^t/2.
#[test]
fn power_iteration_is_the_u_family() {
    for t in 1..=20 {
        let half = momentum::value(Start::T, t, 0.9, 0.0).unwrap();
        let printed = as_printed::without_momentum(t, 0.9).unwrap();
        assert!((printed / half - 2.0).abs() <= 64.0 * f64::EPSILON);
    }
}

/// Erratum 2.1: λ = (1, .95), β = .2025, c² = .99, T start: true .00903 against printed .00771 at t = 1,
/// violated at t = 1…13 (the errata list stops at 8; checked to 50 digits).
#[test]
fn general_theorem_fails_above_the_knee() {
    let growth = Growth::new(1.0, 0.95, 0.2025).unwrap();
    let mut violated = vec![];
    for t in 1..=40 {
        let truth = sin2(Start::T, t, &[1.0, 0.95], &[0.99, 0.01], 0.2025).unwrap();
        let printed = as_printed::theorem1_appendix(&growth, t, 0.99).unwrap();
        if truth > printed {
            violated.push(t);
        }
        if t == 1 {
            assert!((truth - 0.00903).abs() < 5e-6 && (printed - 0.00771).abs() < 5e-6);
        }
        assert!(truth <= growth.bound(Start::T, t, 0.01 / 0.99).unwrap() * (1.0 + slack(t)));
    }
    assert_eq!(violated, (1..=13).collect::<Vec<_>>());
}

/// Erratum 2.4: λ₂ = .01, ε = 1e−6: .07 iterations as printed.
#[test]
fn printed_iteration_count_vanishes() {
    let growth = Growth::optimal(1.0, 0.01).unwrap();
    assert!((as_printed::iterations(&growth, 1e-6).unwrap() - 0.07).abs() < 5e-3);
    assert!(growth.iterations(Start::T, 1.0, 1e-6).unwrap() >= 1);
}

/// Erratum 2.7: λ_d = −.95 slows the rate from .627 to .873; |λ_d| > λ₁ and a dilation are refused.
#[test]
fn negative_eigenvalues_matter() {
    let slow = Growth::from_spectrum(&[1.0, 0.9, -0.95], 0.2025).unwrap();
    let fast = Growth::from_spectrum(&[1.0, 0.9, -0.2], 0.2025).unwrap();
    assert!((slow.ln_rate().exp() - 0.873).abs() < 5e-4);
    assert!((fast.ln_rate().exp() - 0.627).abs() < 5e-4);
    assert!(Growth::from_spectrum(&[1.0, -1.1], 0.2).is_err());
    assert!(Growth::from_spectrum(&[1.0, 0.3, -0.3, -1.0], 0.2).is_err());
}

/// Erratum 3.1: E‖A_t − A‖² of a batch is not σ²/s. Independent signs on the diagonal, d = 2, s = 2: .75,
/// not .5; but Σ_s = Σ_1/s exactly.
#[test]
fn spectral_variance_does_not_halve() {
    let signs = [-1.0, 1.0];
    let mut single = vec![];
    for a in signs {
        for b in signs {
            single.push(Array2::from_diag(&array![a, b]));
        }
    }
    let mut pairs = vec![];
    for x in &single {
        for y in &single {
            pairs.push((x + y) * 0.5);
        }
    }
    let one = Finite::new(single, vec![0.25; 4]).unwrap();
    let two = Finite::new(pairs, vec![1.0 / 16.0; 16]).unwrap();
    assert!((one.sigma2().unwrap() - 1.0).abs() <= GOLDEN);
    assert!((two.sigma2().unwrap() - 0.75).abs() <= GOLDEN);
    assert!((two.sigma_norm().unwrap() - 0.5 * one.sigma_norm().unwrap()).abs() <= GOLDEN);
    assert!((two.s_op().unwrap() - 0.5 * one.s_op().unwrap()).abs() <= GOLDEN);
}

/// Erratum 3.8: Theorem nonsvrg's T is too short even without noise; d = 2, w₀ = (½, √3/2), δ = .1.
#[test]
fn printed_nonsvrg_length_is_too_short() {
    for (lambda2, epsilon, ratio, digits) in [
        (0.99, 1e-3, 1.09, 5e-3),
        (0.999, 1e-4, 1.86, 5e-3),
        (0.5, 1e-3, 1.7, 0.05),
        (0.1, 1e-3, 29.0, 0.5),
    ] {
        let growth = Growth::optimal(1.0, lambda2).unwrap();
        let printed = as_printed::nonsvrg_iterations(&growth, 0.1, epsilon).unwrap();
        if lambda2 == 0.1 {
            assert!((printed - 0.64).abs() < 0.2);
        }
        // ⌈T⌉ as an integer: at most 400 here.
        let ticks = (0..400).find(|&t| f64::from(t) >= printed).unwrap();
        let ticks = usize::try_from(ticks).unwrap();
        let error = |t| sin2(Start::U, t, &[1.0, lambda2], &[0.25, 0.75], growth.beta()).unwrap();
        let found = error(ticks) / epsilon;
        assert!((found - ratio).abs() <= digits, "λ₂ = {lambda2}, T = {ticks}: {found}");
        // The corrected T leaves room for the noise as well.
        assert!(error(MiniBatch::new(&growth, 0.1, epsilon).unwrap().iterations()) <= epsilon);
    }
}

/// Erratum 3.8: printed/correct T: 15.5/22 (λ₂ = .9, δ = .01, ε = 1e−3), 227/300 (.999, .05, 1e−6).
#[test]
fn printed_and_corrected_lengths() {
    for (lambda2, delta, epsilon, printed, correct) in
        [(0.9, 0.01, 1e-3, 15.5, 22), (0.999, 0.05, 1e-6, 227.0, 300)]
    {
        let growth = Growth::optimal(1.0, lambda2).unwrap();
        let found = as_printed::nonsvrg_iterations(&growth, delta, epsilon).unwrap();
        assert!((found / printed - 1.0).abs() < 5e-3, "{found}");
        let found = MiniBatch::new(&growth, delta, epsilon).unwrap().iterations();
        // The errata give three digits.
        assert!(found.abs_diff(correct) <= 1, "{found}");
    }
}

/// Erratum 3.10 (d): 4c/(1−√c)² ≤ 1/9 needs c ≤ 1/49; at c = 1/16 it is 4/9.
#[test]
fn printed_epoch_contraction_fails() {
    let growth = Growth::optimal(1.0, 0.9).unwrap();
    let at = |c: f64| VarianceReduced::new(&growth, 0.01, c).unwrap().contraction();
    assert!((at(1.0 / 16.0) - 4.0 / 9.0).abs() <= GOLDEN);
    assert!((at(1.0 / 49.0) - as_printed::svrg_contraction()).abs() <= GOLDEN);
    assert!(at(1.0 / 48.0) > as_printed::svrg_contraction());
}

/// Erratum 3.11: the printed batch of Theorem svrg is not scale invariant (A → 2A doubles it); with the
/// exponent 3/2, and in the corrected form, it is.
#[test]
fn printed_svrg_batch_is_not_scale_invariant() {
    let (once, twice) = (Growth::optimal(1.0, 0.9).unwrap(), Growth::optimal(2.0, 1.8).unwrap());
    let printed = |g, s2| as_printed::svrg_batch(g, 0.01, 0.0625, 10, s2).unwrap();
    assert!((printed(&twice, 360.0) / printed(&once, 90.0) - 2.0).abs() <= GOLDEN);
    let fixed = |g, s2| as_printed::svrg_batch_three_halves(g, 0.01, 0.0625, 10, s2).unwrap();
    assert!((fixed(&twice, 360.0) / fixed(&once, 90.0) - 1.0).abs() <= GOLDEN);
    let batch = |g, s2| VarianceReduced::new(g, 0.01, 0.0625).unwrap().batch(s2).unwrap();
    assert_eq!(batch(&twice, 360.0), batch(&once, 90.0));
    let plain = |g, s2| MiniBatch::new(g, 0.01, 1e-3).unwrap().batch(s2).unwrap();
    assert_eq!(plain(&twice, 360.0), plain(&once, 90.0));
}

/// Erratum 4.1: λ = (1, .97, .95), W₀ = [e₁, e₂ + .05 e₃]: true over printed distance reaches 1.046.
#[test]
fn printed_block_theorem_fails() {
    let spectrum = [1.0, 0.97, 0.95];
    let identity = Array2::<f64>::eye(3);
    let target = identity.slice(ndarray::s![.., ..2]);
    let w0 = array![[1.0, 0.0], [0.0, 1.0], [0.0, 0.05]];
    let tangent = block::tangent(block::distance(w0.view(), target).unwrap()).unwrap();
    // 2√β < λ₂ = .97 and λ₃ = .95 ≥ 2√β: the branch with constant 1.
    let beta = 0.2025;
    let growth = Growth::new(0.97, 0.95, beta).unwrap();
    let mut worst = 0.0_f64;
    for t in 1..=30 {
        let p: Vec<f64> =
            spectrum.iter().map(|&x| momentum::value(Start::T, t, x, beta).unwrap()).collect();
        let w = Array2::from_shape_fn((3, 2), |(i, j)| p[i] * w0[[i, j]]);
        let truth = block::distance(w.view(), target).unwrap();
        worst = worst.max(truth / (tangent * as_printed::block_factor(&growth, t).unwrap()));
        assert!(truth <= tangent * block::factor(&growth, Start::T, t).unwrap());
    }
    assert!((worst - 1.046).abs() < 2e-3, "{worst}");
}

/// Erratum 4.5: the printed Theorem optimal has mean square .0519 at t = 5, the correct one .0273.
#[test]
fn printed_optimal_is_not_optimal() {
    let optimal = Optimal::new(Family::legendre(20).unwrap(), 1.001).unwrap();
    assert!((as_printed::optimal_mean_square(&optimal, 5).unwrap() - 0.0519).abs() < 5e-5);
    assert!((optimal.mean_square(5).unwrap() - 0.0273).abs() < 5e-5);
    for t in 1..=20 {
        let printed = as_printed::optimal_mean_square(&optimal, t).unwrap();
        assert!(printed > 1.05 * optimal.mean_square(t).unwrap(), "t = {t}");
    }
}
