//! Numbers whose squares are no numbers.

use favard_models::least_squares::{Method, Sampled, Scaling};
use favard_models::{Kaczmarz, LeastSquares};
use favard_operator::{Block, Dense, LinearOperator, Scalar};
use ndarray::{Array2, array};

fn tall<T: Scalar>(size: T) -> Array2<T> {
    array![[1.0, 2.0], [3.0, 4.0], [5.0, 7.0], [1.0, 0.0]].mapv(|entry| T::of(entry) * size)
}

/// LSMR on an operator of norm 2^e, and on the same of norm 1: the powers of two change no digit, so
/// that the steps are the same and the solutions differ by that power, up to rounding.
fn lsmr<T: Scalar>(size: T) {
    let b = Block::from_fn(4, 1, |i, _| T::of([1.0, -1.0, 2.0, 3.0][i]));
    let plan = LeastSquares::new().method(Method::Lsmr).scaling(Scaling::Off);
    let plan = plan.tolerance(1e3 * T::EPSILON.as_f64());
    let plain = plan.solve(&Dense::new(tall(T::one())).unwrap(), &b).unwrap();
    let found = plan.solve(&Dense::new(tall(size)).unwrap(), &b).unwrap();
    assert!(found.is_certified(), "{}", found.reason);
    assert_eq!(found.info.iterations, plain.info.iterations);
    for i in 0..2 {
        let gap = (found.x.row(i)[0] * size - plain.x.row(i)[0]).abs();
        assert!(gap <= T::of(100.0) * T::EPSILON, "{}: {gap}", found.reason);
    }
}

/// The square of the norm is beyond the largest number, or below the smallest.
#[test]
fn norms_whose_squares_are_no_numbers() {
    [66, -76].into_iter().for_each(|power| lsmr(2.0_f32.powi(power)));
    [520, -560].into_iter().for_each(|power| lsmr(2.0_f64.powi(power)));
}

/// A right-hand side whose squares are zero: the solution is that of a power of two times it.
#[test]
fn right_hand_sides_whose_squares_are_zero() {
    let size = 2.0_f32.powi(-80);
    let op = Dense::new(tall(1.0_f32)).unwrap();
    let b = Block::from_fn(4, 1, |i, _| [1.0, -1.0, 2.0, 3.0][i]);
    let tiny = Block::from_fn(4, 1, |i, _| size * b.row(i)[0]);
    for method in [Method::Auto, Method::Cg, Method::Lsmr] {
        let plan = LeastSquares::new().method(method).tolerance(1e-5);
        let (found, wanted) = (plan.solve(&op, &tiny).unwrap(), plan.solve(&op, &b).unwrap());
        assert!(found.is_certified() && wanted.is_certified(), "{}", found.reason);
        for i in 0..2 {
            // Both within κ tol of the solution, κ < 20.
            let gap = (found.x.row(i)[0] / size - wanted.x.row(i)[0]).abs();
            assert!(gap <= 40.0 * 1e-5, "{gap}: {}", found.reason);
        }
        let shrunk = (found.residuals[0] / size - wanted.residuals[0]).abs();
        assert!(shrunk <= 1e-3 * wanted.residuals[0], "{}", found.reason);
    }
}

/// Rows whose squared lengths are zero are not zero rows: where there are no others the system is
/// solved, and the reason is true.
#[test]
fn rows_whose_squares_are_zero() {
    let size = 2.0_f32.powi(-80);
    let op = Dense::new(tall(size)).unwrap();
    let b = Dense::new(tall(1.0_f32)).unwrap();
    let b = b.multiply(Block::column(&[2.0, -1.0]).as_ref()).unwrap();
    let plan = LeastSquares::new().tolerance(1e-4);
    let sampled = plan.solve_rows(&op, &b, &Sampled::mini_batch(2)).unwrap();
    for found in [Kaczmarz::new().tolerance(1e-4).solve(&op, &b).unwrap(), sampled] {
        assert!(found.reason.starts_with("the squares of all rows' lengths"), "{}", found.reason);
        assert!(found.is_certified(), "{}", found.reason);
        // ‖x − x*‖ ≤ ‖r‖ / σ₂, and ‖b‖ < 10 σ₂
        let x = [0, 1].map(|i| found.x.row(i)[0] * size);
        assert!((x[0] - 2.0).hypot(x[1] + 1.0) <= 10.0 * 1e-4, "{x:?}: {}", found.reason);
    }
    // Among other rows: never drawn, and not called impossible.
    let mut a = tall(1.0_f32);
    a.row_mut(2).mapv_inplace(|entry| entry * size);
    let op = Dense::new(a).unwrap();
    let b = op.multiply(Block::column(&[2.0, -1.0]).as_ref()).unwrap();
    let found = Kaczmarz::new().tolerance(1e-4).solve(&op, &b).unwrap();
    assert!(found.reason.contains("; 1 rows are never drawn: the squares"), "{}", found.reason);
    assert!(!found.reason.contains("no solution"), "{}", found.reason);
}

