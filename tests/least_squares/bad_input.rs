//! Bad input is a named error or a documented result.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_models::least_squares::{Method, Momentum, Sampled, Scaling, Solution};
use favard_models::{Error, ErrorKind, Kaczmarz, LeastSquares};
use favard_operator::{Block, BlockMut, BlockRef, Dense, FnOperator, LinearOperator};
use ndarray::{Array2, array};

fn text<T>(result: Result<Solution<T>, Error>) -> String
where
    Solution<T>: std::fmt::Debug,
{
    result.unwrap_err().to_string()
}

fn dense(a: Array2<f64>) -> Dense<'static, f64> {
    Dense::new(a).unwrap()
}

#[test]
fn shapes_and_numbers_are_named() {
    let a = dense(Array2::ones((4, 2)));
    let b = Block::<f64>::zeros(4, 1);
    let plan = LeastSquares::new;
    let wrong = Block::<f64>::zeros(5, 1);
    assert_eq!(text(plan().fit(&a, &wrong)), "rows of the right-hand side: expected 4, found 5");
    assert_eq!(text(plan().solve(&a, &wrong)), "rows of the right-hand side: expected 4, found 5");
    let rows = Sampled::mini_batch(2);
    assert!(text(plan().solve_rows(&a, &wrong, &rows)).contains("expected 4, found 5"));
    assert!(text(Kaczmarz::new().solve(&a, &wrong)).contains("expected 4, found 5"));
    assert_eq!(text(plan().fit(&a, &Block::zeros(4, 0))), "right-hand side: is empty (4 × 0)");
    let bad = Block::column(&[0.0, f64::NAN, 0.0, 0.0]);
    assert!(text(plan().fit(&a, &bad)).contains("value NaN at row 1, column 0"));
    assert!(text(Kaczmarz::new().solve(&a, &bad)).contains("value NaN at row 1, column 0"));
    assert!(text(plan().ridge(-1.0).fit(&a, &b)).starts_with("ridge: -1 must be"));
    assert!(text(plan().tolerance(f64::NAN).fit(&a, &b)).starts_with("tolerance: NaN must be"));
    assert!(text(plan().passes(0.0).fit(&a, &b)).starts_with("passes: 0 must be"));
    let short = plan().weights(vec![1.0; 3]);
    assert_eq!(text(short.fit(&a, &b)), "row weights: expected 4, found 3");
    assert!(text(plan().weights(vec![0.0; 4]).fit(&a, &b)).contains("all other weights are zero"));
    let negative = plan().weights(vec![1.0, -2.0, 1.0, 1.0]);
    assert!(text(negative.fit(&a, &b)).contains("weight 1: -2"));
    let scaled = plan().scaling(Scaling::Given(vec![1.0, 0.0]));
    assert!(text(scaled.fit(&a, &b)).contains("as a scale must be finite and above 0"));
    let bounds = Method::HeavyBall { bounds: Some((2.0, 1.0)) };
    assert!(text(plan().method(bounds).fit(&a, &b)).starts_with("bounds: 2"));
    assert!(text(plan().solve_rows(&a, &b, &Sampled::svrg(0))).starts_with("batch: 0"));
    assert!(text(Kaczmarz::new().batch(0).solve(&a, &b)).starts_with("batch: 0"));
    assert!(text(Kaczmarz::new().bounds(0.0, 1.0).solve(&a, &b)).starts_with("bounds: 0"));
}

#[test]
fn empty_operators_are_refused() {
    let none = FnOperator::new((0, 3), |_: BlockRef<'_, f64>, _: BlockMut<'_, f64>| {})
        .with_adjoint(|_: BlockRef<'_, f64>, _: BlockMut<'_, f64>| {});
    let found = LeastSquares::new().solve(&none, &Block::zeros(0, 1));
    assert_eq!(text(found), "least squares: is empty (0 × 3)");
}

/// An operator that gives NaN is an error that names the row, in every method.
#[test]
fn non_finite_products_are_named() {
    let op = FnOperator::new((300, 200), |_: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
        (0..300).for_each(|i| y.row_mut(i).fill(1.0));
    })
    .with_adjoint(|_: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
        (0..200).for_each(|i| y.row_mut(i).fill(1.0));
        y.row_mut(7).fill(f64::NAN);
    });
    let b = Block::<f64>::gaussian(300, 1, 1);
    for method in [Method::Auto, Method::Cg, Method::Lsmr, Method::Chebyshev { bounds: None }] {
        for scaling in [Scaling::Auto, Scaling::Off] {
            let plan = LeastSquares::new().method(method).scaling(scaling);
            let message = text(plan.solve(&op, &b));
            assert!(message.contains("row 7"), "{method:?}: {message}");
        }
    }
}

/// All zeros: zero is the solution of smallest norm, certified, without a step of any method.
#[test]
fn zeros_give_zero() {
    let zero = dense(Array2::zeros((6, 3)));
    let b = Block::<f64>::gaussian(6, 2, 1);
    let methods = [
        Method::Auto,
        Method::Direct,
        Method::Cg,
        Method::Lsmr,
        Method::HeavyBall { bounds: None },
        Method::Chebyshev { bounds: None },
    ];
    for method in methods {
        for rhs in [&b, &Block::zeros(6, 2)] {
            let found = LeastSquares::new().method(method).fit(&zero, rhs).unwrap();
            assert!(found.is_certified(), "{method:?}: {}", found.reason);
            assert_eq!(found.x, Block::zeros(3, 2), "{method:?}");
        }
        // A zero right-hand side of an operator that is not zero.
        let a = dense(Array2::eye(6).slice(ndarray::s![.., ..3]).to_owned());
        let found = LeastSquares::new().method(method).fit(&a, &Block::zeros(6, 2)).unwrap();
        assert!(found.is_certified(), "{method:?}: {}", found.reason);
        assert_eq!(found.x, Block::zeros(3, 2), "{method:?}");
    }
    for sampled in [Sampled::mini_batch(2), Sampled::svrg(2), Sampled::auto()] {
        let found = LeastSquares::new().solve_rows(&zero, &b, &sampled).unwrap();
        assert!(found.is_certified() && found.x == Block::zeros(3, 2));
    }
    let found = Kaczmarz::new().solve(&zero, &b).unwrap();
    assert!(found.is_certified() && found.x == Block::zeros(3, 2));
    assert!(found.reason.starts_with("all rows are zero"), "{}", found.reason);
}

