//! Every bad input of issue 3 has a name, or a documented result.

use favard_engine::recurrence::Start;
use favard_models::solvers::Rule;
use favard_models::{Error, Lanczos, Pca, PcaFit, Solver, exact_eigen};
use favard_operator::{BlockMut, Dense, FnOperator};
use ndarray::{Array2, array};

use crate::support::*;

fn text(result: Result<PcaFit<f64>, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn sizes_and_parameters() {
    let x = Dense::new(Array2::<f64>::ones((5, 3))).unwrap();
    assert!(
        text(Pca::new(4).fit(&x))
            .starts_with("components: 4 must be at least 1 and at most 3, the")
    );
    assert!(text(Pca::new(0).fit(&x)).starts_with("components: 0"));
    let one = Dense::new(Array2::<f64>::ones((1, 3))).unwrap();
    assert!(text(Pca::new(1).fit(&one)).starts_with("rows: 1 must be at least 2"));
    let none = Dense::new(Array2::<f64>::ones((0, 3))).unwrap();
    assert!(text(Pca::new(1).fit(&none)).starts_with("rows: 0 must be at least 2"));
    let empty = Dense::new(Array2::<f64>::ones((4, 0))).unwrap();
    assert!(text(Pca::new(1).fit(&empty)).starts_with("columns: 0"));
    for solver in [Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let found = text(Pca::new(1).tolerance(bad).solver(solver).fit(&x));
            assert!(found.starts_with(&format!("tolerance: {bad} must be finite")), "{found}");
        }
    }
    assert!(Pca::new(9).memory(&x).unwrap_err().to_string().starts_with("components: 9"));
}

/// Data without variance: zeros, certified, no error; with scaling as well.
#[test]
fn no_variance() {
    for x in [Array2::<f64>::zeros((6, 4)), Array2::ones((6, 4)) * 1e8 / 3.0] {
        for scale in [false, true] {
            for solver in [Solver::Auto, Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
                let fit = Pca::new(2).scale(scale).solver(solver).fit(&csr(&x)).unwrap();
                assert!(fit.is_certified());
                assert_eq!(fit.explained_variance(), [0.0, 0.0]);
                assert_eq!(fit.explained_variance_ratio(), [0.0, 0.0]);
                assert_eq!((fit.noise_variance(), fit.singular_values()), (0.0, vec![0.0; 2]));
                let scores = fit.transform(&csr(&x)).unwrap();
                assert!(scores.view().iter().all(|score| score.abs() <= 1e-7));
            }
        }
    }
}

/// A constant column with scaling on: scale one, weight zero in every component, no NaN.
#[test]
fn constant_columns_with_scaling() {
    let mut x = sparse(80, 10, 2);
    x.column_mut(4).fill(7.0);
    x.column_mut(9).fill(0.0);
    for solver in [Solver::Exact, Solver::Lanczos] {
        let fit = Pca::new(3).scale(true).solver(solver).tolerance(1e-10).fit(&csr(&x)).unwrap();
        assert!(fit.is_certified());
        assert_eq!((fit.scale()[4], fit.scale()[9]), (1.0, 1.0));
        // The column's variance is rounding, λ stays away from it: v_j = (C v)_j / λ.
        assert!(fit.components().row(4).iter().all(|v| v.abs() <= 1e-8));
        assert!(gap(&fit.explained_variance(), &exact_variances(&x, true)[..3]) <= 1e-9 * 10.0);
        assert!((fit.total_variance() - 8.0).abs() <= 1e3 * f64::EPSILON);
    }
}

#[test]
fn one_column() {
    let x = Dense::new(array![[1.0], [2.0], [6.0]]).unwrap();
    for solver in [Solver::Auto, Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
        let fit = Pca::new(1).solver(solver).fit(&x).unwrap();
        assert!((fit.explained_variance()[0] - 7.0).abs() <= 100.0 * f64::EPSILON);
        assert_eq!(fit.components().row(0), [1.0]);
        assert_eq!(fit.angle_bounds(), [Some(0.0)]);
        let ratio = fit.explained_variance_ratio()[0];
        assert!((ratio - 1.0).abs() <= 10.0 * f64::EPSILON);
    }
}

