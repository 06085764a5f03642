//! Every wrapper is its explicit matrix, over dense and over sparse ones.

mod common;

use common::{
    Explicit, check_adjoint, check_rows, check_terms, exact, exact_vec, matrix, positive,
};
use favard_operator::{AdjointOperator, LinearOperator};
use favard_operator::{
    Batch, Between, Block, Centered, ColumnMoments, Constant, Csr, Dense, ErrorKind, Gram, Masked,
    Pattern, RowOperator, Sampler, Scalar, Scaled, Shifted, StochasticFn, StochasticOperator,
    Weighted, Workspace,
};
use ndarray::{Array1, Array2, Axis, array};

const SHAPES: [(usize, usize); 6] = [(0, 3), (1, 1), (1, 4), (6, 1), (7, 5), (4, 9)];

/// A matrix with an empty row (where it has three), in sparse form and in full.
fn sparse<T: Scalar>(rows: usize, cols: usize) -> (Csr<'static, T>, Array2<T>) {
    let mut full = matrix::<T>(rows, cols, 21);
    full.indexed_iter_mut().for_each(|((i, j), value)| {
        if i == 2 || (i + 2 * j) % 3 == 0 {
            *value = T::zero();
        }
    });
    let (mut pointers, mut columns, mut values) = (vec![0], vec![], vec![]);
    for row in full.rows() {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != T::zero()) {
            columns.push(u32::try_from(j).unwrap());
            values.push(value);
        }
        pointers.push(columns.len());
    }
    (Csr::new((rows, cols), pointers, columns, values).unwrap(), full)
}

/// Runs a check on a dense and on a sparse matrix of every shape, in both precisions.
macro_rules! over_matrices {
    ($check:ident) => {
        for (rows, cols) in SHAPES {
            $check::<f64, _>(&Dense::new(matrix(rows, cols, 20)).unwrap(), &matrix(rows, cols, 20));
            $check::<f32, _>(&Dense::new(matrix(rows, cols, 20)).unwrap(), &matrix(rows, cols, 20));
            let (csr, full) = sparse::<f64>(rows, cols);
            $check(&csr, &full);
            let (csr, full) = sparse::<f32>(rows, cols);
            $check(&csr, &full);
        }
    };
}

fn row_vector<T: Scalar>(values: &[T]) -> Array2<f64> {
    exact_vec(values).insert_axis(Axis(0))
}

fn column_vector<T: Scalar>(values: &[T]) -> Array2<f64> {
    exact_vec(values).insert_axis(Axis(1))
}

/// A − 1μᵀ.
fn centred(of: &Explicit, mean: &Array2<f64>) -> Explicit {
    let magnitude = &of.magnitude + &mean.mapv(f64::abs);
    Explicit { matrix: &of.matrix - mean, magnitude, depth: of.depth + 4 }
}

/// A D⁻¹.
fn scaled(of: &Explicit, scale: &Array2<f64>) -> Explicit {
    let magnitude = &of.magnitude / &scale.mapv(f64::abs);
    Explicit { matrix: &of.matrix / scale, magnitude, depth: of.depth + 4 }
}

/// √W A.
fn weighted(of: &Explicit, weights: &Array2<f64>) -> Explicit {
    let roots = weights.mapv(f64::sqrt);
    Explicit { matrix: &of.matrix * &roots, magnitude: &of.magnitude * &roots, depth: of.depth + 4 }
}

fn both<T: Scalar>(op: &dyn RowOperator<T>, explicit: &Explicit) {
    check_adjoint(&op, explicit);
    check_rows(op, explicit);
}

fn check_centered<T: Scalar, A: RowOperator<T>>(op: &A, full: &Array2<T>) {
    let explicit = Explicit::plain(exact(full));
    let given = positive::<T>(full.ncols(), 1);
    let by_given = Centered::new(op, given.clone()).unwrap();
    both(&by_given, &centred(&explicit, &row_vector(&given)));
    if full.nrows() == 0 {
        assert!(matches!(Centered::by_mean(op).err().unwrap().kind(), ErrorKind::Empty { .. }));
        return;
    }
    let by_mean = Centered::by_mean(op).unwrap();
    assert_mean(&explicit, by_mean.mean(), &vec![T::one(); full.nrows()]);
    both(&by_mean, &centred(&explicit, &row_vector(by_mean.mean())));
    let weights = positive::<T>(full.nrows(), 2);
    let by_weights = Centered::by_weighted_mean(op, &weights).unwrap();
    assert_mean(&explicit, by_weights.mean(), &weights);
}

