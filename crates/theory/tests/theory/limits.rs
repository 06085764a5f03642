//! Bad input is an error with a name; nothing panics, hangs or returns NaN.

use favard_theory::{
    Covariance, ErrorKind, Family, Growth, HeavyBall, MiniBatch, Optimal, Recurrence, Shift,
    Spread, Start, Triple, VarianceReduced, anchor_factor, as_printed, ball_coefficient, block,
    chebyshev, contraction_breaking_variance, contraction_rate, epoch_covariance,
    epoch_factor_bound, excess, lemma_pcp, measure, momentum, noise_ball,
    planner::{Estimates, Target, plan},
    second_moment::{
        Anchored, Epoch, Finite, FullCovariance, GaussianRows, NoiseFn, Propagation, Scaled,
        mean_square_rate, stability_gain,
    },
    sin2, tan2,
};
use ndarray::{Array1, Array2, array};
use proptest::prelude::*;

use crate::support::config;

/// Numbers that break formulas.
fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(0.25),
        Just(-1.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        Just(f64::MAX),
        Just(1e-160),
        Just(1e160),
        Just(1.0 - f64::EPSILON / 2.0),
        Just(1.0 + f64::EPSILON),
        -2.0..2.0_f64,
    ]
}

/// A value that is returned is a number.
fn number(value: favard_theory::Result<f64>) -> bool {
    value.map_or(true, |v| !v.is_nan())
}

proptest! {
    #![proptest_config(config("proptest-regressions/limits.txt"))]

    /// Every scalar function, on numbers that break formulas.
    #[test]
    fn scalars_never_panic(a in wild(), b in wild(), c in wild(), d in wild(), t in 0..=70_usize, far in prop::bool::ANY) {
        let tick = if far { t * 1_000_000_007 } else { t };
        for start in [Start::T, Start::U] {
            prop_assert!(number(momentum::value(start, tick, a, b)));
            prop_assert!(number(momentum::ln_value(start, tick, a, b).map(|p| p.ln_abs)));
            let _ = momentum::sequence(start, t, a, b);
            prop_assert!(number(sin2(start, tick, &[a, b], &[c, d], 0.2)));
            let _ = block::exact_ratio(start, tick, &[a, b, c], 1, d);
        }
        prop_assert!(number(chebyshev::t(tick, a)) && number(chebyshev::u(tick, a)));
        prop_assert!(number(tan2(a)) && number(anchor_factor(a)) && number(block::tangent(a)));
        prop_assert!(number(contraction_breaking_variance(a, b)) && number(contraction_rate(a, b, c)));
        prop_assert!(number(excess(a, b, c)), "{a} {b} {c}: {:?}", excess(a, b, c));
        let _ = lemma_pcp(a, &[t, tick, 3]);
        let _ = as_printed::lemma_op(t, a, b);
        let _ = HeavyBall::polyak(a, b).map(|h| h.batch(c));
        let _ = Shift::new(a, b, c);
        if let Ok(growth) = Growth::new(a, b, c) {
            for start in [Start::T, Start::U] {
                prop_assert!(number(growth.bound(start, tick, d)));
                prop_assert!(number(growth.ln_envelope(start, tick)));
                let _ = growth.iterations(start, d, 1e-3);
                let _ = block::factor(&growth, start, tick);
            }
            let _ = growth.iterations_closed_form(d, 1e-3);
            prop_assert!(!growth.ln_rate().is_nan() && !growth.complexity().is_nan());
            let _ = MiniBatch::new(&growth, d, 0.1).map(|m| m.batch(a));
            let _ = VarianceReduced::new(&growth, 0.1, d).map(|m| (m.batch(a), m.epochs(b, c)));
            prop_assert!(number(ball_coefficient(&growth, d)));
            prop_assert!(number(noise_ball(&growth, &[(d, a)], t)));
            prop_assert!(number(epoch_factor_bound(&growth, d, t, Spread::Flat)));
            prop_assert!(number(as_printed::theorem1_body(&growth, tick, d)));
            prop_assert!(number(as_printed::theorem1_appendix(&growth, tick, d)));
            let _ = as_printed::svrg_batch(&growth, d, d, t, a);
        }
        if let Ok(bound) = Covariance::new(a, b, c) {
            prop_assert!(number(bound.lemma_sum(t)) && number(bound.lemma_sum_quadratic(t)));
            prop_assert!(number(bound.relative(t)) && number(bound.sharp_binomial(tick)));
            prop_assert!(number(bound.sharp_exponential(tick)) && number(bound.paper_binomial(tick)));
            prop_assert!(number(epoch_covariance(&bound, d, t)));
            let _ = (bound.sharp_linear(tick), bound.paper_linear(tick), bound.breaking_time(t));
            prop_assert!(number(bound.breaking_variance(t)));
        }
    }

    /// Families, measures and the optimal combination.
    #[test]
    fn families_never_panic(a in wild(), b in wild(), c in wild(), x in wild(), degree in 0..=6_usize) {
        let _ = Recurrence::new(vec![Triple { a, b, c }; degree]).map(|r| {
            (r.values(x), r.ln_values(x), r.monomials(degree))
        });
        let families = [
            Family::new(vec![a; degree], vec![b; degree]),
            Family::legendre(degree).and_then(|f| f.on_interval(a, b)),
            measure::from_moments(&[1.0, a, b, c, x]),
            measure::from_samples(&[a, b, c, x], &[1.0, 2.0, c, 1.0], degree),
            Family::legendre(4).and_then(|f| measure::from_modified_moments(&[1.0, a, b, c, x], &f)),
        ];
        for family in families.into_iter().flatten() {
            let _ = family.gauss();
            let _ = family.expectation(|y| y * x);
            if let Ok(optimal) = Optimal::new(family, x) {
                let _ = (optimal.values(a), optimal.mean_square(degree), optimal.monomials(degree));
                let _ = optimal.four_term(degree);
            }
        }
    }

    /// Second moments and planners.
    #[test]
    fn moments_and_plans_never_panic(a in wild(), b in wild(), c in wild(), d in wild(), t in 0..=12_usize) {
        let mean = array![[a, b], [b, c]];
        let noise = NoiseFn::new(2, |p| &p * d);
        let _ = mean_square_rate(&noise, mean.view(), c);
        let _ = stability_gain(&noise, mean.view(), c);
        let w = array![c, d];
        for start in [Start::T, Start::U] {
            let _ = Epoch::new(&noise, mean.view(), b, start, t).map(|e| (e.worst(), e.factor(w.view())));
            let _ = Propagation::new(&noise, mean.view(), b, start, w.view()).map(|mut p| p.advance_by(t));
        }
        let _ = FullCovariance::new(&noise, mean.view(), b).map(|mut f| (f.advance(), f.norm()));
        let _ = Finite::new(vec![mean.clone(), Array2::eye(2)], vec![c, d]).map(|f| {
            (f.sigma_norm(), f.s_op(), f.sigma2(), f.frobenius())
        });
        let _ = GaussianRows::new(mean.view()).map(|g| Scaled::new(g, a).is_ok());
        let _ = Anchored::new(&noise, w.clone());
        let _ = block::distance(mean.view(), Array2::eye(2).view());
        let estimates = Estimates {
            lambda1: a, lambda2: b, lower: Some(c), dim: t, sigma_norm: d, s_op: a, kappa: b,
            terms: (t > 3).then_some(t), cos2: c,
        };
        let target = Target { epsilon: d, delta: c, largest_batch: (t > 6).then_some(t) };
        let _ = plan(&estimates, &target);
        let _ = plan(&Estimates { lower: None, cos2: 0.5, ..estimates }, &Target::new(0.1, 0.1));
    }
}

