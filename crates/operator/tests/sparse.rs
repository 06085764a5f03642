//! What the sparse products promise, against loops that cannot be wrong.

use favard_operator::{
    AdjointOperator, Batch, Between, Block, BlockMut, BlockRef, Column, ColumnMoments, Csr,
    ErrorKind, Gram, LinearOperator, RowOperator, Scalar, Sparse, StochasticOperator, Workspace,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPoolBuilder;

/// A random matrix whose row i has about `fill(i)` entries.
fn random<T: Scalar>(
    (rows, cols): (usize, usize),
    fill: impl Fn(usize) -> usize,
    seed: u64,
) -> Csr<'static, T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut pointers, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..rows {
        let bound = u32::try_from(cols).unwrap();
        let mut row: Vec<u32> =
            (0..fill(i)).filter(|_| cols > 0).map(|_| rng.random_range(0..bound)).collect();
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|_| T::of(rng.random_range(-1.0_f64..1.0))));
        columns.extend(row);
        pointers.push(columns.len());
    }
    Csr::new((rows, cols), pointers, columns, values).unwrap()
}

/// Shapes that take every path but one: empty ones, one group, four, many, and far more than a cache.
fn matrices<T: Scalar>() -> Vec<Csr<'static, T>> {
    vec![
        random((0, 0), |_| 0, 1),
        random((0, 5), |_| 0, 2),
        random((5, 0), |_| 0, 3),
        random((7, 9), |_| 0, 4),
        random((1, 1), |_| 1, 5),
        random((40, 30), |i| if i % 3 == 0 { 0 } else { i % 11 }, 6),
        random((900, 50), |i| i % 7, 7),
        random((1500, 20), |_| 12, 8),
        random((300, 4000), |i| if i == 17 { 2000 } else { 5 }, 9),
        // A dense row and a dense column.
        random((600, 40), |i| if i == 0 { 4000 } else { 3 }, 10),
    ]
}

/// Long rows, which are walked in pieces of columns for any width of the block.
fn long_rows<T: Scalar>() -> Csr<'static, T> {
    random((6, 220_000), |i| if i == 2 { 0 } else { 55_000 }, 11)
}

/// |ours − exact| ≤ (terms + 8) ε Σ|terms|: the rounding of a sum in any order, and of the few
/// operations around it.
fn check<T: Scalar>(what: &str, ours: BlockRef<'_, T>, exact: &[(f64, f64)], terms: usize) {
    for (n, &(value, size)) in exact.iter().enumerate() {
        let (i, j) = (n / ours.cols(), n % ours.cols());
        let bound = (terms as f64 + 8.0) * T::EPSILON.as_f64() * size;
        let found = ours.row(i)[j].as_f64();
        assert!((found - value).abs() <= bound, "{what} at {i}, {j}: {found} is not {value}");
    }
}

/// α A X + γ Y with the sum of absolute values, in f64, entry by entry.
fn naive<T: Scalar>(
    dense: &[Vec<f64>],
    alpha: f64,
    x: BlockRef<'_, T>,
    gamma: f64,
    y: BlockRef<'_, T>,
) -> Vec<(f64, f64)> {
    let mut out = vec![];
    for (i, row) in dense.iter().enumerate() {
        for j in 0..x.cols() {
            let old = if gamma == 0.0 { 0.0 } else { gamma * y.row(i)[j].as_f64() };
            let terms = row.iter().enumerate().map(|(c, v)| alpha * v * x.row(c)[j].as_f64());
            let (sum, size) = terms.fold((old, old.abs()), |(s, a), t| (s + t, a + t.abs()));
            out.push((sum, size));
        }
    }
    out
}

fn dense<T: Scalar>(a: &Csr<'_, T>) -> Vec<Vec<f64>> {
    let (rows, cols) = a.shape();
    (0..rows).map(|i| (0..cols).map(|j| a.entry(i, j).as_f64()).collect()).collect()
}