fn assert_mean<T: Scalar>(explicit: &Explicit, found: &[T], weights: &[T]) {
    let weights = column_vector(weights) / exact_vec(weights).sum();
    let mean = (&explicit.matrix * &weights).sum_axis(Axis(0));
    let size = (&explicit.magnitude * &weights).sum_axis(Axis(0));
    let unit = explicit.depth as f64 * T::EPSILON.as_f64();
    for (j, value) in exact_vec(found).iter().enumerate() {
        assert!((value - mean[j]).abs() <= unit * size[j], "mean of column {j}");
    }
}

#[test]
fn centered_is_its_explicit_matrix() {
    over_matrices!(check_centered);
}

fn check_scaled<T: Scalar, A: RowOperator<T> + ColumnMoments<T>>(op: &A, full: &Array2<T>) {
    let explicit = Explicit::plain(exact(full));
    let scale = positive::<T>(full.ncols(), 3);
    both(&Scaled::new(op, scale.clone()).unwrap(), &scaled(&explicit, &row_vector(&scale)));
    for ddof in [0, 1] {
        if full.nrows() <= ddof {
            let error = Scaled::by_deviation(op, ddof, Constant::KeepScale).err().unwrap();
            assert!(matches!(error.kind(), ErrorKind::Shape { .. }));
            continue;
        }
        let by_deviation = Scaled::by_deviation(op, ddof, Constant::KeepScale).unwrap();
        let mean = explicit.matrix.mean_axis(Axis(0)).unwrap();
        let count = (full.nrows() - ddof) as f64;
        for (j, value) in exact_vec(by_deviation.scale()).iter().enumerate() {
            let squares = explicit.matrix.column(j).mapv(|v| (v - mean[j]).powi(2)).sum();
            let expected = if squares == 0.0 { 1.0 } else { (squares / count).sqrt() };
            // The moments are sums in f64; what is rounded to T is one square root.
            let unit = T::EPSILON.as_f64() + explicit.depth as f64 * f64::EPSILON;
            assert!((value - expected).abs() <= unit * expected, "deviation of column {j}");
        }
    }
}

#[test]
fn scaled_is_its_explicit_matrix() {
    over_matrices!(check_scaled);
}

fn check_orders<T: Scalar, A: RowOperator<T>>(op: &A, full: &Array2<T>) {
    let explicit = Explicit::plain(exact(full));
    let (mean, scale) = (positive::<T>(full.ncols(), 1), positive::<T>(full.ncols(), 3));
    let (means, scales) = (row_vector(&mean), row_vector(&scale));
    let outside = Scaled::new(Centered::new(op, mean.clone()).unwrap(), scale.clone()).unwrap();
    both(&outside, &scaled(&centred(&explicit, &means), &scales));
    let inside = Centered::new(Scaled::new(op, scale).unwrap(), mean).unwrap();
    both(&inside, &centred(&scaled(&explicit, &scales), &means));
}

#[test]
fn centring_and_scaling_combine_in_either_order() {
    over_matrices!(check_orders);
}

fn check_weighted<T: Scalar, A: RowOperator<T>>(op: &A, full: &Array2<T>) {
    let explicit = Explicit::plain(exact(full));
    let mut weights = positive::<T>(full.nrows(), 4);
    if weights.len() > 1 {
        weights[0] = T::zero();
    }
    let column = column_vector(&weights);
    both(&Weighted::new(op, weights.clone()).unwrap(), &weighted(&explicit, &column));
    let mean = positive::<T>(full.ncols(), 1);
    let centre = Centered::new(op, mean.clone()).unwrap();
    let expected = weighted(&centred(&explicit, &row_vector(&mean)), &column);
    both(&Weighted::new(&centre, weights.clone()).unwrap(), &expected);
    let inside = Centered::new(Weighted::new(op, weights).unwrap(), mean.clone()).unwrap();
    both(&inside, &centred(&weighted(&explicit, &column), &row_vector(&mean)));
}

#[test]
fn weighted_is_its_explicit_matrix() {
    over_matrices!(check_weighted);
}

