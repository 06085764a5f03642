//! The scale of the data is no part of the answer.

use favard_models::{Error, ErrorKind, Lanczos, Pca, PcaFit, Solver, StreamingPca, TruncatedSvd};
use favard_operator::{Dense, Diagonal, Scalar};
use ndarray::{Array2, Axis};

use crate::support::*;

/// A fit to the data times 2^power.
fn fit<T: Scalar>(x: &Array2<f64>, power: i32, solver: Solver) -> PcaFit<T> {
    let scaled = x.mapv(|value| T::of(value * 2.0_f64.powi(power)));
    let pca = Pca::new(3).solver(solver).tolerance(1e3 * T::EPSILON.as_f64());
    pca.fit(&Dense::new(scaled).unwrap()).unwrap()
}

/// A power of two changes exponents only: components are equal, variances equal but for its square, and so is
/// what was proved. (Squares of λ, 2^±2power, are beyond the range of the precision for all but the first.)
fn powers_change_nothing<T: Scalar>(powers: &[i32]) {
    for shape in [(300, 120), (120, 300)] {
        // The first power is an ordinary one: every entry is a number of this precision.
        let x = sparse(shape.0, shape.1, 5).mapv(|value| T::of(value).as_f64());
        for solver in [Solver::Lanczos, Solver::Exact] {
            let plain = fit::<T>(&x, 0, solver);
            assert!(plain.is_certified(), "{solver} {shape:?}");
            for &power in powers {
                let scaled = fit::<T>(&x, power, solver);
                assert!(scaled.is_certified(), "{solver} {shape:?}, 2^{power}");
                let square = 2.0_f64.powi(2 * power);
                for (a, b) in plain.explained_variance().iter().zip(scaled.explained_variance()) {
                    let gap = (a * square - b).abs();
                    assert!(gap <= 64.0 * T::EPSILON.as_f64() * b, "{solver} 2^{power}: {a} {b:e}");
                }
            }
        }
    }
}

#[test]
fn of_single_precision() {
    powers_change_nothing::<f32>(&[-20, -45, 30, 50]);
}

#[test]
fn of_double_precision() {
    powers_change_nothing::<f64>(&[-100, -300, 150, 400]);
}

/// The solver by itself: residuals below the root of the smallest number are not zero.
#[test]
fn lanczos_of_small_operators() {
    let op = |size: f32| Diagonal::new((0..900).map(|i| size / (1.0 + i as f32)).collect());
    let found = Lanczos::new(3).tolerance(1e-5).solve(&op(1e-25).unwrap()).unwrap();
    for (j, value) in found.values.iter().enumerate() {
        let wanted = 1e-25 / (1.0 + j as f32);
        assert!((value - wanted).abs() <= 1e-5 * 1e-25, "{value:e}");
    }
    assert!(found.info.certificate.is_certified());
    let plain = Lanczos::new(3).tolerance(1e-5).solve(&op(1.0).unwrap()).unwrap();
    assert_eq!(found.info.applications, plain.info.applications);
}

/// Products that the precision does not hold are an error, not zeros.
#[test]
fn what_is_lost_is_said() {
    let x = sparse(300, 120, 5).mapv(|value| f32::of(value * 1e-25));
    for solver in [Solver::Lanczos, Solver::Exact] {
        let error = Pca::new(2).solver(solver).fit(&Dense::new(x.view()).unwrap()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("multiply the data by a power of two"), "{solver}: {text}");
    }
}

/// Columns of sizes 1, 1/2, 1/3 and so on.
fn graded(rows: usize, cols: usize) -> Array2<f64> {
    let gaussian = favard_operator::Block::<f64>::gaussian(rows, cols, 3);
    Array2::from_shape_fn((rows, cols), |(i, j)| (gaussian.row(i)[j] + 1.0) / (1.0 + j as f64))
}

/// Every solver, PCA and SVD, at any scale: where λ is a number of full precision the answer is that of
/// ordinary data, also where λ² (and with it the momentum λ²/4) is none. What is certified agrees to the
/// tolerance, and methods that read all rows certify.
fn every_solver_at<T: Scalar>(sizes: &[f64]) {
    let (x, tol) = (graded(200, 16), 1e-3);
    for solver in Solver::ALL {
        let fits = |size: f64| {
            let x = Dense::new(x.mapv(|value| T::of(value * size))).unwrap();
            let pca = Pca::new(2).solver(solver).tolerance(tol).fit(&x).unwrap();
            let svd = TruncatedSvd::new(2).solver(solver).tolerance(tol).fit(&x).unwrap();
            let squares = svd.singular_values().into_iter().map(|s| (s / size).powi(2)).collect();
            let variances = pca.explained_variance().iter().map(|v| v / size / size).collect();
            [(pca.is_certified(), variances), (svd.is_certified(), squares)]
        };
        let plain: [(bool, Vec<f64>); 2] = fits(1.0);
        for &size in sizes {
            for ((certified, values), (_, wanted)) in fits(size).iter().zip(&plain) {
                assert!(*certified || solver.is_sampled(), "{solver} {size:e}");
                for (value, wanted) in values.iter().zip(wanted) {
                    // |λ − θ| ≤ r ≤ tol λ₁ of both
                    let near = (value - wanted).abs() <= 2.0 * tol * plain[0].1[0].max(values[0]);
                    assert!(near || !certified, "{solver} {size:e}: {value} {wanted}");
                }
            }
        }
    }
}