fn flip(dense: &[Vec<f64>], cols: usize) -> Vec<Vec<f64>> {
    (0..cols).map(|j| dense.iter().map(|row| row[j]).collect()).collect()
}

/// A block inside a larger one, so that its rows are padded and start anywhere.
fn inside<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Block<T> {
    Block::gaussian(rows, cols + 3, seed)
}

fn products<T: Scalar>(matrices: Vec<Csr<'_, T>>, widths: &[usize]) {
    for a in matrices {
        let ((rows, cols), full) = (a.shape(), dense(&a));
        let turned = flip(&full, cols);
        for &k in widths {
            for (alpha, gamma) in [(1.0, 0.0), (-0.5, 0.75), (2.0, 1.0)] {
                let (x, z) = (inside::<T>(cols, k, 1), inside::<T>(rows, k, 2));
                let (x, z) = (x.as_ref().cols_range(1..k + 1), z.as_ref().cols_range(1..k + 1));
                let mut ws = Workspace::new();
                let (alpha_t, gamma_t) = (T::of(alpha), T::of(gamma));
                // γ = 0 must not read y: fill it with NaN.
                let start = |rows: usize| {
                    let mut y = inside::<T>(rows, k, 3);
                    if gamma == 0.0 {
                        y.fill(T::nan());
                    }
                    y
                };
                let mut y = start(rows);
                let exact = naive(&full, alpha, x, gamma, y.as_ref().cols_range(2..k + 2));
                a.apply(alpha_t, x, gamma_t, y.as_mut().cols_range(2..k + 2), &mut ws).unwrap();
                check("A x", y.as_ref().cols_range(2..k + 2), &exact, cols);

                let mut y = start(cols);
                let before = y.clone();
                let exact = naive(&turned, alpha, z, gamma, y.as_ref().cols_range(2..k + 2));
                let view = y.as_mut().cols_range(2..k + 2);
                a.apply_adjoint(alpha_t, z, gamma_t, view, &mut ws).unwrap();
                check("Aᵀ z", y.as_ref().cols_range(2..k + 2), &exact, rows);
                // The columns beside the view belong to someone else.
                for i in 0..cols {
                    let (left, right) = (&y.row(i)[..2], &y.row(i)[k + 2..]);
                    let same = |a: &[T], b: &[T]| {
                        a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
                    };
                    assert!(same(left, &before.row(i)[..2]), "left of row {i}");
                    assert!(same(right, &before.row(i)[k + 2..]), "right of row {i}");
                }
            }
        }
    }
}

/// Every product equals the triple loop, for all widths, strides and shapes.
#[test]
fn products_equal_the_triple_loop() {
    let widths = [0, 1, 2, 3, 5, 8, 9, 16, 19];
    products(matrices::<f64>(), &widths);
    products(matrices::<f32>(), &widths);
    products(vec![long_rows::<f64>()], &[1, 9]);
    products(vec![long_rows::<f32>()], &[1, 9]);
}

/// Aᵀ D (A X − 1 mᵀ) and its sums equal the three steps one by one.
#[test]
fn normal_product_equals_its_steps() {
    for a in matrices::<f64>() {
        let (rows, cols) = a.shape();
        for k in [0, 1, 3, 8, 11] {
            let mut ws = Workspace::new();
            let x = Block::<f64>::gaussian(cols, k, 4);
            let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 5) as f64).collect();
            let offset: Vec<f64> = (0..k).map(|j| 0.25 * j as f64 - 0.5).collect();
            let mut z = a.multiply(x.as_ref()).unwrap();
            let mut expected = vec![0.0; k];
            Between::transform(Some(&weights), Some(&offset), z.as_mut(), 0, Some(&mut expected));
            let mut y = Block::gaussian(cols, k, 5);
            let exact = naive(&flip(&dense(&a), cols), -1.5, z.as_ref(), 0.5, y.as_ref());
            let mut sums = vec![f64::NAN; k];
            let between =
                Between { weights: Some(&weights), offset: Some(&offset), sums: Some(&mut sums) };
            a.apply_normal(-1.5, x.as_ref(), between, 0.5, y.as_mut(), &mut ws).unwrap();
            check("normal", y.as_ref(), &exact, rows);
            for (j, (sum, expected)) in sums.iter().zip(&expected).enumerate() {
                let size: f64 = (0..rows).map(|i| z.row(i)[j].abs()).sum();
                let bound = (rows as f64 + 8.0) * f64::EPSILON * size;
                assert!((sum - expected).abs() <= bound, "sum {j}: {sum} is not {expected}");
            }
        }
    }
}

