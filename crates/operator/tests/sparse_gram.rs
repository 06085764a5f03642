//! The Gram matrices of sparse matrices, formed from the pairs of their entries.

use favard_operator::{
    Adjoint, AdjointOperator, Block, Centered, Csr, Gram, LinearOperator, Scalar, Scaled, Side,
    Sparse, Standardized, Weighted,
};
use ndarray::Array2;
use rayon::ThreadPoolBuilder;

/// Entries of ordinary size; `share(i, j)` of them are stored, by a fixed sequence of numbers.
fn sample<T: Scalar>(rows: usize, cols: usize, share: impl Fn(usize, usize) -> f64) -> Array2<T> {
    let mut bits = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 11) as f64 / 2.0_f64.powi(53)
    };
    Array2::from_shape_fn((rows, cols), |(i, j)| {
        let (kept, value) = (next() < share(i, j), 2.0 * next() - 0.7);
        T::of(if kept { value } else { 0.0 })
    })
}

fn stored<T: Scalar>(x: &Array2<T>) -> Csr<'static, T> {
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (column, &value) in row.iter().enumerate() {
            if value != T::zero() {
                columns.push(u32::try_from(column).unwrap());
                values.push(value);
            }
        }
        pointers.push(values.len());
    }
    Csr::new(x.dim(), pointers, columns, values).unwrap()
}

/// What is stored by rows and by columns, with short and long columns.
fn all<T: Scalar>(x: &Array2<T>) -> Vec<Box<dyn AdjointOperator<T>>> {
    let (csr, transpose) = (stored(x), stored(&x.t().to_owned()));
    let long: Vec<i64> = csr.columns().iter().map(|&column| i64::from(column)).collect();
    let (pointers, values) = (csr.pointers().to_vec(), csr.values().to_vec());
    let long = Csr::with_long_columns(x.dim(), pointers, long, values).unwrap();
    vec![Box::new(csr), Box::new(Sparse::from_columns(transpose)), Box::new(long)]
}

/// `found` is bᵀb or bbᵀ, up to the rounding of sums of so many products whose size, with what has
/// cancelled, is `size`.
fn check<T: Scalar>(found: &Block<T>, b: &Array2<f64>, side: Side, size: f64, what: &str) {
    let exact = if side == Side::Columns { b.t().dot(b) } else { b.dot(&b.t()) };
    assert_eq!(found.shape(), exact.dim(), "{what}");
    let terms = b.nrows().max(b.ncols()) as f64 + 16.0;
    let bound = 8.0 * terms * T::EPSILON.as_f64() * size;
    for ((i, j), value) in exact.indexed_iter() {
        let entry = found.row(i)[j].as_f64();
        assert!((entry - value).abs() <= bound, "{what} ({i}, {j}): {entry}, {value}, {bound:e}");
        assert_eq!(entry.to_bits(), found.row(j)[i].as_f64().to_bits(), "{what}: symmetric");
    }
}

fn all_standardized<T: Scalar>(x: &Array2<T>, what: &str) {
    let (rows, cols) = x.dim();
    let wide = x.mapv(Scalar::as_f64);
    let mean: Vec<f64> = (0..cols).map(|j| wide.column(j).sum() / rows.max(1) as f64).collect();
    let mean: Vec<T> = mean.into_iter().map(T::of).collect();
    let factor: Vec<T> = (0..cols).map(|j| T::of(0.5 + (j % 7) as f64)).collect();
    let weights: Vec<T> = (0..rows).map(|i| T::of(0.25 * (i % 5) as f64)).collect();
    let given = |list: &[T], i: usize| list[i].as_f64();
    for op in all(x) {
        for choice in 0..8 {
            let by = Standardized {
                shift: (choice & 1 > 0).then_some(&mean[..]),
                factor: (choice & 2 > 0).then_some(&factor[..]),
                weights: (choice & 4 > 0).then_some(&weights[..]),
            };
            let b = Array2::from_shape_fn((rows, cols), |(i, j)| {
                let centred = wide[[i, j]] - by.shift.map_or(0.0, |m| given(m, j));
                let factor = by.factor.map_or(1.0, |f| given(f, j));
                by.weights.map_or(1.0, |w| given(w, i)).sqrt() * factor * centred
            });
            // Entries up to 1.3, means up to as much, and both scaled by at most 6.5.
            let size = if choice & 2 > 0 { 2.6_f64.powi(2) * 6.5 * 6.5 } else { 2.6_f64.powi(2) };
            for side in [Side::Columns, Side::Rows] {
                let found = op.form_gram(side, by).unwrap().unwrap();
                check(&found, &b, side, size, &format!("{what} {side:?} {choice}"));
            }
        }
    }
}

