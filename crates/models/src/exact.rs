//! [`exact_eigen`]: the matrix formed, and solved.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use favard_engine::{Info, Record, Stop};
use favard_operator::{Block, LinearOperator, Scalar, Workspace};

use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::symmetric::symmetric_eigen;

/// The largest eigenpairs of a small symmetric operator, by forming its matrix column block by
/// column block and solving it with faer: $n / 8$ block products, $n^2$ numbers, $O(n^3)$ flops.
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
    let (mut matrix, mut ws) = (Mat::<T>::zeros(dim, dim), Workspace::new());
    let mut applications = 0;
    for from in (0..dim).step_by(T::LANE) {
        let to = dim.min(from + T::LANE);
        let mut identity = ws.take_zeros(dim, to - from);
        (from..to).for_each(|j| identity.row_mut(j)[j - from] = T::one());
        let mut image = ws.take(dim, to - from);
        op.apply(T::one(), identity.as_ref(), T::zero(), image.as_mut(), &mut ws)?;
        applications += 1;
        for i in 0..dim {
            for (j, &value) in image.row(i).iter().enumerate() {
                if !value.is_finite() {
                    let (what, row, column) = ("product of the operator", i, from + j);
                    let value = value.as_f64();
                    let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
                    return Err(favard_operator::Error::from(kind).into());
                }
                matrix[(i, from + j)] = value;
            }
        }
        ws.give(identity);
        ws.give(image);
    }
    // (A + Aᵀ)/2: symmetric up to rounding, made so.
    let symmetric = Mat::from_fn(dim, dim, |i, j| (matrix[(i, j)] + matrix[(j, i)]) * T::of(0.5));
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
