//! Mini-batches and SVRG against exact solutions.

use favard_models::LeastSquares;
use favard_models::least_squares::{Momentum, Sampled};
use favard_operator::{Block, Dense, LinearOperator, Scalar, Scaled};
use ndarray::{Axis, concatenate};

use crate::support::{array, assert_exact, exact, geometric, with_singular_values};

/// Consistent systems: mini-batches reach the exact solution, and read fewer rows than passes of an
/// exact method would.
#[test]
fn mini_batches_solve_consistent_systems() {
    let a = with_singular_values(20_000, &geometric(12, 10.0), 3);
    let op = Dense::new(a.view()).unwrap();
    let truth = Block::<f64>::gaussian(12, 2, 4);
    let b = op.multiply(truth.as_ref()).unwrap();
    for batch in [1, 32, 256] {
        let found = LeastSquares::new().solve_rows(&op, &b, &Sampled::mini_batch(batch)).unwrap();
        assert!(found.is_certified(), "{batch}: {} {:?}", found.reason, found.info);
        // ‖x − x*‖ ≤ ‖r‖ / σ_d
        for j in 0..2 {
            let gap = (0..12).map(|i| (found.x.row(i)[j] - truth.row(i)[j]).powi(2)).sum::<f64>();
            assert!(gap.sqrt() <= found.residuals[j] * 10.0 + 1e3 * f64::EPSILON);
        }
        assert!(found.info.passes < 15.0, "{batch}: {}", found.info.passes);
        assert_eq!(found.reason.contains("warning"), batch == 1, "{}", found.reason);
    }
    let auto = LeastSquares::new().solve_rows(&op, &b, &Sampled::auto()).unwrap();
    assert!(auto.is_certified() && auto.reason.starts_with("MiniBatch"), "{}", auto.reason);
}

/// Momentum earns its keep at large batches: the same problem, the same batches of 512 of 20,000
/// rows, κ(H) = 100, with at most half the ticks (theory: a quarter to a seventh of them, and the
/// seed is fixed).
#[test]
fn momentum_saves_ticks_at_large_batches() {
    let a = with_singular_values(20_000, &geometric(12, 10.0), 3);
    let op = Dense::new(a.view()).unwrap();
    let b = op.multiply(Block::<f64>::gaussian(12, 1, 4).as_ref()).unwrap();
    let ticks = |momentum: Momentum| {
        let sampled = Sampled::mini_batch(512).momentum(momentum);
        let found = LeastSquares::new().solve_rows(&op, &b, &sampled).unwrap();
        assert!(found.is_certified(), "{}", found.reason);
        found.info.iterations
    };
    let (with, without) = (ticks(Momentum::Auto), ticks(Momentum::Off));
    assert!(2 * with <= without, "{with} against {without}");
}

/// Inconsistent systems, with ridge, weights and intercept: SVRG has no noise floor.
#[test]
fn svrg_solves_inconsistent_systems() {
    let a = with_singular_values(2000, &geometric(10, 6.0), 3) * 40.0 + 0.3;
    let op = Dense::new(a.view()).unwrap();
    let b = Block::<f64>::gaussian(2000, 1, 4);
    for batch in [8, 100] {
        let found = LeastSquares::new().solve_rows(&op, &b, &Sampled::svrg(batch)).unwrap();
        assert_exact(&found, &exact(&a, &array(&b), 0.0), &format!("SVRG, {batch}"));
    }
    // The ridge as explicit rows.
    let root = ndarray::Array2::<f64>::eye(10) * 3.0;
    let explicit = concatenate(Axis(0), &[a.view(), root.view()]).unwrap();
    let zeros = ndarray::Array2::zeros((10, 1));
    let target = concatenate(Axis(0), &[array(&b).view(), zeros.view()]).unwrap();
    let plan = LeastSquares::new().ridge(9.0);
    let found = plan.solve_rows(&op, &b, &Sampled::svrg(100)).unwrap();
    assert_exact(&found, &exact(&explicit, &target, 0.0), "SVRG with a ridge");
    // Weights and intercept: the exact methods' own answer.
    let weights: Vec<f64> = (0..2000).map(|i| 0.5 + f64::from(i % 3)).collect();
    let plan = LeastSquares::new().weights(weights).intercept(true).tolerance(1e-10);
    let wanted = plan.fit(&op, &b).unwrap();
    let found = plan.solve_rows(&op, &b, &Sampled::svrg(100)).unwrap();
    assert!(found.is_certified() && wanted.is_certified(), "{}", found.reason);
    // Both certificates are 1e-10 of ‖A‖‖r‖: ‖x − x'‖ ≤ 2e-10 ‖A‖‖r‖ / σ².
    let gap = (0..10).map(|i| (found.x.row(i)[0] - wanted.x.row(i)[0]).powi(2)).sum::<f64>();
    let smallest = 40.0 / 6.0 * 0.5;
    let allowed = 2e-10 * 2.5 * 40.0 * found.residuals[0] / (smallest * smallest);
    assert!(gap.sqrt() <= allowed, "{:e} {allowed:e}", gap.sqrt());
    assert!((found.intercept[0] - wanted.intercept[0]).abs() <= allowed);
}

/// Single precision, and columns scaled by a wrapper.
#[test]
fn single_precision_and_wrappers() {
    let a = with_singular_values(4000, &geometric(8, 4.0), 3).mapv(f32::of);
    let op = Dense::new(a.view()).unwrap();
    let truth = Block::<f32>::gaussian(8, 1, 4);
    let b = op.multiply(truth.as_ref()).unwrap();
    let plan = LeastSquares::new().tolerance(1e-4);
    let scaled = Scaled::new(&op, vec![0.5; 8]).unwrap();
    let found = plan.solve_rows(&scaled, &b, &Sampled::mini_batch(64)).unwrap();
    assert!(found.is_certified(), "{}", found.reason);
    for i in 0..8 {
        // y = D x, within ‖r‖/σ of the scaled matrix
        let gap = (found.x.row(i)[0] - 0.5 * truth.row(i)[0]).abs();
        assert!(gap <= found.residuals[0] * 2.0 + 1e3 * f32::EPSILON, "{gap}");
    }
}

/// Given bounds are used, and an epoch's length may be given.
#[test]
fn given_bounds_and_epochs() {
    let a = with_singular_values(1000, &geometric(8, 4.0), 3) * 1000f64.sqrt();
    let op = Dense::new(a.view()).unwrap();
    let b = Block::<f64>::gaussian(1000, 1, 4);
    let sampled = Sampled::svrg(50).bounds(1.0 / 16.0, 1.0).epoch(60);
    let found = LeastSquares::new().solve_rows(&op, &b, &sampled).unwrap();
    assert!(
        found.is_certified() && found.reason.contains("epochs of 60 ticks"),
        "{}",
        found.reason
    );
    assert_eq!(found.spectrum, Some((1.0 / 16.0, 1.0)));
}