/// All results of one matrix, for the comparison of their bits.
fn all_results<T: Scalar, I: Column>(a: &Csr<'_, T, I>, k: usize) -> Vec<Block<T>> {
    results_of_multiple(a, k, T::one())
}

/// Those of A, from the matrix c A. With a power of two for c they have the same bits.
fn results_of_multiple<T: Scalar, I: Column>(a: &Csr<'_, T, I>, k: usize, c: T) -> Vec<Block<T>> {
    let ((rows, cols), mut ws, (once, twice)) =
        (a.shape(), Workspace::new(), (T::one() / c, T::one() / (c * c)));
    let (x, z) = (Block::gaussian(cols, k, 6), Block::gaussian(rows, k, 7));
    let weights: Vec<T> = (0..rows).map(|i| T::of_count(i % 5 + 1)).collect();
    let mut sums = vec![T::zero(); k];
    let mut normal = Block::gaussian(cols, k, 8);
    let between = Between { weights: Some(&weights), offset: None, sums: Some(&mut sums) };
    let (share, rest) = (T::of(0.3) * twice, T::of(0.7));
    a.apply_normal(share, x.as_ref(), between, rest, normal.as_mut(), &mut ws).unwrap();
    sums.iter_mut().for_each(|sum| *sum *= once);
    let batch: Vec<usize> = (0..3 * rows).map(|i| (i * 31) % rows.max(1)).collect();
    let (mut picked, mut back) = (Block::zeros(batch.len(), k), Block::gaussian(cols, k, 9));
    a.apply_rows(&batch, x.as_ref(), picked.as_mut(), &mut ws).unwrap();
    let share = T::of(0.1) * twice;
    a.apply_rows_adjoint(&batch, share, picked.as_ref(), T::one(), back.as_mut(), &mut ws).unwrap();
    let picked = Block::from_fn(batch.len(), k, |i, j| once * picked.row(i)[j]);
    let (mut ax, mut az) = (Block::zeros(rows, k), Block::zeros(cols, k));
    a.apply(once, x.as_ref(), T::zero(), ax.as_mut(), &mut ws).unwrap();
    a.apply_adjoint(once, z.as_ref(), T::zero(), az.as_mut(), &mut ws).unwrap();
    vec![ax, az, normal, Block::column(&sums), picked, back]
}

/// The same bits at 1, 2, 4 and 64 threads: with 64 every group's columns are shared out too, and
/// the normal product takes its two passes.
#[test]
fn threads_do_not_change_bits() {
    let mut cases = matrices::<f64>();
    cases.push(random((3000, 700), |i| 40 + i % 60, 11));
    cases.push(random((2000, 20_000), |_| 30, 12));
    cases.push(long_rows());
    for a in cases {
        for k in [1, 3, 8, 20] {
            let on = |threads: usize| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| all_results(&a, k))
            };
            let one = on(1);
            for threads in [2, 4, 64] {
                assert_eq!(one, on(threads), "{threads} threads, {:?}, k = {k}", a.shape());
            }
        }
    }
}