/// NaN and infinities: named where they are, and never a hang.
#[test]
fn values_that_are_not_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut x = sparse(30, 8, 1);
        x[[7, 3]] = bad;
        let found = Dense::new(x).unwrap_err().to_string();
        assert!(found.contains("row 7, column 3"), "{found}");
    }
    // Finite entries whose squares are not.
    let x =
        Dense::new(Array2::from_shape_fn((4, 2), |(i, j)| 1e200 * (i * (j + 1)) as f64)).unwrap();
    let found = text(Pca::new(1).fit(&x));
    assert!(found.ends_with("divide the data by a power of two"), "{found}");
    let nan = FnOperator::new((60, 60), |_, mut y: BlockMut<'_, f64>| {
        y.row_mut(3)[0] = f64::NAN;
    });
    assert!(Lanczos::new(1).width(2).solve(&nan).unwrap_err().to_string().contains("row 3"));
    assert!(exact_eigen(&nan, 1).unwrap_err().to_string().contains("row 3"));
    let infinite = FnOperator::new((60, 60), |_, mut y: BlockMut<'_, f64>| {
        y.row_mut(3)[0] = f64::INFINITY;
    });
    let found = Lanczos::new(1).width(2).solve(&infinite).unwrap_err().to_string();
    assert!(found.contains("value inf at row 3, column 0"), "{found}");
}

/// A parameter that the method does not take is an error, not ignored; those it takes are checked.
#[test]
fn parameters_of_a_method() {
    let x = csr(&sparse(80, 10, 2));
    let pca = |solver| Pca::new(2).solver(solver);
    let auto = || pca(Solver::Auto);
    assert_eq!(text(auto().beta(0.1).fit(&x)), "beta is given, and the solver auto takes none");
    assert!(text(auto().batch(4).fit(&x)).starts_with("batch is given, and the solver auto"));
    assert!(text(pca(Solver::Momentum).epoch(3).fit(&x)).starts_with("epoch is given"));
    assert!(text(pca(Solver::Power).momentum_start(Start::T).fit(&x)).starts_with("start of the"));
    assert!(text(pca(Solver::Oja).rule(Rule::Practical).fit(&x)).starts_with("rule is given"));
    assert!(text(pca(Solver::Momentum).beta(-1.0).fit(&x)).starts_with("beta: -1"));
    assert!(text(pca(Solver::VrPca).epoch(0).fit(&x)).starts_with("epoch: 0"));
    let t = pca(Solver::Momentum).momentum_start(Start::T).fit(&x).unwrap();
    let u = pca(Solver::Momentum).momentum_start(Start::U).fit(&x).unwrap();
    assert!(t.is_certified() && u.is_certified() && t.info().history != u.info().history);
    let rule = Rule::Guaranteed { delta: 2.0 };
    let found = text(pca(Solver::MiniBatch).rule(rule).fit(&x));
    assert!(found.starts_with("`delta` = 2"), "{found}");
}

/// Sizes that nobody has are cut to the operator, and do not overflow.
#[test]
fn endless_bases() {
    let op = Dense::new(with_spectrum(&[3.0, 2.0, 1.0, 0.5], 1)).unwrap();
    for plan in [Lanczos::new(2).basis(usize::MAX), Lanczos::new(2).width(usize::MAX)] {
        let found = plan.solve(&op).unwrap();
        assert!((found.values[1] - 2.0).abs() <= 1e-8 * 3.0);
        assert!(plan.memory::<f64>(4) < 10_000);
    }
}

#[test]
fn weights() {
    let x = csr(&sparse(4, 3, 1));
    let fit = |weights: &[f64]| text(Pca::new(1).fit_weighted(&x, weights));
    assert_eq!(fit(&[1.0, -2.0, 1.0, 1.0]), "weight 1: -2 must be finite and not negative");
    assert_eq!(fit(&[1.0, 1.0, f64::NAN, 1.0]), "weight 2: NaN must be finite and not negative");
    assert_eq!(fit(&[1.0, 1.0, 1.0]), "row weights: expected 4, found 3");
    assert!(fit(&[0.0; 4]).contains("all other weights are zero"));
    assert!(fit(&[0.25; 4]).starts_with("sum of the weights: 1 must be above 1"));
    // Divided by their sum: one, and the rounding of a sum of four.
    let above = fit(&[0.25, 0.25, 0.25, 0.25 + 2.0 * f64::EPSILON]);
    assert!(above.starts_with("sum of the weights: 1.0000000000000004 must be above 1"), "{above}");
    // One row with any weight has no variance.
    let fit = Pca::new(1).fit_weighted(&x, &[0.0, 3.0, 0.0, 0.0]).unwrap();
    assert_eq!(fit.explained_variance(), [0.0]);
}

#[test]
fn other_shapes_later() {
    let fit = Pca::new(2).fit(&csr(&sparse(20, 6, 1))).unwrap();
    let found = fit.transform(&csr(&sparse(5, 7, 1))).unwrap_err().to_string();
    assert!(found.contains("expected 7, found 6"), "{found}");
    let scores = favard_operator::Block::<f64>::zeros(3, 3);
    let found = fit.inverse_transform(scores.as_ref()).unwrap_err().to_string();
    assert_eq!(found, "columns of the scores: expected 2, found 3");
}
