//! [`exact_eigen`]: the matrix formed, and solved.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use favard_engine::{Info, Record, Stop};
use favard_operator::{Block, LinearOperator, Scalar};

use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::symmetric::symmetric_eigen;

/// The largest eigenpairs of a small symmetric operator, by forming its matrix and solving it with
/// faer: $5 n^2$ numbers and $O(n^3)$ flops. The matrix is formed by
/// [`to_block`](LinearOperator::to_block): at the speed of a matrix product for the Gram operator of
/// dense data, by products with blocks of four cache lines otherwise.
///
/// # Errors
/// When the operator is not square, when `components` is 0 or larger than the dimension, or when
/// the operator fails or gives a non-finite number.
///
/// # Example
/// ```
/// use favard_models::exact_eigen;
/// use favard_operator::Dense;
/// let op = Dense::new(ndarray::array![[2.0, 1.0], [1.0, 2.0]])?;
/// let found = exact_eigen(&op, 1)?;
/// assert!((found.values[0] - 3.0_f64).abs() < 1e-15 * 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exact_eigen<T: Scalar>(
    op: &(impl LinearOperator<T> + ?Sized),
    components: usize,
) -> Result<Eigen<T>> {
    let (dim, cols) = op.shape();
    if dim != cols {
        let kind = favard_operator::ErrorKind::NotSquare { what: "exact solver", rows: dim, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    if components == 0 || components > dim {
        let (name, value) = ("components", components as f64);
        let need = "must be at least 1 and at most the dimension of the operator";
        return Err(ErrorKind::Parameter { name, value, need }.into());
    }
    let matrix = op.to_block()?;
    let applications = dim.div_ceil(4 * T::LANE) as u64;
    if let Some((row, column)) = favard_operator::ops::find_non_finite(matrix.as_ref()) {
        let (what, value) = ("product of the operator", matrix.row(row)[column].as_f64());
        let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
        return Err(favard_operator::Error::from(kind).into());
    }
    // (A + Aᵀ)/2: symmetric up to rounding, made so.
    let half = |i: usize, j: usize| (matrix.row(i)[j] + matrix.row(j)[i]) * T::of(0.5);
    let symmetric = Mat::from_fn(dim, dim, half);
    let (mut values, eigenvectors) = symmetric_eigen(symmetric.as_ref())?;
    values.truncate(components);
    let leading = eigenvectors.as_ref().subcols(0, components);
    let vectors = Block::from_fn(dim, components, |i, j| leading[(i, j)]);
    // ‖A v − λ v‖ from the matrix that the operator gave.
    let mut image = Mat::<T>::zeros(dim, components);
    matmul(image.as_mut(), Accum::Replace, symmetric.as_ref(), leading, T::one(), Par::Seq);
    let residuals: Vec<T> = (0..components)
        .map(|j| {
            let entry = |i: usize| image[(i, j)] - values[j] * leading[(i, j)];
            (0..dim).map(|i| entry(i) * entry(i)).sum::<T>().sqrt()
        })
        .collect();
    let worst = residuals.iter().fold(T::zero(), |m, &r| m.max(r));
    let passes = applications as f64;
    let record = Record { tick: applications, passes, ritz: values[0], residual: worst };
    let info = Info {
        stop: Stop::Converged,
        iterations: applications,
        applications,
        passes,
        seed: None,
        history: vec![record],
        ritz: values.clone(),
        residuals: residuals.clone(),
    };
    Ok(Eigen { values, vectors, residuals, info })
}