#[test]
fn shifted_is_its_explicit_matrix() {
    fn check<T: Scalar>(dim: usize) {
        let full = matrix::<T>(dim, dim, 20);
        let shift = T::of(1.5);
        let eye = Array2::<f64>::eye(dim) * shift.as_f64();
        let magnitude = exact(&full).mapv(f64::abs) + &eye;
        let explicit = Explicit::with_magnitude(exact(&full) - &eye, magnitude);
        both(&Shifted::new(Dense::new(&full).unwrap(), shift).unwrap(), &explicit);
        // One term for each row: every one carries its share of the shift.
        let terms = StochasticFn::new((dim, dim), dim, |batch: &Batch<T>, x, mut y| {
            for (&row, &weight) in batch.terms.iter().zip(&batch.weights) {
                let product = full.row(row).dot(&common::widen(x).mapv(T::of));
                y.row_mut(row).iter_mut().zip(product).for_each(|(y, p)| *y += weight * p);
            }
            Ok(())
        });
        let mut explicit = explicit;
        explicit.depth += 4 * dim;
        check_terms(&Shifted::new(terms, shift).unwrap(), &explicit);
    }
    for dim in [1, 2, 7] {
        check::<f64>(dim);
        check::<f32>(dim);
    }
    let wide = Dense::new(matrix::<f64>(2, 3, 1)).unwrap();
    let error = Shifted::new(&wide, 1.0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotSquare { rows: 2, cols: 3, .. }));
    let square = Dense::new(matrix::<f64>(2, 2, 1)).unwrap();
    let error = Shifted::new(&square, f64::NAN).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parameter { .. }));
}

fn check_masked<T: Scalar, A: RowOperator<T>>(op: &A, full: &Array2<T>) {
    let (rows, cols) = full.dim();
    let missing = |i: usize, j: usize| (2 * i + j) % 3 == 1;
    let all = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
    let pattern =
        Pattern::new((rows, cols), all.filter(|&(i, j)| missing(i, j)).collect()).unwrap();
    let mean = positive::<T>(cols, 1);
    let centre = Centered::new(op, mean.clone()).unwrap();
    let mut explicit = centred(&Explicit::plain(exact(full)), &row_vector(&mean));
    // What is missing still passes through the sums, twice.
    explicit.magnitude *= 2.0;
    explicit
        .matrix
        .indexed_iter_mut()
        .filter(|((i, j), _)| missing(*i, *j))
        .for_each(|(_, v)| *v = 0.0);
    both(&Masked::missing(&centre, pattern.clone()).unwrap(), &explicit);

    let known = Masked::observed(&centre, &pattern).unwrap();
    assert_eq!(known.entries(), pattern.len());
    for i in 0..rows {
        for j in 0..cols {
            let expected = if missing(i, j) { centre.entry(i, j) } else { T::zero() };
            assert!(known.entry(i, j) == expected);
        }
    }
}

#[test]
fn masked_is_its_explicit_matrix() {
    over_matrices!(check_masked);
}

#[test]
fn nan_means_missing() {
    let mut full = matrix::<f64>(5, 4, 1);
    full[[3, 2]] = f64::NAN;
    full[[0, 0]] = f64::NAN;
    let masked = Masked::from_nan(full.clone()).unwrap();
    assert_eq!(masked.pattern().len(), 2);
    let zeros = full.mapv(|v| if v.is_nan() { 0.0 } else { v });
    both(&masked, &Explicit::plain(zeros));
    full[[1, 1]] = f64::INFINITY;
    let error = Masked::from_nan(full).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { row: 1, column: 1, .. }));
}

#[test]
fn patterns_outside_of_the_matrix_are_refused() {
    let error = Pattern::new((2, 2), vec![(0, 0), (2, 0)]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { position: 1, index: 2, bound: 2, .. }));
    let error = Pattern::new((2, 2), vec![(0, 5)]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index { position: 0, index: 5, bound: 2, .. }));
    let op = Dense::new(matrix::<f64>(3, 2, 1)).unwrap();
    let error = Masked::missing(op, Pattern::new((2, 2), vec![]).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pattern of entries: the left operand is 3 × 2, the right one 2 × 2"
    );
}