/// The report of a run says what it was and why, as that of every other model does.
#[test]
fn reports_name_the_method() {
    let op = Dense::new(tall(1.0_f64)).unwrap();
    let b = op.multiply(Block::column(&[2.0, -1.0]).as_ref()).unwrap();
    let plan = LeastSquares::new();
    let found = [
        (plan.solve(&op, &b), "Direct"),
        (plan.clone().method(Method::Lsmr).solve(&op, &b), "Lsmr"),
        (plan.clone().method(Method::Chebyshev { bounds: None }).solve(&op, &b), "Chebyshev"),
        (plan.solve_rows(&op, &b, &Sampled::svrg(2)), "Svrg"),
        (Kaczmarz::new().solve(&op, &b), "Kaczmarz, averaged"),
        (Kaczmarz::new().blocks(2).solve(&op, &b), "Kaczmarz, blocks"),
    ];
    for (found, name) in found {
        let found = found.unwrap();
        assert_eq!((found.info.method.as_str(), &found.info.reason), (name, &found.reason));
    }
}

/// An operator whose squares are zero is not zero: `Auto` certifies the solution, with LSMR where the
/// norms of the columns are zero too, and so do the solvers by rows, which end there. Methods that need
/// the squares as they are certify nothing.
fn operators_whose_squares_are_zero<T: Scalar>(size: T) {
    let b = Block::from_fn(4, 1, |i, _| T::of([1.0, -1.0, 2.0, 3.0][i]));
    let op = Dense::new(tall(size)).unwrap();
    let tolerance = 1e3 * T::EPSILON.as_f64();
    let plan = LeastSquares::new().tolerance(tolerance);
    let plain = plan.solve(&Dense::new(tall(T::one())).unwrap(), &b).unwrap();
    let found = [
        plan.fit(&op, &b).unwrap(),
        plan.solve(&op, &b).unwrap(),
        plan.solve_rows(&op, &b, &Sampled::svrg(2)).unwrap(),
        Kaczmarz::new().tolerance(tolerance).solve(&op, &b).unwrap(),
    ];
    for found in found {
        assert!(found.is_certified(), "{}", found.reason);
        for i in 0..2 {
            // ‖x − x*‖ ≤ tol ‖A‖ ‖r‖ / σ₂², and ‖A‖ ‖r‖ < 20 σ₂²
            let gap = (found.x.row(i)[0] * size - plain.x.row(i)[0]).abs();
            assert!(gap.as_f64() <= 40.0 * tolerance, "{}: {gap}", found.reason);
        }
    }
    for method in [Method::Direct, Method::HeavyBall { bounds: None }] {
        let plan = plan.clone().method(method).scaling(Scaling::Off);
        let found = plan.solve(&op, &b).unwrap();
        assert!(!found.is_certified(), "{}", found.reason);
    }
}

#[test]
fn zero_squares_are_no_zero_operator() {
    operators_whose_squares_are_zero(2.0_f32.powi(-80));
    operators_whose_squares_are_zero(2.0_f64.powi(-560));
}

/// Steps of batches are planned with fourth powers of the rows, whose range is not that of the data.
#[test]
fn batches_at_every_scale() {
    let rows = Block::<f64>::gaussian(60, 3, 4);
    let b = Block::<f64>::gaussian(60, 1, 5);
    let solve = |power: i32| {
        let size = 2.0_f64.powi(power);
        let op = Dense::new(rows.view().mapv(|value| value * size)).unwrap();
        LeastSquares::new().solve_rows(&op, &b, &Sampled::svrg(8)).unwrap()
    };
    let plain = solve(0);
    assert!(plain.is_certified(), "{}", plain.reason);
    for power in [-400, -280, 270, 400] {
        let found = solve(power);
        assert!(found.is_certified(), "2^{power}: {}", found.reason);
        assert_eq!(found.info.iterations, plain.info.iterations, "2^{power}: {}", found.reason);
    }
}
