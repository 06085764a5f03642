//! Moments with weights, and matrices stored by columns.

#![allow(clippy::float_cmp)] // exact zeros and entries are the law here

use favard_operator::{
    Block, Centered, ColumnMoments, Csr, Dense, Moments, RowOperator, Scaled, Sparse,
    WeightedMoments, Workspace,
};
use ndarray::Array2;

fn data() -> Array2<f64> {
    let noise = Block::<f64>::gaussian(700, 9, 3);
    Array2::from_shape_fn((700, 9), |(i, j)| {
        let value = noise.row(i)[j];
        if j == 4 {
            2.5
        } else if value > 0.3 {
            value + 10.0 * j as f64
        } else {
            0.0
        }
    })
}

/// The matrix stored by rows and by columns.
fn stored(x: &Array2<f64>) -> (Csr<'static, f64>, Sparse<'static, f64>) {
    let by_rows = sprs::CsMat::csr_from_dense(x.view(), 0.0);
    let by_columns = Sparse::from_sprs(by_rows.to_csc()).unwrap();
    (Csr::from_sprs(by_rows).unwrap(), by_columns)
}

fn weights() -> Vec<f64> {
    (0..700).map(|i| f64::from(i * i % 4)).collect()
}

/// Equal up to the rounding of sums over 1,400 values of at most 83.
fn assert_close(a: &Moments, b: &Moments) {
    for j in 0..a.mean.len() {
        assert!((a.mean[j] - b.mean[j]).abs() <= 1400.0 * f64::EPSILON * 83.0);
        let scale = a.squares[j].max(83.0 * 83.0);
        assert!((a.squares[j] - b.squares[j]).abs() <= 1400.0 * f64::EPSILON * scale);
    }
}

/// Whole weights are repeated rows, for every storage and through the wrappers.
#[test]
fn weights_repeat_rows() {
    let (x, w) = (data(), weights());
    let repeats: Vec<usize> = (0..700).flat_map(|i| std::iter::repeat_n(i, i * i % 4)).collect();
    let repeated = x.select(ndarray::Axis(0), &repeats);
    let expected = Dense::new(repeated.view()).unwrap().column_moments().unwrap();
    let (csr, by_columns) = stored(&x);
    let dense = Dense::new(x.view()).unwrap();
    for found in [
        dense.weighted_moments(&w),
        csr.weighted_moments(&w),
        by_columns.weighted_moments(&w),
        Sparse::from(csr.view()).weighted_moments(&w),
    ] {
        let found = found.unwrap();
        assert_close(&found, &expected);
        assert_eq!(found.count, 700);
    }
    // A stored constant column stays exact, weighted or not.
    assert_eq!(dense.weighted_moments(&w).unwrap().squares[4], 0.0);
    assert_eq!(csr.weighted_moments(&w).unwrap().squares[4], 0.0);
    assert_close(&by_columns.column_moments().unwrap(), &dense.column_moments().unwrap());
    let wrap = |op: &Csr<'_, f64>| {
        let centred = Centered::new(op.view(), vec![1.0; 9]).unwrap();
        Scaled::new(centred, vec![2.0; 9]).unwrap().weighted_moments(&w).unwrap()
    };
    let wrapped = wrap(&csr);
    for j in 0..9 {
        let mean = (expected.mean[j] - 1.0) / 2.0;
        assert!((wrapped.mean[j] - mean).abs() <= 1400.0 * f64::EPSILON * 83.0);
    }
}

/// Σ a², for every storage and through wrappers, up to the rounding of 700 squares.
#[test]
fn squares_of_columns() {
    let x = data();
    let (csr, by_columns) = stored(&x);
    let centred = Centered::new(csr.view(), vec![1.0; 9]).unwrap();
    let found = [
        (0.0, Dense::new(x.view()).unwrap().column_squares()),
        (0.0, csr.column_squares()),
        (0.0, by_columns.column_squares()),
        (0.0, Sparse::from(csr.view()).column_squares()),
        (1.0, centred.column_squares()),
    ];
    for (shift, found) in found {
        for (j, square) in found.unwrap().into_iter().enumerate() {
            let exact: f64 = x.column(j).iter().map(|v| (v - shift).powi(2)).sum();
            assert!((square - exact).abs() <= 2.0 * 700.0 * f64::EPSILON * exact, "column {j}");
        }
    }
    let empty = sprs::CsMat::<f64>::zero((0, 9));
    assert_eq!(Csr::from_sprs(empty).unwrap().column_squares().unwrap(), [0.0; 9]);
}

/// The order in memory is not the order of the sums: the same bits for rows, columns and steps of two.
#[test]
fn strides_do_not_matter() {
    let (x, w) = (data(), weights());
    let by_columns = x.t().to_owned();
    let wide = Array2::from_shape_fn((700, 18), |(i, j)| x[[i, j / 2]]);
    let every_second = wide.slice(ndarray::s![.., ..;2]);
    let moments = |view: ndarray::ArrayView2<'_, f64>| {
        let dense = Dense::new(view).unwrap();
        (dense.column_moments().unwrap(), dense.weighted_moments(&w).unwrap())
    };
    let expected = moments(x.view());
    assert_eq!(moments(by_columns.t()), expected);
    assert_eq!(moments(every_second), expected);
}

#[test]
fn bad_weights_are_named() {
    let x = Dense::new(data()).unwrap();
    let text = |weights: &[f64]| x.weighted_moments(weights).unwrap_err().to_string();
    assert_eq!(text(&[1.0; 3]), "row weights: expected 700, found 3");
    let mut bad = weights();
    bad[6] = -1.0;
    assert_eq!(text(&bad), "weight 6: -1 must be finite and not negative");
    assert!(text(&[0.0; 700]).contains("one must be positive"));
}

/// Rows of a matrix stored by columns are the rows.
#[test]
fn rows_by_columns() {
    let x = data();
    let (csr, by_columns) = stored(&x);
    let (rows, mut ws) = ([5, 699, 5, 0], Workspace::new());
    let block = Block::<f64>::gaussian(9, 3, 1);
    let (mut a, mut b) = (Block::zeros(4, 3), Block::zeros(4, 3));
    csr.apply_rows(&rows, block.as_ref(), a.as_mut(), &mut ws).unwrap();
    by_columns.apply_rows(&rows, block.as_ref(), b.as_mut(), &mut ws).unwrap();
    let (mut c, mut d) = (Block::<f64>::gaussian(9, 3, 2), Block::<f64>::gaussian(9, 3, 2));
    csr.apply_rows_adjoint(&rows, 2.0, a.as_ref(), -1.0, c.as_mut(), &mut ws).unwrap();
    by_columns.apply_rows_adjoint(&rows, 2.0, a.as_ref(), -1.0, d.as_mut(), &mut ws).unwrap();
    for (p, q) in a.view().iter().zip(b.view()).chain(c.view().iter().zip(d.view())) {
        assert!((p - q).abs() <= 100.0 * f64::EPSILON * (1.0 + p.abs()));
    }
    assert!((by_columns.row_norm_squared(5) - csr.row_norm_squared(5)).abs() <= 1e-9);
    assert_eq!(by_columns.entry(5, 4), 2.5);
    assert!(by_columns.apply_rows(&[700], block.as_ref(), a.as_mut(), &mut ws).is_err());
}
