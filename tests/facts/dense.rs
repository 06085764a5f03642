//! Matrices with a known spectrum in a dense basis.

use favard_operator::{Block, Orthonormalizer, Workspace};
use ndarray::Array2;

/// Orthonormal columns in general position.
pub fn basis(dim: usize, cols: usize, seed: u64) -> Block<f64> {
    let mut q = Block::gaussian(dim, cols, seed);
    Orthonormalizer::new(cols)
        .orthonormalize(&mut [&mut q], &mut Workspace::new())
        .expect("finite");
    q
}

/// A dense symmetric matrix with the given spectrum and the eigenvectors `q`.
pub fn dense(spectrum: &[f64], q: &Block<f64>) -> Array2<f64> {
    let (dim, q) = (spectrum.len(), q.view());
    let scaled = Array2::from_shape_fn((dim, dim), |(i, j)| q[[i, j]] * spectrum[j]);
    let matrix = scaled.dot(&q.t());
    (&matrix + &matrix.t()) / 2.0
}
