//! The paper's data: Gaussian rows with a known covariance.

use favard_operator::{Block, Dense, Gram, Orthonormalizer, Workspace};
use ndarray::Array2;

/// n rows with XᵀX/n = diag(1, 0.9, …, 0.9) up to rounding: Gaussian columns made orthonormal and
/// scaled. The error is then an angle to the first axis, at any size of the data.
pub fn paper_rows(rows: usize, dim: usize, seed: u64) -> Array2<f64> {
    let mut q = Block::<f64>::gaussian(rows, dim, seed);
    Orthonormalizer::new(dim).orthonormalize(&mut [&mut q], &mut Workspace::new()).expect("finite");
    let root = (rows as f64).sqrt();
    let size = |j: usize| root * if j == 0 { 1.0 } else { 0.9_f64.sqrt() };
    Array2::from_shape_fn((rows, dim), |(i, j)| q.row(i)[j] * size(j))
}

/// XᵀX/n, whose terms are the rows.
pub fn gram(rows: &Array2<f64>) -> Gram<Dense<'_, f64>> {
    Gram::new(Dense::new(rows.view()).expect("finite"))
}

/// κ_i = E(u_iᵀ N u_1)² for i ≥ 2 and single rows: the mean of (x_i x_1)².
pub fn kappas(rows: &Array2<f64>) -> Vec<f64> {
    let count = rows.nrows() as f64;
    (1..rows.ncols())
        .map(|i| rows.outer_iter().map(|x| (x[i] * x[0]).powi(2)).sum::<f64>() / count)
        .collect()
}