/// Zero rows are never drawn; those with a right-hand side are counted, and what is found is the
/// least-squares solution, certified as such.
#[test]
fn zero_rows() {
    let a = dense(array![[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]]);
    let found = Kaczmarz::new().solve(&a, &Block::column(&[1.0, 0.0, 4.0, 0.0])).unwrap();
    assert!(found.is_certified() && !found.reason.contains("rows are zero"), "{}", found.reason);
    assert!((found.x.row(1)[0] - 2.0).abs() <= 1e-7);
    let found = Kaczmarz::new().solve(&a, &Block::column(&[1.0, 5.0, 4.0, 0.0])).unwrap();
    assert!(found.reason.contains("1 rows are zero and their right-hand sides are not"));
    assert!((found.x.row(1)[0] - 2.0).abs() <= 1e-6, "{}", found.reason);
    assert!((found.residuals[0] - 5.0).abs() <= 1e-6);
}

/// A consistent method on an inconsistent system stalls; the certificate and the reason say so.
#[test]
fn a_right_hand_side_outside_the_range() {
    let a = Dense::new(Block::<f64>::gaussian(400, 8, 1).view().to_owned()).unwrap();
    let b = Block::<f64>::gaussian(400, 1, 2);
    let plan = Kaczmarz::new().batch(16).passes(200.0);
    let found = plan.solve(&a, &b).unwrap();
    assert!(!found.is_certified());
    assert_eq!(found.info.stop, Stop::Stagnated);
    assert!(found.reason.contains("outside the range"), "{}", found.reason);
    assert!(found.certificates[0] > 1e-8 && found.residuals[0] > 0.5 * found.sizes[0]);
    let sampled = LeastSquares::new().passes(200.0);
    let found = sampled.solve_rows(&a, &b, &Sampled::mini_batch(16)).unwrap();
    assert!(!found.is_certified() && found.reason.contains("outside the range"));
    // The methods for such systems solve it.
    for found in [
        plan.inconsistent(true).solve(&a, &b).unwrap(),
        sampled.solve_rows(&a, &b, &Sampled::svrg(64)).unwrap(),
        sampled.solve_rows(&a, &b, &Sampled::auto()).unwrap(),
    ] {
        assert!(found.is_certified(), "{} {:?}", found.reason, found.info.stop);
    }
}

/// Given momentum that diverges in mean square is refused, with the batch that it needs; it is
/// accepted from that batch on (§3: Loizou and Richtárik's parameters at s = 1 and 4).
#[test]
fn diverging_momentum_is_refused() {
    let a = Dense::new(Block::<f64>::gaussian(300, 15, 1).view().to_owned()).unwrap();
    let b = a.multiply(Block::gaussian(15, 1, 2).as_ref()).unwrap();
    let accelerated = Momentum::Given { step: 1.0, gamma: 0.8388 };
    let plan = Kaczmarz::new().momentum(accelerated);
    let error = plan.clone().solve(&a, &b).unwrap_err();
    let ErrorKind::Diverges { batch, gain, needed } = error.kind() else {
        panic!("{error}");
    };
    assert!(*batch == 1 && *gain > 3.0 && *needed > 3.0 && *needed < 4.0, "{error}");
    assert!(plan.batch(4).solve(&a, &b).unwrap().is_certified());
    let loose = Kaczmarz::new().momentum(Momentum::Given { step: 1.0, gamma: 1.5 });
    assert!(text(loose.solve(&a, &b)).starts_with("momentum: 1.5"));
    // Chosen parameters warn and name the batch.
    let found = Kaczmarz::new().solve(&a, &b).unwrap();
    assert!(found.reason.contains("warning") && found.reason.contains("it pays from batches of"));
}

/// A budget is a stop, never an error; so is the watcher's word.
#[test]
fn budgets_and_watchers() {
    let a = Dense::new(Block::<f64>::gaussian(400, 150, 1).view().to_owned()).unwrap();
    let b = Block::<f64>::gaussian(400, 1, 2);
    for method in [Method::Cg, Method::Lsmr, Method::Chebyshev { bounds: Some((1.0, 1500.0)) }] {
        let plan = LeastSquares::new().method(method).scaling(Scaling::Off);
        let cut = plan.clone().passes(6.0).solve(&a, &b).unwrap();
        assert_eq!(cut.info.stop, Stop::Passes);
        assert!(!cut.is_certified() && cut.reason.contains("not certified"), "{}", cut.reason);
        let mut ticks = Vec::new();
        let asked = plan.solve_watched(&a, &b, &mut |record| {
            ticks.push(record.tick);
            if ticks.len() == 3 {
                ControlFlow::Break(Stop::Cancelled)
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!((asked.unwrap().info.stop, ticks), (Stop::Cancelled, vec![1, 2, 3]));
    }
    let cut = Kaczmarz::new().passes(3.0).tolerance(0.0).solve(&a, &b).unwrap();
    assert_eq!(cut.info.stop, Stop::Passes);
}