/// A matrix of ones is multiplied without reading its values: to the same bits as one of twos, whose
/// values are read.
#[test]
fn ones_change_no_bit() {
    for a in matrices::<f64>() {
        let of = |value: f64| {
            let values = vec![value; a.entries()];
            Csr::new(a.shape(), a.pointers(), a.columns(), values).unwrap()
        };
        for k in [1, 3, 8, 20] {
            let (ones, twos) = (all_results(&of(1.0), k), results_of_multiple(&of(2.0), k, 2.0));
            assert_eq!(ones, twos, "{:?}, k = {k}", a.shape());
        }
    }
}

/// Columns of 64 bits are read where they are, to the same bits.
#[test]
fn long_columns_are_borrowed_and_change_no_bit() {
    for a in matrices::<f64>() {
        let columns: Vec<i64> = a.columns().iter().map(|&column| column.into()).collect();
        let values = a.values();
        let long = Csr::with_long_columns(a.shape(), a.pointers(), &columns, values).unwrap();
        assert_eq!(long.columns().as_ptr(), columns.as_ptr());
        for k in [1, 3, 8, 20] {
            assert_eq!(all_results(&long, k), all_results(&a, k), "{:?}, k = {k}", a.shape());
        }
        assert_eq!(long.column_moments().unwrap(), a.column_moments().unwrap());
        assert_eq!(long.column_squares().unwrap(), a.column_squares().unwrap());
        assert_eq!(long.view().into_short().unwrap().columns(), a.columns());
        let (long, short) = (long.transposed(), a.transposed());
        assert_eq!((long.pointers(), long.values()), (short.pointers(), short.values()));
        assert!(long.columns().iter().zip(short.columns()).all(|(l, s)| l.at() == s.at()));
        for (row, col) in (0..a.shape().0.min(3)).zip(0..a.shape().1) {
            assert_eq!(long.entry(col, row).to_bits(), a.entry(row, col).to_bits());
        }
    }
    let bad = |columns: &[i64]| {
        let values = vec![1.0; columns.len()];
        let pointers = vec![0, columns.len()];
        Csr::with_long_columns((1, 3), pointers, columns, values).unwrap_err()
    };
    let is_beyond = |columns: &[i64], found: u64| {
        let error = bad(columns);
        matches!(error.kind(), ErrorKind::Index { index, bound: 3, .. } if *index == found)
    };
    assert!(is_beyond(&[0, 1 << 40], 1 << 40));
    assert!(is_beyond(&[-1, 2], u64::MAX) && is_beyond(&[-2, -1], u64::MAX - 1));
    assert!(matches!(bad(&[2, 2]).kind(), ErrorKind::Unsorted { row: 0, column: 2, next: 2 }));
}

/// A batch, repeats included, is the matrix of its rows.
#[test]
fn batches_equal_the_matrix_of_their_rows() {
    for a in matrices::<f64>() {
        let ((rows, cols), full) = (a.shape(), dense(&a));
        for count in [0, 1, 7, 4 * rows] {
            let count = if rows == 0 { 0 } else { count };
            let batch: Vec<usize> = (0..count).map(|i| (i * 13 + 5) % rows).collect();
            let picked: Vec<Vec<f64>> = batch.iter().map(|&i| full[i].clone()).collect();
            for k in [1, 3, 8] {
                let mut ws = Workspace::new();
                let x = Block::<f64>::gaussian(cols, k, 1);
                let mut z = Block::zeros(count, k);
                z.fill(f64::NAN);
                a.apply_rows(&batch, x.as_ref(), z.as_mut(), &mut ws).unwrap();
                let none = Block::zeros(count, k);
                let exact = naive(&picked, 1.0, x.as_ref(), 0.0, none.as_ref());
                check("A_S x", z.as_ref(), &exact, cols);
                let mut y = Block::gaussian(cols, k, 2);
                let exact = naive(&flip(&picked, cols), 2.0, z.as_ref(), 1.0, y.as_ref());
                a.apply_rows_adjoint(&batch, 2.0, z.as_ref(), 1.0, y.as_mut(), &mut ws).unwrap();
                check("A_Sᵀ z", y.as_ref(), &exact, count);
            }
        }
    }
}