/// Errors carry names and numbers.
#[test]
fn errors_name_their_numbers() {
    let error = Growth::new(1.0, 0.9, f64::NAN).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { name: "beta", .. }), "{error}");
    let error = Growth::new(1.0, 0.9, -0.1).unwrap_err();
    assert_eq!(error.to_string(), "`beta` = -0.1 must be at least 0");
    let error = Growth::new(1.0, 0.9, 0.25).unwrap_err();
    assert_eq!(error.to_string(), "no gap: the top eigenvalue 1 must exceed 1");
    let error = block::distance(Array2::eye(3).view(), Array2::eye(2).view()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Shape { expected: 3, found: 2, .. }), "{error}");
    let skew = array![[0.0, 1.0], [-1.0, 0.0]];
    let noise = NoiseFn::new(2, |p| p.to_owned());
    let error = mean_square_rate(&noise, skew.view(), 0.1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotSymmetric { row: 1, col: 0, .. }), "{error}");
}

/// A noise map that breaks its contract is caught, not propagated.
#[test]
fn a_broken_noise_map_is_an_error() {
    let (mean, w) = (Array2::<f64>::eye(2), Array1::ones(2));
    let nan = NoiseFn::new(2, |p| &p * f64::NAN);
    let mut run = Propagation::new(&nan, mean.view(), 0.1, Start::U, w.view()).unwrap();
    assert!(matches!(run.advance().unwrap_err().kind(), ErrorKind::NonFinite { .. }));
    assert!(mean_square_rate(&nan, (&mean * 0.5).view(), 0.1).is_err());
    let small = NoiseFn::new(2, |_| Array2::zeros((1, 1)));
    let mut run = Propagation::new(&small, mean.view(), 0.1, Start::U, w.view()).unwrap();
    assert!(matches!(run.advance().unwrap_err().kind(), ErrorKind::Shape { .. }));
}