#[test]
fn every_solver_in_single_precision() {
    every_solver_at::<f32>(&[1e-14, 1e-10, 1e10, 1e15]);
}

#[test]
fn every_solver_in_double_precision() {
    every_solver_at::<f64>(&[1e-144, 1e-100, 1e100, 1e145]);
}

/// Beyond, every solver names the reason: squares that are all zero are not data without variance.
fn every_solver_refuses<T: Scalar>(small: &[f64], large: &[f64]) {
    let x = graded(60, 8);
    let both = small.iter().map(|s| (s, "multiply")).chain(large.iter().map(|s| (s, "divide")));
    for (size, wanted) in both {
        let x = Dense::new(x.mapv(|value| T::of(value * size))).unwrap();
        for solver in Solver::ALL {
            let plain = Pca::new(2).solver(solver).fit(&x).unwrap_err();
            let svd = TruncatedSvd::new(2).solver(solver).fit(&x).unwrap_err();
            for error in [plain, svd] {
                let named =
                    matches!(error.kind(), ErrorKind::Scale { verb, .. } if *verb == wanted);
                assert!(named, "{solver} {size:e}: {error}");
            }
        }
    }
}

#[test]
fn what_no_precision_holds_is_refused() {
    every_solver_refuses::<f32>(&[1e-36, 1e-25, 1e-18], &[1e20, 1e36]);
    every_solver_refuses::<f64>(&[1e-300, 1e-200, 1e-163, 1e-155], &[1e155, 1e200, 1e300]);
}

/// Columns that seem constant because their squares are zero are not standardised as if they were; and
/// those that are constant, of whatever size, still have no variance.
#[test]
fn small_columns_are_not_constant_ones() {
    let mut x = graded(60, 4);
    x.column_mut(1).mapv_inplace(|value| value * 1e-170);
    let error = Pca::new(2).scale(true).fit(&Dense::new(x.view()).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Scale { verb: "multiply", .. }), "{error}");
    // Beside columns of ordinary size it is nothing, and of no consequence.
    assert!(Pca::new(2).fit(&Dense::new(x.view()).unwrap()).unwrap().is_certified());
    for constant in [0.0, 0.1, 1e-170, 1e-320] {
        x.column_mut(1).fill(constant);
        let scaled = Pca::new(3).scale(true).fit(&Dense::new(x.view()).unwrap()).unwrap();
        assert!(scaled.is_certified(), "{constant:e}");
    }
    let values = [1e-1, 1e-81, 1e-161, 1e-241];
    let constant = Array2::from_shape_fn((60, 4), |(_, j)| values[j]);
    let fit = Pca::new(2).fit(&Dense::new(constant).unwrap()).unwrap();
    assert_eq!(fit.explained_variance(), [0.0, 0.0]);
}

/// A stream of ten rows at a time, of data times `size`.
fn stream<T: Scalar>(x: &Array2<f64>, size: f64) -> Result<PcaFit<T>, Error> {
    let mut stream = StreamingPca::new(3).oversampling(5).tolerance(1e3 * T::EPSILON.as_f64());
    for rows in x.axis_chunks_iter(Axis(0), 10) {
        stream.partial_fit(&Dense::new(rows.mapv(|value| T::of(value * size))).unwrap())?;
    }
    stream.snapshot()
}

fn streams_at<T: Scalar>(powers: &[i32], small: &[f64], large: &[f64]) {
    // Entries of ordinary size are numbers of this precision, and all eight directions are kept.
    let x = graded(60, 8).mapv(|value| T::of(value).as_f64());
    let plain = stream::<T>(&x, 1.0).unwrap();
    for &power in powers {
        let scaled = stream::<T>(&x, 2.0_f64.powi(power)).unwrap();
        let square = 2.0_f64.powi(2 * power);
        for (a, b) in plain.explained_variance().iter().zip(scaled.explained_variance()) {
            let gap = (a * square - b).abs();
            // Six batches, each with a rounding of its own.
            assert!(gap <= 1e3 * T::EPSILON.as_f64() * b, "2^{power}: {a} {b:e}");
        }
    }
    let both = small.iter().map(|s| (*s, "multiply")).chain(large.iter().map(|s| (*s, "divide")));
    for (size, wanted) in both {
        let error = stream::<T>(&x, size).unwrap_err();
        let named = matches!(error.kind(), ErrorKind::Scale { verb, .. } if *verb == wanted);
        assert!(named, "{size:e}: {error}");
    }
}

/// A stream is as good at every scale, and refuses what its precision does not hold instead of finding
/// no variance in it; constant rows, of whatever size, still have none.
#[test]
fn streams_at_every_scale() {
    streams_at::<f32>(&[-40, 40], &[1e-36, 1e-25, 1e-19], &[1e20, 1e36]);
    streams_at::<f64>(&[-400, 400], &[1e-300, 1e-200, 1e-165, 1e-155], &[1e155, 1e200]);
    for constant in [0.0, 0.1, 1e-170, 1e-320] {
        let fit = stream::<f64>(&Array2::from_elem((60, 8), constant), 1.0).unwrap();
        assert!(fit.explained_variance().iter().all(|v| *v <= 1e-28 * constant * constant));
    }
}