/// The batch of all terms with unit weights is the whole Gram operator, and the explicit matrix.
#[test]
fn gram_terms_add_up() {
    for a in matrices::<f64>() {
        let (rows, cols) = a.shape();
        let gram = Gram::new(a.view());
        let matrix = gram.to_dense().unwrap();
        let full: Vec<Vec<f64>> = matrix.rows().into_iter().map(|row| row.to_vec()).collect();
        let x = Block::<f64>::gaussian(cols, 3, 1);
        let y = gram.multiply(x.as_ref()).unwrap();
        let absolute = Gram::new(
            Csr::new(
                a.shape(),
                a.pointers().to_vec(),
                a.columns().to_vec(),
                a.values().iter().map(|v| v.abs()).collect::<Vec<_>>(),
            )
            .unwrap(),
        );
        let sizes = Block::from_fn(cols, 3, |i, j| x.row(i)[j].abs());
        let sizes = absolute.multiply(sizes.as_ref()).unwrap();
        let batch = Batch { terms: (0..rows).collect(), weights: vec![1.0; rows] };
        let mut terms = Block::zeros(cols, 3);
        let mut ws = Workspace::new();
        gram.apply_terms(&batch, 1.0, x.as_ref(), 0.0, terms.as_mut(), &mut ws).unwrap();
        for (i, row) in full.iter().enumerate() {
            for j in 0..3 {
                let bound = 2.0 * ((rows + cols) as f64 + 8.0) * f64::EPSILON * sizes.row(i)[j];
                let explicit: f64 = (0..cols).map(|c| row[c] * x.row(c)[j]).sum();
                assert!((y.row(i)[j] - explicit).abs() <= bound);
                assert!((y.row(i)[j] - terms.row(i)[j]).abs() <= bound);
            }
        }
        for i in 0..rows {
            let norm = a.row_norm_squared(i) / rows as f64;
            let bound = 4.0 * f64::EPSILON * norm;
            assert!((gram.term_norm(i) - norm).abs() <= bound);
        }
    }
}

/// A matrix stored by columns gives what the same matrix stored by rows gives, moved or borrowed.
#[test]
fn rows_and_columns_agree() {
    let a = random::<f64>((60, 40), |i| i % 9, 3);
    let mut triplets = sprs::TriMatI::<f64, u32>::new((60, 40));
    for i in 0..60 {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).for_each(|(&c, &v)| triplets.add_triplet(i, c as usize, v));
    }
    let (by_rows, by_columns) = (triplets.to_csr::<usize>(), triplets.to_csc::<usize>());
    let address = by_rows.data().as_ptr();
    let borrowed = Csr::from_sprs_view(by_rows.view()).unwrap();
    assert_eq!(borrowed.values().as_ptr(), address, "a borrowed matrix is not copied");
    let x = Block::gaussian(40, 3, 1);
    let expected = dense(&a);
    let exact = naive(&expected, 1.0, x.as_ref(), 0.0, Block::zeros(60, 3).as_ref());
    let by_view = Sparse::from_sprs_view(by_columns.view()).unwrap();
    check("by columns, view", by_view.multiply(x.as_ref()).unwrap().as_ref(), &exact, 40);
    let gram = Gram::new(by_view).multiply(x.as_ref()).unwrap();
    let plain = Gram::new(a.view()).multiply(x.as_ref()).unwrap();
    for i in 0..40 {
        for j in 0..3 {
            // Both sum at most 60 · 40 products of numbers below 1 with normal ones below 6.
            let bound = 100.0 * f64::EPSILON * 60.0 * 40.0 * 6.0;
            assert!((gram.row(i)[j] - plain.row(i)[j]).abs() <= bound);
        }
    }
    assert_eq!(dense(&Csr::from_sprs(by_columns.clone()).unwrap()), expected);
    assert_eq!(dense(&Sparse::from_sprs(by_columns).unwrap().into_csr()), expected);
    let moved = Csr::from_sprs(by_rows).unwrap();
    assert_eq!(moved.values().as_ptr(), address, "an owned matrix is moved");
    assert_eq!(dense(&moved), expected);
}

