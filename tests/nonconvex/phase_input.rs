//! Phase retrieval from input that is wrong or says too little, and its budgets.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_models::{Error, ErrorKind, PhaseRetrieval};
use favard_operator::{BlockRef, Dense, FnOperator, LinearOperator, Scalar};
use ndarray::Array2;

use crate::phase::problem;

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn bad_intensities_have_names() {
    let (a, _, mut y) = problem::<f64>(40, 10, 1);
    let solve = |y: &[f64]| PhaseRetrieval::new().solve(&a, y);
    assert_eq!(message(solve(&y[..39])), "intensities: expected 40, found 39");
    y[7] = -0.5;
    let text = "weight 7: -0.5 as an intensity must be finite and not negative";
    assert_eq!(message(solve(&y)), text);
    y[7] = f64::NAN;
    assert!(message(solve(&y)).starts_with("weight 7: NaN as an intensity"));
    y[7] = f64::INFINITY;
    assert!(message(solve(&y)).starts_with("weight 7: inf as an intensity"));
}

/// The zero signal, and signals that no row sees: said, not guessed.
#[test]
fn an_all_zero_signal() {
    let (a, ..) = problem::<f64>(40, 10, 1);
    let text = message(PhaseRetrieval::new().solve(&a, &[0.0; 40]));
    assert!(text.starts_with("largest intensity: 0 must be above 0"), "{text}");
}

/// Fewer than 2d − 1 intensities do not tell signals apart.
#[test]
fn too_few_intensities() {
    let (a, _, y) = problem::<f64>(18, 10, 1);
    let error = PhaseRetrieval::new().solve(&a, &y).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooFew { needed: 19, found: 18, .. }), "{error}");
    let none = Dense::new(Array2::<f64>::zeros((3, 0))).unwrap();
    assert!(PhaseRetrieval::new().solve(&none, &[1.0; 3]).is_err());
}

/// A single intensity that is all there is: truncation would leave nothing, so it does not.
#[test]
fn one_bright_row() {
    let a =
        Dense::new(Array2::from_shape_fn((40, 1), |(i, _)| f64::from(u8::from(i == 3)))).unwrap();
    let mut y = vec![0.0; 40];
    y[3] = 4.0;
    let found = PhaseRetrieval::new().solve(&a, &y).unwrap();
    assert!((found.signal()[0] - 2.0).abs() < 1e-7 && found.is_certified());
}

/// At the edge of what can be recovered the answer may be wrong: then the certificate says so.
#[test]
fn a_wrong_answer_is_not_certified() {
    for seed in 0..4 {
        let (a, x, y) = problem::<f64>(2 * 40 - 1, 40, seed);
        let found = PhaseRetrieval::new().iterations(2000).solve(&a, &y).unwrap();
        let close =
            |sign: f64| (0..40).all(|i| (sign * found.signal()[i] - x.row(i)[0]).abs() < 1e-3);
        // A stranger's residual: certified means that this one is small, too. Squares of sums of 40
        // products, rounded a few times each, relative to ‖y‖.
        let image = a.multiply(BlockRef::column(found.signal())).unwrap();
        let misfit = |i: usize| (image.row(i)[0].powi(2) - y[i]).powi(2);
        let size = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        let residual = (0..y.len()).map(misfit).sum::<f64>().sqrt() / size;
        assert!((found.residual() - residual).abs() <= 400.0 * f64::EPSILON, "seed {seed}");
        assert_eq!(found.is_certified(), residual <= 1e-8, "seed {seed}: {residual:e}");
        assert!(!found.is_certified() || close(1.0) || close(-1.0), "seed {seed}");
    }
}

#[test]
fn parameters_out_of_range() {
    let (a, _, y) = problem::<f64>(40, 10, 1);
    let text = message(PhaseRetrieval::new().tolerance(f64::NAN).solve(&a, &y));
    assert_eq!(text, "tolerance: NaN must be finite and at least 0");
    let text = message(PhaseRetrieval::new().spectral_tolerance(-1.0).solve(&a, &y));
    assert_eq!(text, "spectral tolerance: -1 must be finite and at least 0");
}

/// Budgets and callbacks are reasons to stop; what was found comes back, and a later call goes on.
#[test]
fn a_budget_is_not_an_error() {
    let (a, x, y) = problem::<f64>(400, 40, 2);
    let partial = PhaseRetrieval::new().iterations(6).solve(&a, &y).unwrap();
    assert_eq!((partial.refinement().stop, partial.refinement().iterations), (Stop::Iterations, 6));
    assert!(!partial.is_certified());
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let rest = PhaseRetrieval::new().solve_from(&a, &y, partial.signal(), go_on).unwrap();
    assert!(rest.is_certified() && (rest.signal()[0].abs() - x.row(0)[0].abs()).abs() < 1e-6);
    let text = message(PhaseRetrieval::new().solve_from(&a, &y, &[1.0; 39], go_on));
    assert_eq!(text, "entries of the start: expected 40, found 39");
    assert!(PhaseRetrieval::new().solve_from(&a, &y, &[f64::NAN; 40], go_on).is_err());

    let stop = |after: usize| {
        let mut seen = 0;
        let mut watch = move |_: &_| {
            seen += 1;
            if seen < after {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(Stop::Cancelled)
            }
        };
        PhaseRetrieval::new().solve_watched(&a, &y, &mut watch).unwrap()
    };
    let early = stop(2);
    assert_eq!(
        (early.spectral().stop, early.refinement().stop),
        (Stop::Cancelled, Stop::Cancelled)
    );
    assert_eq!(early.refinement().iterations, 0);
    let late = stop(30);
    assert_eq!(late.refinement().stop, Stop::Cancelled);
    assert!(late.residual() < early.residual());
}

/// An operator that fails in the middle is an error with its own words.
#[test]
fn a_failing_operator() {
    let broken = FnOperator::new((30, 5), |_: _, _: _| panic!("the detector is off"))
        .with_adjoint(|_, _| panic!("the detector is off"));
    let text = message(PhaseRetrieval::new().solve(&broken, &[1.0; 30]));
    assert!(text.contains("the detector is off"), "{text}");
}

/// Intensities of which powers are no numbers: the signal is that of a power of two times them.
fn every_scale<T: Scalar>(powers: [i32; 4]) {
    let (a, x, y) = problem::<T>(200, 20, 3);
    for power in powers {
        let size = T::of(2.0).powi(power);
        let times: Vec<T> = y.iter().map(|&y| size * (size * y)).collect();
        let plan = PhaseRetrieval::new().tolerance(1e2 * T::EPSILON.as_f64());
        let found = plan.solve(&a, &times).unwrap();
        assert!(found.is_certified(), "2^{power}: {}", found.residual());
        let wanted: Vec<T> = (0..20).map(|j| size * x.row(j)[0]).collect();
        let turn = if wanted[0] * found.signal()[0] < T::zero() { -T::one() } else { T::one() };
        for (found, wanted) in found.signal().iter().zip(&wanted) {
            let gap = (*found / size - turn * *wanted / size).abs();
            assert!(gap <= T::of(1e4) * T::EPSILON, "2^{power}: {gap}");
        }
    }
}

#[test]
fn phase_retrieval_at_every_scale() {
    every_scale::<f32>([-45, -20, 20, 55]);
    every_scale::<f64>([-450, -160, 160, 500]);
}