/// Tall, wide, square, empty; lines that are sparse, full, and of both kinds; columns that most rows have.
#[test]
fn formed_matrices_are_those_of_the_entries() {
    for (rows, cols) in [(0, 3), (3, 0), (1, 1), (7, 5), (300, 40), (40, 300)] {
        all_standardized(&sample::<f64>(rows, cols, |_, _| 0.1), "sparse");
        all_standardized(&sample::<f64>(rows, cols, |_, _| 0.6), "half");
        all_standardized(&sample::<f64>(rows, cols, |i, j| [0.02, 0.9][(i + j) % 2]), "checked");
        all_standardized(&sample::<f64>(rows, cols, |i, _| [0.05, 0.9][i % 2]), "full rows");
        all_standardized(
            &sample::<f64>(rows, cols, |_, j| [0.05, 0.9][usize::from(j % 9 == 4)]),
            "full columns",
        );
        all_standardized(
            &sample::<f32>(rows, cols, |_, j| [0.05, 0.9][usize::from(j % 9 == 4)]),
            "f32",
        );
    }
}

/// Several groups of lines, each of several panels, and pieces of full lines that are flushed: the same bits
/// on any number of threads.
#[test]
fn large_matrices_and_threads() {
    let share = |i: usize, j: usize| if (i + j) % 1000 < 30 { 0.9 } else { 0.04 };
    for (rows, cols) in [(60, 40_000), (40_000, 60)] {
        let x =
            sample::<f64>(rows, cols, |i, j| if rows < cols { share(0, j) } else { share(i, 0) });
        let mean: Vec<f64> = (0..cols).map(|j| x.column(j).sum() / rows as f64).collect();
        let b = Array2::from_shape_fn(x.dim(), |(i, j)| x[[i, j]] - mean[j]);
        let by = Standardized { shift: Some(&mean[..]), ..Standardized::default() };
        let side = if rows < cols { Side::Rows } else { Side::Columns };
        for op in all(&x) {
            let form = |threads| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| op.form_gram(side, by).unwrap().unwrap())
            };
            let found = form(1);
            check(&found, &b, side, 2.6_f64.powi(2), "large");
            assert!([2, 4].into_iter().all(|threads| form(threads) == found));
        }
    }
}

/// Lines of middle length, more than a tile holds, of more numbers than a strip has; short and full ones among
/// them, and lines without entries.
fn in_tiles<T: Scalar>() {
    let share = |line: usize| [0.2, 0.2, 0.02, 0.6, 0.25, 0.0][line % 6];
    for (rows, cols) in [(333, 1500), (1500, 333)] {
        let is_wide = rows < cols;
        let x = sample::<T>(rows, cols, |i, j| share(if is_wide { j } else { i }));
        let mean: Vec<f64> =
            (0..cols).map(|j| x.column(j).mapv(Scalar::as_f64).mean().unwrap()).collect();
        let mean: Vec<T> = mean.into_iter().map(T::of).collect();
        let b = Array2::from_shape_fn(x.dim(), |(i, j)| x[[i, j]].as_f64() - mean[j].as_f64());
        let by = Standardized { shift: Some(&mean[..]), ..Standardized::default() };
        let side = if is_wide { Side::Rows } else { Side::Columns };
        for op in all(&x) {
            let found = op.form_gram(side, by).unwrap().unwrap();
            check(&found, &b, side, 2.6_f64.powi(2), "tiles");
            let alone = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert!(alone.install(|| op.form_gram(side, by).unwrap().unwrap()) == found);
        }
    }
}