/// Bad structures are named, with their numbers.
#[test]
fn bad_structures_are_errors() {
    let new = |shape, pointers: &[usize], columns: &[u32], values: &[f64]| {
        Csr::new(shape, pointers.to_vec(), columns.to_vec(), values.to_vec()).unwrap_err()
    };
    let error = new((2, 3), &[0, 1], &[0], &[1.0]);
    assert!(matches!(error.kind(), ErrorKind::Shape { expected: 3, found: 2, .. }), "{error}");
    let error = new((1, 3), &[0, 1], &[0], &[]);
    assert!(matches!(error.kind(), ErrorKind::Shape { expected: 1, found: 0, .. }), "{error}");
    let error = new((1, 3), &[1, 1], &[0], &[1.0]);
    assert!(matches!(error.kind(), ErrorKind::Pointers { position: 0, found: 1, .. }), "{error}");
    let error = new((2, 3), &[0, 2, 1], &[0], &[1.0]);
    let expected = ErrorKind::Pointers { position: 2, expected: 2, found: 1 };
    assert_eq!(error.to_string(), expected.to_string());
    let error = new((2, 3), &[0, 1, 1], &[0, 1], &[1.0, 1.0]);
    let expected = ErrorKind::Pointers { position: 2, expected: 2, found: 1 };
    assert_eq!(error.to_string(), expected.to_string());
    let error = new((1, 3), &[0, 2], &[1, 1], &[1.0, 1.0]);
    assert!(matches!(error.kind(), ErrorKind::Unsorted { row: 0, column: 1, next: 1 }), "{error}");
    let error = new((1, 3), &[0, 2], &[1, 3], &[1.0, 1.0]);
    assert!(matches!(error.kind(), ErrorKind::Index { index: 3, bound: 3, .. }), "{error}");
    let error = new((2, 3), &[0, 1, 2], &[1, 2], &[1.0, f64::INFINITY]);
    assert!(matches!(error.kind(), ErrorKind::NonFinite { row: 1, column: 2, .. }), "{error}");
    let error = new((0, (1 << 32) + 1), &[0], &[], &[]);
    assert!(matches!(error.kind(), ErrorKind::Index { .. }), "{error}");
    let parts = Csr::<f64>::from_parts((1, 3), &[0_i64, 1][..], &[-1_i32][..], &[1.0][..]);
    assert!(matches!(parts.unwrap_err().kind(), ErrorKind::Index { position: 0, .. }));
}

/// Wrong shapes are refused before y is touched.
#[test]
fn wrong_shapes_leave_y_alone() {
    let a = random::<f64>((5, 4), |_| 2, 1);
    let (x, mut ws) = (Block::<f64>::gaussian(4, 2, 1), Workspace::new());
    let mut y = [7.0; 8];
    let view = BlockMut::new(&mut y, 4, 2, 2).unwrap();
    assert!(a.apply(1.0, x.as_ref(), 0.0, view, &mut ws).is_err());
    let weights = [1.0; 4];
    let between = Between { weights: Some(&weights), ..Between::default() };
    let view = BlockMut::new(&mut y, 4, 2, 2).unwrap();
    assert!(a.apply_normal(1.0, x.as_ref(), between, 0.0, view, &mut ws).is_err());
    let view = BlockMut::new(&mut y, 4, 2, 2).unwrap();
    assert!(a.apply_rows_adjoint(&[5], 1.0, x.as_ref(), 0.0, view, &mut ws).is_err());
    assert!(y.iter().all(|y| y.to_bits() == 7.0_f64.to_bits()));
}