/// With a mean of 10⁶ standard deviations, Xᵀ X − n μ μᵀ would lose 12 of 16 digits; subtracting
/// μᵀ X from the rows before the second product loses 6 of them.
#[test]
fn centring_survives_a_mean_a_million_deviations_away() {
    let (rows, cols) = (500, 6);
    let noise = matrix::<f64>(rows, cols, 1);
    // Means that are exact, and entries that are: multiples of 2⁻²⁰ below 2²¹.
    let grid = f64::from(1 << 20);
    let mean = grid;
    let full = noise.mapv(|v| (v * grid).round() / grid + mean);
    let exact_centre = full.mapv(|v| v - mean);
    let shift = exact_centre.mean_axis(Axis(0)).unwrap();
    let exact_centre = exact_centre - &shift;
    let op = Centered::by_mean(Dense::new(full).unwrap()).unwrap();
    let x = Block::<f64>::gaussian(cols, 2, 2);
    let mut y = Block::zeros(cols, 2);
    let mut ws = Workspace::new();
    op.apply_normal(1.0, x.as_ref(), Between::default(), 0.0, y.as_mut(), &mut ws).unwrap();
    let wide = x.view().to_owned();
    let z = exact_centre.dot(&wide);
    let expected = exact_centre.t().dot(&z);
    // Each entry of Z is off by at most δ = (n + 4) ε μ ‖x‖₁, from its own sums and from the mean
    // of m rows, which is off by m ε μ. Then Aᵀ(Z + δ) − μ 1ᵀ(Z + δ) = (A − 1μᵀ)ᵀ(Z + δ), whose
    // sums with |A| ≈ μ round to another (m + 4) ε μ ‖z‖₁.
    let unit = (rows + cols + 8) as f64 * f64::EPSILON * mean;
    let ones = Array1::<f64>::ones(cols);
    let off = unit * ones.dot(&wide.mapv(f64::abs)).sum();
    let spread = exact_centre.mapv(f64::abs).sum_axis(Axis(0));
    for j in 0..2 {
        let total: f64 = z.column(j).mapv(f64::abs).sum();
        for i in 0..cols {
            let bound = off * spread[i] + unit * (total + rows as f64 * off);
            let gap = (y.row(i)[j] - expected[[i, j]]).abs();
            assert!(gap <= bound, "({i}, {j}): {gap} above {bound}");
            // What the cancelling formula would leave is larger than the value.
            let cancelling = rows as f64 * f64::EPSILON * mean * mean;
            assert!(bound < cancelling, "the bound {bound} is no better than {cancelling}");
        }
    }
}

#[test]
fn deviations_survive_a_mean_a_million_deviations_away() {
    let noise = matrix::<f64>(700, 3, 1);
    let plain = Dense::new(&noise).unwrap().column_moments().unwrap();
    let far = Dense::new(noise.mapv(|v| v + 1e6)).unwrap().column_moments().unwrap();
    for (near, far) in plain.squares.iter().zip(&far.squares) {
        // Adding 10⁶ rounds each entry by 10⁶ ε, and the updates round as much again.
        let bound = 4.0 * 700.0 * 1e6 * f64::EPSILON * near.sqrt();
        assert!((near - far).abs() <= bound);
    }
}

#[test]
fn moments_of_wrappers_are_moments_of_their_matrices() {
    let full = array![[1.0, -2.0], [4.0, 2.0], [1.0, 3.0]];
    let op = Scaled::new(
        Centered::new(Dense::new(full).unwrap(), vec![1.0, 1.0]).unwrap(),
        vec![1.0, 2.0],
    );
    let moments = op.unwrap().column_moments().unwrap();
    assert_eq!(moments.count, 3);
    for (found, expected) in moments.mean.iter().zip([1.0, 0.0]) {
        assert!((found - expected).abs() <= 8.0 * f64::EPSILON);
    }
    for (found, expected) in moments.squares.iter().zip([6.0, 3.5]) {
        assert!((found - expected).abs() <= 32.0 * f64::EPSILON);
    }
}

