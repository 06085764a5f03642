//! Dense matrices of every layout are their explicit matrix.

mod common;

use common::{Explicit, check_adjoint, check_rows, exact, matrix, on_threads};
use favard_operator::{
    AdjointOperator, Between, Block, Dense, ErrorKind, LinearOperator, Scalar, Workspace,
};
use ndarray::{ArrayView2, s};

fn check<T: Scalar>(view: &ArrayView2<'_, T>) {
    let op = Dense::new(view).unwrap();
    let explicit = Explicit::plain(exact(&view.to_owned()));
    check_adjoint(&op, &explicit);
    check_rows(&op, &explicit);
    assert!(op.is_infallible());
}

fn layouts<T: Scalar>(rows: usize, cols: usize) {
    let wide = matrix::<T>(rows, cols, 1);
    check(&wide.view());
    check(&wide.t());
    check(&wide.slice(s![..;-1, ..]));
    check(&wide.slice(s![.., ..;-1]));
    check(&wide.t().slice(s![..;-1, ..;-1]));
    check(&wide.slice(s![..;2, ..;3]));
}

#[test]
fn every_layout_is_its_explicit_matrix() {
    for (rows, cols) in [(0, 3), (3, 0), (0, 0), (1, 1), (1, 4), (5, 1), (7, 12), (40, 9)] {
        layouts::<f64>(rows, cols);
        layouts::<f32>(rows, cols);
    }
}

/// Shapes that take each of the schedules: pieces of the result, pieces of the inner dimension,
/// and the normal product in row blocks with many pieces.
#[test]
fn every_schedule_gives_the_same_bits_on_any_number_of_threads() {
    fn run<T: Scalar>(array: &ArrayView2<'_, T>) {
        let op = Dense::new(array).unwrap();
        let (rows, cols) = op.shape();
        let explicit = exact(&array.to_owned());
        let magnitude = explicit.mapv(f64::abs);
        for k in [1, 5] {
            let products = |threads| {
                on_threads(threads, || {
                    let mut ws = Workspace::new();
                    let x = Block::<T>::gaussian(cols, k, 2);
                    let z = Block::<T>::gaussian(rows, k, 3);
                    let mut sums = vec![T::zero(); k];
                    let mut normal = Block::zeros(cols, k);
                    let between = Between { sums: Some(&mut sums), ..Between::default() };
                    let (one, zero) = (T::one(), T::zero());
                    op.apply_normal(one, x.as_ref(), between, zero, normal.as_mut(), &mut ws)
                        .unwrap();
                    let forward = op.multiply(x.as_ref()).unwrap();
                    let adjoint = op.multiply_adjoint(z.as_ref()).unwrap();
                    (forward, adjoint, normal, sums)
                })
            };
            let first = products(1);
            assert!(first == products(2) && first == products(4), "{rows} × {cols}, k = {k}");
            let x = Block::<T>::gaussian(cols, k, 2).view().mapv(Scalar::as_f64);
            let z = Block::<T>::gaussian(rows, k, 3).view().mapv(Scalar::as_f64);
            let close = common::assert_close;
            let (size_x, size_z) = (x.mapv(f64::abs), z.mapv(f64::abs));
            let forward = (explicit.dot(&x), magnitude.dot(&size_x));
            close("forward", first.0.as_ref(), &forward.0, &forward.1, cols + 4);
            let adjoint = (explicit.t().dot(&z), magnitude.t().dot(&size_z));
            close("adjoint", first.1.as_ref(), &adjoint.0, &adjoint.1, rows + 4);
            let normal = (explicit.t().dot(&forward.0), magnitude.t().dot(&forward.1));
            close("normal", first.2.as_ref(), &normal.0, &normal.1, rows + cols + 4);
        }
    }
    for (rows, cols) in [(4000, 60), (60, 4000), (3, 70_000), (70_000, 3), (300, 300)] {
        let array = matrix::<f64>(rows, cols, 4);
        run(&array.view());
        run(&array.t());
        run(&matrix::<f32>(rows, cols, 4).view());
    }
}

#[test]
fn entries_that_are_not_finite_are_named() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut array = matrix::<f64>(50, 7, 1);
        array[[31, 4]] = bad;
        for (view, place) in [(array.view(), (31, 4)), (array.t(), (4, 31))] {
            match Dense::new(view).unwrap_err().kind() {
                ErrorKind::NonFinite { row, column, value, .. } => {
                    assert_eq!((*row, *column), place);
                    assert!(!value.is_finite());
                }
                other => panic!("{other}"),
            }
        }
    }
}
