//! The scale of the data is no part of the answer.

use favard_models::{Lanczos, Pca, PcaFit, Solver};
use favard_operator::{Dense, Diagonal, Scalar};
use ndarray::Array2;

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
        // (Momentum is λ²/4: where that is no number, the solvers that use it say that they have not converged.)
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