#[test]
fn lines_of_middle_length() {
    in_tiles::<f64>();
    in_tiles::<f32>();
}

/// A column far from zero that nearly all rows have, among sparse ones: nothing of what it varies by is lost
/// to its mean.
#[test]
fn a_common_column_far_from_zero() {
    for cols in [12, 300] {
        let mut x = sample::<f64>(200, cols, |_, _| 0.05);
        for i in 0..200 {
            x[[i, 3]] = if i == 17 { 0.0 } else { 1e6 + (i % 10) as f64 };
        }
        x[[17, 3]] = 1e6;
        let mean: Vec<f64> = (0..cols).map(|j| x.column(j).sum() / 200.0).collect();
        let b = Array2::from_shape_fn(x.dim(), |(i, j)| x[[i, j]] - mean[j]);
        let by = Standardized { shift: Some(&mean[..]), ..Standardized::default() };
        for op in all(&x) {
            for side in [Side::Columns, Side::Rows] {
                let found = op.form_gram(side, by).unwrap().unwrap();
                // Entries of B are rounded by ε 10⁶ and multiplied by others of at most 10.
                check(&found, &b, side, 1e6 * 10.0, "common");
            }
        }
    }
}

/// Through the wrappers; what does not fit is an error.
#[test]
fn wrappers_form_it_too() {
    let x = sample::<f64>(60, 25, |_, _| 0.2);
    let (mean, scale) = (vec![0.1; 25], vec![2.0; 25]);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let centred = || Centered::new(stored(&x), mean.clone()).unwrap();
    let ops: [Box<dyn AdjointOperator<f64>>; 5] = [
        Box::new(centred()),
        Box::new(Scaled::new(centred(), scale.clone()).unwrap()),
        Box::new(Centered::new(Scaled::new(stored(&x), scale).unwrap(), mean.clone()).unwrap()),
        Box::new(Weighted::new(centred(), weights).unwrap()),
        Box::new(Adjoint::new(centred())),
    ];
    for (number, op) in ops.iter().enumerate() {
        let b = op.to_block().unwrap().view().to_owned();
        for side in [Side::Columns, Side::Rows] {
            assert!(!op.forming(side).unwrap().is_dense());
            let found = op.form_gram(side, Standardized::default()).unwrap().unwrap();
            check(&found, &b, side, 2.0 * 2.6_f64.powi(2), &format!("wrapped {number}"));
        }
    }
    let gram = Gram::new(stored(&x));
    check(&gram.to_block().unwrap(), &(&x / 60.0_f64.sqrt()), Side::Columns, 1.7, "Gram");
    assert_eq!(gram.products_to_form(), 1);
    let short = [1.0; 3];
    let wrong = |by| stored(&x).form_gram(Side::Rows, by).unwrap_err().to_string();
    let by = Standardized { shift: Some(&short[..]), ..Standardized::default() };
    assert_eq!(wrong(by), "numbers, one a column: expected 25, found 3");
    let by = Standardized { weights: Some(&short[..]), ..Standardized::default() };
    assert_eq!(wrong(by), "row weights: expected 60, found 3");
}

/// What is stated is what the entries say: pairs of those of a line, and full lines apart.
#[test]
fn the_work_is_stated() {
    let op =
        Csr::new((3, 8), vec![0, 1, 3, 11], vec![2, 0, 5, 0, 1, 2, 3, 4, 5, 6, 7], vec![1.0; 11]);
    let forming = op.unwrap().forming(Side::Columns).unwrap();
    // 1²/2 + 2²/2 and two lines; looking at 11 entries.
    assert_eq!((forming.dense.to_bits(), forming.across), (64.0_f64.to_bits(), false));
    assert_eq!(forming.scattered.to_bits(), (2.5_f64 + 2.0 + 44.0).to_bits());
    assert!(forming.scratch >= 8 * 8 * 8);
    // Where solving dwarfs it, nobody counts.
    let huge = Csr::new((1, 5000), vec![0, 2], vec![7, 4000], vec![1.0; 2]).unwrap();
    let forming = huge.forming(Side::Columns).unwrap();
    assert!(forming.scattered > 8.0 && forming.scattered < 40.0);
}
