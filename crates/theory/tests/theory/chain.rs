//! The chain: exact covariance ≤ lemma sum ≤ sharp binomial ≤ sharp exponential ≤ the paper's
//! exponential, with its vector, scalar and total-variance corollaries and the variance-reduced lemma.

use favard_theory::{
    Covariance, ErrorKind, Result, Start, anchor_factor, epoch_covariance, lemma_pcp,
    second_moment::{Anchored, Finite, FullCovariance, Propagation},
};
use ndarray::{Array1, Array2};
use proptest::prelude::*;

use crate::support::{Problem, config, direction, matrix, problem, slack};

const TICKS: usize = 40;

fn bound(problem: &Problem, noise: f64) -> Covariance {
    Covariance::new(problem.spectrum[0].abs(), problem.beta, noise).unwrap()
}

/// A bound beyond the range of `f64` is above anything.
fn value(bound: Result<f64>) -> f64 {
    bound.unwrap_or_else(|error| match error.kind() {
        ErrorKind::NonFinite { name: "bound", .. } => f64::INFINITY,
        other => panic!("{other}"),
    })
}

proptest! {
    #![proptest_config(config("proptest-regressions/chain.txt"))]

    /// Lemma covbound and Corollary covbound, sharp and as stated (errata 3.2, 3.4, 3.5), with equality
    /// of the first link for d = 1.
    #[test]
    fn covariance_chain(problem in problem(19)) {
        let noise = &problem.noise;
        let bound = bound(&problem, noise.sigma_norm().unwrap());
        let sums = bound.lemma_sums(TICKS).unwrap();
        let mut full = FullCovariance::new(noise, noise.mean().view(), problem.beta).unwrap();
        for (t, &sum) in sums.iter().enumerate() {
            let room = 1.0 + slack(t);
            let exact = full.norm().unwrap();
            prop_assert!(exact <= sum * room, "t = {t}: {exact:e} > {sum:e}");
            if problem.spectrum.len() == 1 {
                prop_assert!(exact >= sum / room, "t = {t}: {exact:e} < {sum:e}, d = 1");
            }
            let binomial = value(bound.sharp_binomial(t));
            let exponential = value(bound.sharp_exponential(t));
            prop_assert!(sum <= binomial * room, "t = {t}: {sum:e} > {binomial:e}");
            prop_assert!(binomial <= exponential * room);
            prop_assert!(binomial <= value(bound.paper_binomial(t)) * room);
            prop_assert!(exponential <= value(bound.paper_exponential(t)) * room);
            if let Some(linear) = bound.sharp_linear(t).unwrap() {
                prop_assert!(exponential <= linear * room);
                if let Some(paper) = bound.paper_linear(t).unwrap() {
                    prop_assert!(linear <= paper * room);
                }
            }
            full.advance().unwrap();
        }
    }

    /// Lemma covbound in the contraction regime: for λ₁ < 2√β, U_k(z) becomes k + 1 (erratum 3.2).
    #[test]
    fn covariance_in_the_contraction_regime(problem in problem(60)) {
        let noise = &problem.noise;
        let bound = bound(&problem, noise.sigma_norm().unwrap());
        let mut full = FullCovariance::new(noise, noise.mean().view(), problem.beta).unwrap();
        for t in 0..=12 {
            let (exact, sum) = (full.norm().unwrap(), bound.lemma_sum(t).unwrap());
            prop_assert!(exact <= sum * (1.0 + slack(t)), "t = {t}: {exact:e} > {sum:e}");
            full.advance().unwrap();
        }
    }

    /// The O(t) recurrence equals the O(t²) sum of the lemma, β = 0 and λ₁ = 2√β included (erratum 3.3).
    #[test]
    fn lemma_sum_two_ways(lambda in 1..=20_i32, momentum in 0..=25_i32, noise in 0..=40_i32, t in 0..=40_usize) {
        let lambda = f64::from(lambda) / 10.0;
        let beta = lambda * lambda / 4.0 * f64::from(momentum) / 20.0;
        let bound = Covariance::new(lambda, beta, f64::from(noise) / 20.0).unwrap();
        let (fast, slow) = (bound.lemma_sum(t).unwrap(), bound.lemma_sum_quadratic(t).unwrap());
        // At the double root the recurrence's rounding grows with t² instead of t.
        let allowed = slack(t) * (t + 1) as f64;
        prop_assert!((fast - slow).abs() <= allowed * slow, "{fast:e} {slow:e}");
    }

    /// Corollaries veccov and numcov: a vector's covariance, and one coordinate's variance, are below the
    /// matrix's (errata 3.5, 3.6).
    #[test]
    fn vector_and_scalar_corollaries(
        (problem, w0, u) in problem(19).prop_flat_map(|p| {
            let dim = p.spectrum.len();
            (Just(p), direction(dim), direction(dim))
        })
    ) {
        let noise = &problem.noise;
        let bound = bound(&problem, noise.sigma_norm().unwrap());
        let mut run = start(noise, &problem, &w0, Start::U);
        for t in 0..=TICKS {
            let sum = bound.lemma_sum(t).unwrap() * (1.0 + slack(t));
            prop_assert!(run.covariance_norm() <= sum, "t = {t}");
            prop_assert!(run.variance_along(u.view()).unwrap() <= sum, "t = {t}");
            run.advance().unwrap();
        }
    }

    /// Total variance without √d: with s_op = ‖E NᵀN‖ in the place of ‖Σ‖, and the hybrid form (erratum
    /// 3.7). Attained for d = 1.
    #[test]
    fn total_variance(
        (problem, w0) in problem(19).prop_flat_map(|p| {
            let dim = p.spectrum.len();
            (Just(p), direction(dim))
        })
    ) {
        let noise = &problem.noise;
        let sigma = noise.sigma_norm().unwrap();
        let by_s_op = bound(&problem, noise.s_op().unwrap());
        let by_sigma = bound(&problem, sigma);
        let root_d = (problem.spectrum.len() as f64).sqrt();
        let mut run = start(noise, &problem, &w0, Start::U);
        for t in 0..=TICKS {
            let room = 1.0 + slack(t);
            let total = run.total_variance();
            let sharp = by_s_op.lemma_sum(t).unwrap();
            prop_assert!(total <= sharp * room, "t = {t}: {total:e} > {sharp:e}");
            if problem.spectrum.len() == 1 {
                prop_assert!(total >= sharp / room, "t = {t}, d = 1");
            }
            let sum = by_sigma.lemma_sum(t).unwrap();
            if sigma > 0.0 {
                let hybrid = noise.frobenius() / sigma * sum;
                prop_assert!(total <= hybrid * room, "t = {t}: {total:e} > {hybrid:e}");
                prop_assert!(hybrid <= root_d * sum * room);
            }
            run.advance().unwrap();
        }
        prop_assert!(noise.s_op().unwrap() <= root_d * sigma * (1.0 + slack(0)));
        prop_assert!(noise.s_op().unwrap() <= noise.sigma2().unwrap() * (1.0 + slack(0)));
    }

    /// Lemma svrgvar with 4θ(1−θ), random anchors (erratum 3.9).
    #[test]
    fn variance_reduced_lemma(
        (spectrum, n, w0) in (2..=4_usize).prop_flat_map(|dim| (
            proptest::collection::vec(-10..=10_i32, dim - 1), matrix(dim), direction(dim),
        )),
        momentum in 0..=19_i32,
        size in 1..=10_i32,
    ) {
        // A diagonal mean of spectral radius 1, so that u₁ = e₁; two points ±N.
        let dim = w0.len();
        let mean = Array2::from_diag(&Array1::from_shape_fn(dim, |i| {
            if i == 0 { 1.0 } else { f64::from(spectrum[i - 1]) / 10.0 }
        }));
        let n = n * (f64::from(size) / 20.0);
        let noise = Finite::new(vec![&mean + &n, &mean - &n], vec![0.5, 0.5]).unwrap();
        let beta = 0.25 * f64::from(momentum) / 20.0;
        let theta = (1.0 - w0[0] * w0[0]).clamp(0.0, 1.0);
        let sigma = noise.sigma_norm().unwrap();
        let bound = Covariance::new(1.0, beta, sigma).unwrap();
        let anchored = Anchored::new(&noise, w0.clone()).unwrap();
        let mut run =
            Propagation::new(&anchored, mean.view(), beta, Start::U, w0.view()).unwrap();
        for t in 0..=TICKS {
            let most = epoch_covariance(&bound, theta, t).unwrap();
            let room = 1.0 + slack(t);
            // The projector leaves a rounding of the whole sum behind.
            let rounding = slack(t) * bound.lemma_sum(t).unwrap();
            prop_assert!(run.covariance_norm() <= most * room + rounding, "t = {t}, theta {theta}");
            run.advance().unwrap();
        }
    }

    /// Erratum 3.9, the term behind 4θ(1−θ): ‖(I−wwᵀ)Xw‖² for a symmetric contraction X with Xu₁ = u₁.
    #[test]
    fn anchor_factor_bounds_every_contraction(
        (w, eigenvalues, basis) in (2..=4_usize).prop_flat_map(|dim| (
            direction(dim), proptest::collection::vec(-10..=10_i32, dim - 1), direction(dim - 1),
        ))
    ) {
        let dim = w.len();
        // X = 1 ⊕ H diag(x) H with a Householder reflection H of the lower block.
        let reflect = Array2::from_shape_fn((dim - 1, dim - 1), |(i, j)| {
            f64::from(u8::from(i == j)) - 2.0 * basis[i] * basis[j]
        });
        let values: Array1<f64> = eigenvalues.iter().map(|&v| f64::from(v) / 10.0).collect();
        let lower = reflect.dot(&Array2::from_diag(&values)).dot(&reflect);
        let x = Array2::from_shape_fn((dim, dim), |(i, j)| match (i, j) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            _ => lower[[i - 1, j - 1]],
        });
        let image = x.dot(&w);
        let moved = &image - &(&w * w.dot(&image));
        let theta = (1.0 - w[0] * w[0]).clamp(0.0, 1.0);
        prop_assert!(moved.dot(&moved) <= anchor_factor(theta).unwrap() + slack(0));
    }

    /// Lemma pcp in its sharp form (erratum 3.4).
    #[test]
    fn sharp_lemma_pcp(z in 101..=400_i32, degrees in proptest::collection::vec(0..=60_usize, 1..=6)) {
        let sides = lemma_pcp(f64::from(z) / 100.0, &degrees).unwrap();
        let rounding = slack(0) * (1.0 + sides.ln_paper.abs());
        prop_assert!(sides.ln_product <= sides.ln_sharp + rounding);
        prop_assert!(sides.ln_sharp <= sides.ln_paper + rounding);
        if degrees.len() == 1 {
            prop_assert!((sides.ln_product - sides.ln_sharp).abs() <= rounding);
        }
    }
}

