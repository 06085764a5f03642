//! Dense matrices of every layout are their explicit matrix.

mod common;

use common::{Explicit, check_adjoint, check_rows, exact, matrix, on_threads};
use favard_operator::{
    Adjoint, AdjointOperator, Between, Block, Centered, Dense, ErrorKind, LinearOperator, Scalar,
    Scaled, Side, Standardized, Workspace,
};
use ndarray::{Array2, ArrayView2, s};

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

/// A Gram matrix that is formed is the matrix of the products, through every wrapper and on both
/// sides, over several pieces of rows, and for columns with a mean far above their deviation.
#[test]
fn formed_gram_matrices_are_those_of_the_products() {
    for (rows, cols) in [(0, 3), (1, 1), (5, 3), (1500, 7), (40, 300)] {
        let noise = Block::<f64>::gaussian(rows, cols, 3);
        let x = Array2::from_shape_fn((rows, cols), |(i, j)| noise.row(i)[j] + 50.0 * j as f64);
        let mean: Vec<f64> = (0..cols).map(|j| 50.0 * j as f64).collect();
        let scale: Vec<f64> = (0..cols).map(|j| 1.0 + 0.5 * j as f64).collect();
        let dense = || Dense::new(x.view()).unwrap();
        let centred = || Centered::new(dense(), mean.clone()).unwrap();
        let ops: [Box<dyn AdjointOperator<f64>>; 5] = [
            Box::new(dense()),
            Box::new(centred()),
            Box::new(Scaled::new(centred(), scale.clone()).unwrap()),
            Box::new(
                Centered::new(Scaled::new(dense(), scale.clone()).unwrap(), mean.clone()).unwrap(),
            ),
            Box::new(Adjoint::new(Scaled::new(centred(), scale.clone()).unwrap())),
        ];
        for (index, op) in ops.iter().enumerate() {
            assert!(op.forming(Side::Rows).unwrap().is_dense());
            // B itself, by a product with the identity: exact but for its own rounding.
            let b = op.to_block().unwrap();
            let b = b.view();
            let largest = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for (side, exact) in [(Side::Columns, b.t().dot(&b)), (Side::Rows, b.dot(&b.t()))] {
                let Some(formed) = op.form_gram(side, Standardized::default()).unwrap() else {
                    panic!("{index}: nothing was formed");
                };
                // Sums of at most max(m, n) products, and the mean (up to 50 n) rounded off B.
                let terms = rows.max(cols) as f64;
                let lost = f64::EPSILON * 50.0 * cols as f64;
                let bound = 4.0 * terms * (f64::EPSILON * terms * largest + 2.0 * lost) * largest;
                for ((i, j), value) in exact.indexed_iter() {
                    let found = formed.row(i)[j];
                    assert!((found - value).abs() <= bound, "{index} ({i}, {j}): {found}, {value}");
                }
            }
        }
    }
}