#[test]
fn bad_parameters_are_named() {
    let op = Dense::new(matrix::<f64>(3, 2, 1)).unwrap();
    let kind_of = |error: favard_operator::Error| error.to_string();
    let error = Centered::new(&op, vec![0.0]).unwrap_err();
    assert_eq!(kind_of(error), "means: expected 2, found 1");
    let error = Centered::new(&op, vec![0.0, f64::NAN]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { column: 1, .. }));
    for bad in [0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 1e10] {
        let error = Scaled::new(&op, vec![1.0, bad]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Weight { index: 1, .. }), "{bad}");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let error = Weighted::new(&op, vec![1.0, 1.0, bad]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Weight { index: 2, .. }), "{bad}");
        assert!(Centered::by_weighted_mean(&op, &[1.0, 1.0, bad]).is_err());
    }
    assert!(matches!(
        Weighted::new(&op, vec![0.0; 3]).unwrap_err().kind(),
        ErrorKind::Weight { index: 0, .. }
    ));
    let constant = Dense::new(array![[1.0_f64, 7.1], [2.0, 7.1], [5.0, 7.1]]).unwrap();
    let error = Scaled::by_deviation(&constant, 1, Constant::Refuse).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Weight { index: 1, .. }));
    let kept = Scaled::by_deviation(&constant, 1, Constant::KeepScale).unwrap();
    assert_eq!(kept.scale()[1].to_bits(), 1.0_f64.to_bits());
}

/// Importance sampling asks a centred sparse matrix for its row norms: they have to be right
/// where a row equals the mean, too.
#[test]
fn row_norms_of_a_centred_matrix_do_not_cancel() {
    let full = array![[1e6_f64, 1e6], [1e6, 1e6 + 1e-3], [0.0, 0.0]];
    let op = Centered::new(Dense::new(&full).unwrap(), vec![1e6, 1e6]).unwrap();
    assert_eq!(op.row_norm_squared(0).to_bits(), 0.0_f64.to_bits());
    let small = full[[1, 1]] - 1e6;
    assert_eq!(op.row_norm_squared(1).to_bits(), (small * small).to_bits());
    assert!((op.row_norm_squared(2) - 2e12).abs() <= 8.0 * f64::EPSILON * 2e12);
}

/// A Gram operator of a wrapped sparse matrix samples its rows.
#[test]
fn gram_of_a_wrapped_sparse_matrix_is_a_stochastic_operator() {
    let (csr, full) = sparse::<f64>(7, 5);
    let op = Gram::new(Weighted::new(Centered::by_mean(csr).unwrap(), positive(7, 1)).unwrap());
    let inner = weighted(
        &centred(&Explicit::plain(full), &row_vector(op.inner().inner().mean())),
        &column_vector(op.inner().weights()),
    );
    let explicit = Explicit {
        matrix: inner.matrix.t().dot(&inner.matrix) / 7.0,
        magnitude: inner.magnitude.t().dot(&inner.magnitude) / 7.0,
        depth: 4 * inner.depth,
    };
    check_terms(&op, &explicit);
    assert_eq!(op.terms(), 7);
    assert!(Sampler::by_norm(&op, 3, 1).is_ok());
}

/// Long enough for several pieces in every loop over rows, so that the threads have a choice.
#[test]
fn wrappers_of_a_long_matrix_give_the_same_bits_on_any_number_of_threads() {
    let (rows, cols) = (9000, 4);
    let (csr, full) = sparse::<f64>(rows, cols);
    let (mean, scale, weights) = (positive(cols, 1), positive(cols, 2), positive(rows, 3));
    let plain = Explicit::plain(full);
    let means = row_vector(&mean);
    let inner = scaled(&centred(&plain, &means), &row_vector(&scale));
    let explicit = weighted(&inner, &column_vector(&weights));
    let op = Scaled::new(Centered::new(csr, mean).unwrap(), scale).unwrap();
    check_adjoint(&op, &inner);
    check_adjoint(&Weighted::new(&op, weights).unwrap(), &explicit);
}

fn assert_send_sync<X: Send + Sync>() {}

#[test]
fn wrappers_cross_threads() {
    assert_send_sync::<Centered<Dense<'static, f64>, f64>>();
    assert_send_sync::<Masked<Csr<'static, f32>, f32>>();
    let boxed: Box<dyn AdjointOperator<f64>> =
        Box::new(Centered::by_mean(Dense::new(matrix(3, 2, 1)).unwrap()).unwrap());
    assert_eq!(Weighted::new(boxed, vec![1.0; 3]).unwrap().shape(), (3, 2));
}
