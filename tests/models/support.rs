//! Data with known spectra, and the exact small eigenproblem by faer.

use favard_models::PcaFit;
use favard_operator::{Block, Csr, Orthonormalizer, Workspace};
use ndarray::{Array2, Axis};

/// A symmetric matrix with the given spectrum in a random orthonormal basis.
pub fn with_spectrum(spectrum: &[f64], seed: u64) -> Array2<f64> {
    let dim = spectrum.len();
    let mut basis = Block::<f64>::gaussian(dim, dim, seed);
    Orthonormalizer::new(dim).orthonormalize(&mut [&mut basis], &mut Workspace::new()).unwrap();
    let q = basis.view();
    let scaled = Array2::from_shape_fn((dim, dim), |(i, j)| q[[i, j]] * spectrum[j]);
    scaled.dot(&q.t())
}

/// The eigenvalues of the covariance of a small dense matrix, by faer.
pub fn exact_variances(x: &Array2<f64>, scale: bool) -> Vec<f64> {
    let mut centred = x - &x.mean_axis(Axis(0)).unwrap();
    if scale {
        for mut column in centred.columns_mut() {
            let deviation = (column.dot(&column) / (x.nrows() - 1) as f64).sqrt();
            if deviation > 0.0 {
                column /= deviation;
            }
        }
    }
    let c = centred.t().dot(&centred) / (x.nrows() - 1) as f64;
    let matrix = faer::Mat::from_fn(c.nrows(), c.ncols(), |i, j| c[[i, j]]);
    let mut values: Vec<f64> = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    values.reverse();
    values
}

pub fn sparse(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let noise = Block::<f64>::gaussian(rows, cols, seed);
    let size = |j: usize| 4.0 / (1.0 + j as f64);
    Array2::from_shape_fn((rows, cols), |(i, j)| {
        let v = noise.row(i)[j];
        if v > 0.7 { v * size(j) } else { 0.0 }
    })
}

pub fn csr(x: &Array2<f64>) -> Csr<'static, f64> {
    Csr::from_sprs(sprs::CsMat::csr_from_dense(x.view(), 0.0)).unwrap()
}

/// |λ − λ̂| is at most the residual, and the residual is what was asked for.
pub fn assert_right(fit: &PcaFit<f64>, exact: &[f64], tolerance: f64) {
    assert!(fit.is_certified(), "{:?}", fit.info());
    for (j, found) in fit.explained_variance().iter().enumerate() {
        let rounding = 100.0 * f64::EPSILON * exact[0] * exact.len() as f64;
        let gap = (found - exact[j].max(0.0)).abs();
        let allowed = fit.residuals()[j] + rounding;
        assert!(gap <= allowed, "{j}: {found} for {}, residual {:e}", exact[j], fit.residuals()[j]);
        assert!(fit.residuals()[j] <= tolerance * exact[0]);
    }
    let v = fit.components().view();
    let gram = v.t().dot(&v);
    for ((i, j), value) in gram.indexed_iter() {
        let one = if i == j { 1.0 } else { 0.0 };
        assert!(
            (value - one).abs() <= 1e3 * f64::EPSILON * v.nrows() as f64,
            "({i}, {j}): {value}"
        );
    }
}

/// The matrix of the rows `of(0)`, `of(1)`, …
pub fn rows_of(x: &Array2<f64>, rows: &[usize]) -> Array2<f64> {
    x.select(Axis(0), rows)
}

/// Data whose covariance has the given eigenvalues exactly, up to rounding: centred orthonormal
/// columns times √((n − 1) λ) in a random orthonormal basis, with a mean added.
pub fn with_variances(rows: usize, variances: &[f64], seed: u64) -> Array2<f64> {
    let dim = variances.len();
    let mut ws = Workspace::new();
    let mut left = Block::<f64>::gaussian(rows, dim + 1, seed);
    (0..rows).for_each(|i| left.row_mut(i)[0] = 1.0);
    Orthonormalizer::new(dim + 1).orthonormalize(&mut [&mut left], &mut ws).unwrap();
    let mut right = Block::<f64>::gaussian(dim, dim, seed + 1);
    Orthonormalizer::new(dim).orthonormalize(&mut [&mut right], &mut ws).unwrap();
    let freedom = (rows - 1) as f64;
    let scores = Array2::from_shape_fn((rows, dim), |(i, j)| {
        left.row(i)[j + 1] * (freedom * variances[j]).sqrt()
    });
    scores.dot(&right.view().t()) + 3.0
}

/// The largest difference of two lists.
pub fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The sine of the largest angle between the spans of two lists of orthonormal columns.
pub fn sine(a: &Block<f64>, b: &Block<f64>) -> f64 {
    let (a, b) = (a.view(), b.view());
    let outside = &a - &b.dot(&b.t().dot(&a));
    let gram = outside.t().dot(&outside);
    let gram = faer::Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| gram[[i, j]]);
    let values: Vec<f64> = gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    values.last().copied().unwrap_or(0.0).max(0.0).sqrt()
}
