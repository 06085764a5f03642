//! The few dense decompositions the crate needs, all from faer, on matrices checked to be finite.

use faer::{Mat, Side};
use ndarray::{Array1, Array2, ArrayView2};

use crate::{
    check,
    error::{ErrorKind, Result},
};

fn to_faer(matrix: ArrayView2<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[[i, j]])
}

fn failed(name: &'static str) -> ErrorKind {
    ErrorKind::Decomposition { name }
}

/// The largest singular value.
pub(crate) fn norm(name: &'static str, matrix: ArrayView2<f64>) -> Result<f64> {
    check::all_finite(name, matrix)?;
    let values = to_faer(matrix).singular_values().map_err(|_| failed(name))?;
    Ok(values.into_iter().fold(0.0, f64::max))
}

/// The largest modulus of an eigenvalue of a general square matrix.
pub(crate) fn spectral_radius(name: &'static str, matrix: ArrayView2<f64>) -> Result<f64> {
    check::square(name, matrix)?;
    let values = to_faer(matrix).eigenvalues().map_err(|_| failed(name))?;
    Ok(values.iter().fold(0.0, |m, v| f64::max(m, v.re.hypot(v.im))))
}

/// Eigenvalues in ascending order and the matching eigenvectors as columns.
pub(crate) fn symmetric_eigen(
    name: &'static str,
    matrix: ArrayView2<f64>,
) -> Result<(Array1<f64>, Array2<f64>)> {
    let dim = check::square(name, matrix)?;
    let eigen = to_faer(matrix).self_adjoint_eigen(Side::Lower).map_err(|_| failed(name))?;
    let values = eigen.S().column_vector();
    let vectors = eigen.U();
    Ok((
        Array1::from_shape_fn(dim, |i| values[i]),
        Array2::from_shape_fn((dim, dim), |(i, j)| vectors[(i, j)]),
    ))
}

/// An orthonormal basis of the range of a tall matrix of full column rank.
pub(crate) fn orthonormal_basis(
    name: &'static str,
    matrix: ArrayView2<f64>,
) -> Result<Array2<f64>> {
    check::all_finite(name, matrix)?;
    check::count(name, matrix.ncols(), 1, matrix.nrows())?;
    let basis = to_faer(matrix).qr().compute_thin_Q();
    Ok(Array2::from_shape_fn(matrix.raw_dim(), |(i, j)| basis[(i, j)]))
}
