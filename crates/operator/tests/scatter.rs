//! The scatter matrix of a dense matrix is the explicit sum, whatever the rows.

#![allow(clippy::float_cmp)] // exact zeros and counts are the law here

mod common;

use common::on_threads;
use favard_operator::{
    AdjointOperator, Between, Block, ColumnMoments, Dense, ErrorKind, Scalar, Scatter, Side,
    Standardized, Weighted, WeightedMoments, Workspace,
};
use ndarray::{Array2, ArrayView2, s};
use proptest::prelude::*;

/// What a scatter matrix is, in f64 and about the mean of the rows that count.
fn explicit<T: Scalar>(x: &ArrayView2<'_, T>, weights: &[f64]) -> (Vec<f64>, Array2<f64>) {
    let (rows, cols) = x.dim();
    let x = x.mapv(Scalar::as_f64);
    let total: f64 = weights.iter().sum();
    let start = weights.iter().position(|&w| w > 0.0).unwrap_or(0);
    let column = |j: usize| {
        let gap = |i: usize| weights[i] * (x[[i, j]] - x[[start, j]]);
        x[[start, j]] + (0..rows).map(gap).sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..cols).map(column).collect();
    let matrix = Array2::from_shape_fn((cols, cols), |(j, k)| {
        let product = |i: usize| weights[i] * (x[[i, j]] - mean[j]) * (x[[i, k]] - mean[k]);
        (0..rows).map(product).sum()
    });
    (mean, matrix)
}

/// Rows of noise about means that many deviations away, some of them sorted or with outliers first.
fn data<T: Scalar>(rows: usize, cols: usize, far: f64, seed: u64) -> Array2<T> {
    let noise = Block::<f64>::gaussian(rows, cols, seed);
    Array2::from_shape_fn((rows, cols), |(i, j)| {
        let value = noise.row(i)[j] + far * (j % 3) as f64;
        T::of(match j % 4 {
            0 => value,
            1 => value + 10.0 * i as f64 / rows as f64,
            2 => value + if i < 2 { 30.0 } else { 0.0 },
            _ => 2.0 * value - noise.row(i)[0],
        })
    })
}