fn start<'a>(
    noise: &'a Finite,
    problem: &Problem,
    w0: &Array1<f64>,
    start: Start,
) -> Propagation<&'a Finite> {
    Propagation::new(noise, noise.mean().view(), problem.beta, start, w0.view()).unwrap()
}

/// Erratum 3.4: the 4 of the sharp Lemma pcp cannot be improved; the ratio of the sides tends to 1.
#[test]
fn sharp_lemma_pcp_is_tight() {
    let sides = lemma_pcp(1.5, &[30, 30, 30]).unwrap();
    let gap = sides.ln_sharp - sides.ln_product;
    assert!(gap.abs() <= slack(0) * sides.ln_sharp, "{gap:e}");
}

/// Erratum 3.5: the exponent ‖Σ‖/D is asymptotically exact, the paper's is four times too large.
#[test]
fn sharp_exponent_is_tight() {
    let (sigma, t) = (1e-9, 1_000_000);
    let bound = Covariance::new(1.0, 0.2025, sigma).unwrap();
    let rate = bound.relative(t).unwrap() / (sigma * t as f64 / 0.19);
    // First order in σt/D = 5e−3, and the start's O(1/t).
    assert!((rate - 1.0).abs() < 5e-3, "{rate}");
}

/// Erratum 3.9: a reflection attains 4θ(1−θ), so the factor is the smallest one possible.
#[test]
fn anchor_factor_is_tight() {
    for k in 0..=50 {
        let theta = f64::from(k) / 100.0;
        let (c, s) = ((1.0 - theta).sqrt(), theta.sqrt());
        // X = diag(1, −1): Xw = (c, −s), wᵀXw = c² − s².
        let overlap = c * c - s * s;
        let moved = (c - c * overlap).powi(2) + (-s - s * overlap).powi(2);
        assert!((moved - anchor_factor(theta).unwrap()).abs() <= slack(0), "theta {theta}");
    }
}
