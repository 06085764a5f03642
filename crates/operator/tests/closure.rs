//! Closures are their explicit matrix, and cannot hurt the block they failed on.

mod common;

use common::{Explicit, check_adjoint, check_linear, check_terms, exact, matrix};
use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Error, ErrorKind, FnOperator, FusedFn, LinearOperator,
    Scalar, StochasticFn, StochasticOperator, VectorFn, Workspace,
};
use ndarray::{Array2, ArrayView1, ArrayViewMut1};

fn array<T: Scalar>(x: BlockRef<'_, T>) -> Array2<T> {
    Array2::from_shape_fn(x.shape(), |(i, j)| x.row(i)[j])
}

fn product<T: Scalar>(a: &Array2<T>, x: BlockRef<'_, T>, mut y: BlockMut<'_, T>) {
    for (i, row) in a.dot(&array(x)).rows().into_iter().enumerate() {
        y.row_mut(i).iter_mut().zip(row).for_each(|(y, &p)| *y = p);
    }
}

fn check<T: Scalar>(rows: usize, cols: usize) {
    let a = matrix::<T>(rows, cols, 1);
    let at = a.t().to_owned();
    let shape = (rows, cols);
    let explicit = Explicit::plain(exact(&a));

    let op = FnOperator::<T>::new(shape, |x, y| product(&a, x, y));
    check_linear(&op, &explicit);
    check_adjoint(&op.with_adjoint(|x, y| product(&at, x, y)), &explicit);

    let times = |a: &Array2<T>, x: &[T], y: &mut [T]| {
        ArrayViewMut1::from(y).assign(&a.dot(&ArrayView1::from(x)));
    };
    let op = VectorFn::<T>::new(shape, |x, y| times(&a, x, y));
    check_linear(&op, &explicit);
    check_adjoint(&op.with_adjoint(|x, y| times(&at, x, y)), &explicit);

    let fused = |a: &Array2<T>, alpha: T, x: BlockRef<'_, T>, gamma: T, mut y: BlockMut<'_, T>| {
        for (i, row) in a.dot(&array(x)).rows().into_iter().enumerate() {
            for (y, &p) in y.row_mut(i).iter_mut().zip(row) {
                *y = alpha * p + if gamma == T::zero() { T::zero() } else { gamma * *y };
            }
        }
        Ok(())
    };
    let op = FusedFn::<T>::new(shape, |alpha, x, gamma, y| fused(&a, alpha, x, gamma, y));
    check_linear(&op, &explicit);
    let op = op.with_adjoint(|alpha, x, gamma, y| fused(&at, alpha, x, gamma, y));
    check_adjoint(&op, &explicit);

    // One term for each row.
    let op = StochasticFn::new(shape, rows, |batch: &Batch<T>, x, mut y| {
        for (&row, &weight) in batch.terms.iter().zip(&batch.weights) {
            let product = a.row(row).dot(&array(x));
            y.row_mut(row).iter_mut().zip(product).for_each(|(y, p)| *y += weight * p);
        }
        Ok(())
    });
    check_linear(&op, &explicit);
    check_terms(&op, &explicit);
}

#[test]
fn closures_are_their_explicit_matrix() {
    for (rows, cols) in [(0, 2), (2, 0), (1, 1), (6, 4), (5, 9)] {
        check::<f64>(rows, cols);
        check::<f32>(rows, cols);
    }
}

/// Runs the operator on a block and makes sure that its failure has not changed it.
fn failure(op: &dyn LinearOperator<f64>) -> Error {
    let (rows, cols) = op.shape();
    let x = Block::gaussian(cols, 2, 1);
    let mut y = Block::gaussian(rows, 2, 2);
    let before = y.clone();
    let mut ws = Workspace::new();
    let error = op.apply(1.0, x.as_ref(), 0.5, y.as_mut(), &mut ws).unwrap_err();
    assert!(y == before, "y changed though the closure failed");
    assert!(!op.is_infallible());
    error
}

#[test]
fn a_panic_becomes_an_error_with_its_message() {
    let block = FnOperator::<f64>::new((2, 2), |_, _| panic!("lost at {}", 7));
    let vector = VectorFn::<f64>::new((2, 2), |_, _| panic!("lost at {}", 7));
    let stochastic = StochasticFn::new((2, 2), 3, |_: &Batch<f64>, _, _| panic!("lost at {}", 7));
    for op in [&block as &dyn LinearOperator<f64>, &vector, &stochastic] {
        match failure(op).kind() {
            ErrorKind::Panicked { message, .. } => assert_eq!(message, "lost at 7"),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_failing_closure_hands_its_error_on() {
    let block = FnOperator::<f64>::fallible((2, 2), |_, _| Err(Error::external("disk gone")));
    let vector = VectorFn::<f64>::fallible((2, 2), |_, _| Err(Error::external("disk gone")));
    for op in [&block as &dyn LinearOperator<f64>, &vector] {
        assert_eq!(failure(op).to_string(), "disk gone");
    }
}

#[test]
fn results_that_are_not_finite_are_named() {
    let block = FnOperator::<f64>::new((3, 3), |_, mut y| y.row_mut(2)[1] = f64::NAN);
    match failure(&block).kind() {
        ErrorKind::NonFinite { row: 2, column: 1, value, .. } => assert!(value.is_nan()),
        other => panic!("{other}"),
    }
    let vector = VectorFn::<f64>::new((3, 3), |_, y| y[1] = f64::INFINITY);
    match failure(&vector).kind() {
        ErrorKind::NonFinite { row: 1, column: 0, .. } => {}
        other => panic!("{other}"),
    }
    let fused = FusedFn::<f64>::new((3, 3), |_, _, _, mut y| {
        y.row_mut(0)[0] = f64::NAN;
        Ok(())
    });
    let x = Block::gaussian(3, 1, 1);
    let error = fused.multiply(x.as_ref()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { row: 0, column: 0, .. }));
}

#[test]
fn norms_of_a_stochastic_closure_are_checked() {
    let op = || StochasticFn::new((2, 2), 2, |_: &Batch<f64>, _, _| Ok(()));
    assert!(matches!(op().with_norms(vec![1.0]).unwrap_err().kind(), ErrorKind::Shape { .. }));
    let error = op().with_norms(vec![1.0, -1.0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Weight { index: 1, .. }));
    let op = op().with_norms(vec![1.0, 3.0]).unwrap();
    assert_eq!(op.term_norm(1).to_bits(), 3.0_f64.to_bits());
}