fn check<T: Scalar>(x: &ArrayView2<'_, T>, weights: Option<&[f64]>, far: f64) {
    let (rows, cols) = x.dim();
    let dense = Dense::new(x).unwrap();
    let form = |threads| on_threads(threads, || dense.form_scatter(weights).unwrap().unwrap());
    let found: Scatter<T> = form(1);
    assert!(found == form(2) && found == form(4), "{rows} × {cols}");
    // The moments are those of their own pass, to the bit: a checkpoint knows its data by them.
    let moments = weights.map_or_else(|| dense.column_moments(), |w| dense.weighted_moments(w));
    assert!(found.moments == moments.unwrap(), "moments of {rows} × {cols}");
    // The same bits however it is stored.
    let by_columns = x.t().to_owned();
    let other = Dense::new(by_columns.t()).unwrap().form_scatter(weights).unwrap().unwrap();
    assert!(found == other, "{rows} × {cols} by columns");
    let ones = vec![1.0; rows];
    let weights = weights.unwrap_or(&ones);
    let (mean, matrix) = explicit(x, weights);
    let total: f64 = weights.iter().sum();
    assert!((found.weight - total).abs() <= rows as f64 * f64::EPSILON * total);
    let unit = T::EPSILON.as_f64();
    for j in 0..cols {
        // Means and squares are sums in f64 of differences to a row: what rounds is the mean.
        let size = (matrix[[j, j]] / total).sqrt() * (rows as f64).sqrt();
        let bound = 8.0 * f64::EPSILON * (far + rows as f64 * size);
        assert!((found.moments.mean[j] - mean[j]).abs() <= bound, "mean {j}");
        for k in 0..cols {
            // n products of differences, each difference rounded, and the mean that is subtracted.
            let size = (matrix[[j, j]] * matrix[[k, k]]).sqrt();
            let lost = 4.0 * unit * far * ((matrix[[j, j]] + matrix[[k, k]]) * total).sqrt();
            let bound = 4.0 * rows as f64 * unit * size + lost + total * (unit * far).powi(2);
            let gap = (found.matrix.row(j)[k].as_f64() - matrix[[j, k]]).abs();
            assert!(gap <= bound, "({j}, {k}) of {rows} × {cols}: {gap:e} above {bound:e}");
        }
        // Up to 256 rows at a time are summed about the first of them, s: m rows lose 3m units of
        // Σ w (x − s)², and |x − s| is at most |x − μ| and the largest of these. Then they are merged.
        let gap = |i: usize| (x[[i, j]].as_f64() - mean[j]).abs();
        let largest = (0..rows).filter(|&i| weights[i] > 0.0).map(gap).fold(0.0, f64::max);
        let about: f64 = (0..rows).map(|i| weights[i] * (gap(i) + largest).powi(2)).sum();
        let sums = 3.0 * (rows.min(256) + 2) as f64 * f64::EPSILON * about;
        let merged = 4.0 * rows as f64 * f64::EPSILON * matrix[[j, j]];
        let lost = 8.0 * f64::EPSILON * far * (matrix[[j, j]] * total).sqrt();
        let square = (found.moments.squares[j] - matrix[[j, j]]).abs();
        assert!(square <= sums + merged + lost, "square {j}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every shape and layout, on either side of the kernels' limits, f64 and f32, with and without
    /// weights; nothing is lost to means far above the deviations.
    #[test]
    fn scatter_is_the_explicit_sum(
        rows in 1_usize..1200,
        cols in 1_usize..45,
        far in prop::sample::select(vec![0.0, 1e3, 1e6]),
        seed in 0_u64..1000,
    ) {
        let x = data::<f64>(rows, cols, far, seed);
        let weights: Vec<f64> = (0..rows).map(|i| ((i + 1) * (i + 1) % 4) as f64).collect();
        check(&x.view(), None, far);
        check(&x.view(), Some(&weights), far);
        check(&x.slice(s![..;-1, ..]), None, far);
        check(&data::<f32>(rows, cols, far.min(1e3), seed).view(), None, far.min(1e3));
    }

    /// Pᵀ W (P x − 1mᵀ) of few columns is that of the two products, and its sums are.
    #[test]
    fn narrow_normal_products_are_two_products(
        rows in 1_usize..700,
        inner in 1_usize..33,
        cols in 1_usize..30,
        seed in 0_u64..1000,
    ) {
        let array = data::<f64>(rows, inner, 3.0, seed);
        let (dense, x) = (Dense::new(&array).unwrap(), Block::<f64>::gaussian(inner, cols, seed));
        let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        let offset: Vec<f64> = (0..cols).map(|j| j as f64 - 2.0).collect();
        let run = |threads| on_threads(threads, || {
            let (mut y, mut sums) = (Block::<f64>::gaussian(inner, cols, 7), vec![9.0; cols]);
            let between = Between {
                weights: Some(&weights),
                offset: Some(&offset),
                sums: Some(&mut sums),
            };
            let ws = &mut Workspace::new();
            dense.apply_normal(2.0, x.as_ref(), between, -0.5, y.as_mut(), ws).unwrap();
            (y, sums)
        });
        let (y, sums) = run(1);
        prop_assert!(run(2) == (y.clone(), sums.clone()));
        let offsets = ndarray::ArrayView1::from(&offset);
        let weight = ndarray::ArrayView1::from(&weights);
        let z = (array.dot(&x.view()) - offsets) * weight.insert_axis(ndarray::Axis(1));
        let size = (array.mapv(f64::abs).dot(&x.view().mapv(f64::abs)) + offsets.mapv(f64::abs))
            * weight.insert_axis(ndarray::Axis(1));
        let old = Block::<f64>::gaussian(inner, cols, 7);
        let expected = 2.0 * array.t().dot(&z) - 0.5 * &old.view();
        let bound = 2.0 * array.t().mapv(f64::abs).dot(&size) + old.view().mapv(f64::abs);
        let depth = 4.0 * (rows + inner + 8) as f64 * f64::EPSILON;
        for ((j, l), value) in expected.indexed_iter() {
            prop_assert!((y.row(j)[l] - value).abs() <= depth * bound[[j, l]], "({j}, {l})");
        }
        for (l, sum) in sums.iter().enumerate() {
            let column = (z.column(l).sum(), size.column(l).sum());
            prop_assert!((sum - column.0).abs() <= depth * column.1, "sum {l}");
        }
    }
}

/// A constant column has no variance at all, however large its value, over many pieces of rows.
#[test]
fn constant_columns_are_exactly_zero() {
    let noise = Block::<f64>::gaussian(3000, 3, 1);
    let x =
        Array2::from_shape_fn((3000, 3), |(i, j)| if j == 1 { 1e9 / 3.0 } else { noise.row(i)[j] });
    let found = Dense::new(&x).unwrap().form_scatter(None).unwrap().unwrap();
    assert_eq!(found.moments.squares[1].to_bits(), 0.0_f64.to_bits());
    assert!(found.matrix.row(1).iter().all(|value| *value == 0.0));
    assert_eq!(found.moments.mean[1].to_bits(), (1e9_f64 / 3.0).to_bits());
}

/// About another centre; with weights that leave pieces of rows out; and of no rows.
#[test]
fn centres_and_empty_pieces() {
    let x = data::<f64>(900, 5, 2.0, 3);
    let dense = Dense::new(&x).unwrap();
    let gram = dense.form_gram(Side::Columns, Standardized::default()).unwrap().unwrap();
    let about = dense.form_scatter(None).unwrap().unwrap().about(&[0.0; 5]);
    for (a, b) in gram.view().iter().zip(about.view()) {
        let largest = gram.view().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!((a - b).abs() <= 900.0 * f64::EPSILON * largest);
    }
    let weights: Vec<f64> = (0..900).map(|i| if i < 600 { 0.0 } else { 2.0 }).collect();
    check(&x.view(), Some(&weights), 6.0);
    let found = dense.form_scatter(Some(&weights)).unwrap().unwrap();
    let moments = dense.weighted_moments(&weights).unwrap();
    assert_eq!(found.moments.count, moments.count);
    let empty = Dense::new(Array2::<f64>::zeros((0, 3))).unwrap();
    let found = empty.form_scatter(None).unwrap().unwrap();
    assert_eq!((found.weight, found.moments), (0.0, empty.column_moments().unwrap()));
    assert_eq!(found.matrix, Block::zeros(3, 3));
    let narrow = Dense::new(Array2::<f64>::zeros((4, 0))).unwrap();
    let found = narrow.form_scatter(None).unwrap().unwrap();
    assert_eq!((found.weight, found.matrix.shape()), (4.0, (0, 0)));
    assert!(dense.form_scatter(Some(&[1.0])).is_err());
    assert!(dense.form_scatter(Some(&[-1.0; 900])).is_err());
}

/// The Gram matrices of a weighted matrix are those of its rows times the roots, on both sides.
#[test]
fn weighted_gram_matrices() {
    for (rows, cols) in [(1500, 7), (40, 60)] {
        let x = data::<f64>(rows, cols, 1.0, 5);
        let weights: Vec<f64> = (0..rows).map(|i| 0.25 + (i % 5) as f64).collect();
        let op = Weighted::new(Dense::new(&x).unwrap(), weights.clone()).unwrap();
        assert!(op.forming(Side::Rows).unwrap().is_dense());
        let b = Array2::from_shape_fn((rows, cols), |(i, j)| weights[i].sqrt() * x[[i, j]]);
        for (side, exact) in [(Side::Columns, b.t().dot(&b)), (Side::Rows, b.dot(&b.t()))] {
            let formed = op.form_gram(side, Standardized::default()).unwrap().unwrap();
            let largest = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let bound = 4.0 * (rows.max(cols) as f64).powi(2) * f64::EPSILON * largest * largest;
            for ((i, j), value) in exact.indexed_iter() {
                assert!((formed.row(i)[j] - value).abs() <= bound);
            }
        }
        let shift = vec![1.0; cols];
        let by = Standardized { shift: Some(&shift), ..Standardized::default() };
        assert!(op.form_gram(Side::Columns, by).unwrap().is_none());
    }
}

/// What was not looked for at first is named by the sums that find it.
#[test]
fn deferred_entries_are_named() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (rows, cols) in [(3000, 7), (700, 50)] {
            let mut x = data::<f64>(rows, cols, 0.0, 1);
            x[[rows - 3, 4]] = bad;
            let dense = Dense::deferred(&x);
            let errors =
                [dense.form_scatter(None).unwrap_err(), dense.column_moments().unwrap_err()];
            for error in errors {
                let ErrorKind::NonFinite { row, column, .. } = *error.kind() else {
                    panic!("{error}");
                };
                assert_eq!((row, column), (rows - 3, 4));
            }
        }
    }
    // Finite numbers whose squares overflow are nobody's fault.
    let large = Dense::deferred(Array2::from_shape_fn((4, 2), |(i, _)| 1e200 * i as f64));
    assert!(!large.form_scatter(None).unwrap().unwrap().moments.squares[0].is_finite());
}
