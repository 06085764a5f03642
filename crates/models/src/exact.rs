//! [`exact_eigen`]: the matrix formed, and solved.

use faer::{Accum, Mat};
use favard_engine::{Info, Record, Stop};
use favard_operator::{Block, LinearOperator, Scalar, small};

use crate::error::{Result, check_count};
use crate::symmetric::symmetric_eigen;
use crate::{Eigen, Solver};

/// The largest eigenpairs of a small symmetric operator, by forming its matrix and solving it with
/// faer: $5 n^2$ numbers and $O(n^3)$ flops. The matrix is formed by
/// [`to_block`](LinearOperator::to_block): at the speed of a matrix product for the Gram operator of
/// dense data, by products with blocks of four cache lines otherwise.
///
/// The residuals come from one more product, with the operator itself: for one that is not symmetric,
/// or not the matrix that it forms, they are large. The certificate in the result's `info` is that
/// for a tolerance of $\sqrt\epsilon$, and where it is not met the run has stopped as
/// [`Stagnated`](Stop::Stagnated).
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
/// assert!(found.info.certificate.is_certified());
/// let crooked = Dense::new(ndarray::array![[2.0, 1.0], [0.0, 2.0]])?;
/// assert!(!exact_eigen(&crooked, 1)?.info.certificate.is_certified());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exact_eigen<T: Scalar>(
    op: &(impl LinearOperator<T> + ?Sized),
    components: usize,
) -> Result<Eigen<T>> {
    let tolerance = T::EPSILON.as_f64().sqrt();
    let mut found = solve_formed(op, None, components)?;
    found.recompute(op, tolerance)?;
    Ok(found.proved(tolerance, components))
}

/// The eigenpairs of the matrix that the operator forms, or has formed, made symmetric, and the next
/// one as the guard. The residuals are those of that matrix: whoever shows them to anybody recomputes them.
pub(crate) fn solve_formed<T: Scalar>(
    op: &(impl LinearOperator<T> + ?Sized),
    formed: Option<Block<T>>,
    components: usize,
) -> Result<Eigen<T>> {
    let (dim, cols) = op.shape();
    if dim != cols {
        let kind = favard_operator::ErrorKind::NotSquare { what: "exact solver", rows: dim, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    check_count("components", components, dim, "the dimension of the operator")?;
    let products = op.products_to_form();
    let matrix = match formed {
        Some(matrix) => matrix,
        None => op.to_block()?,
    };
    if let Some((row, column)) = favard_operator::ops::find_non_finite(matrix.as_ref()) {
        let (what, value) = ("product of the operator", matrix.row(row)[column].as_f64());
        let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
        return Err(favard_operator::Error::from(kind).into());
    }
    // (A + Aᵀ)/2: symmetric up to rounding, made so.
    let half = |i: usize, j: usize| (matrix.row(i)[j] + matrix.row(j)[i]) * T::of(0.5);
    let symmetric = Mat::from_fn(dim, dim, half);
    drop(matrix);
    let (mut values, eigenvectors) = symmetric_eigen(symmetric.as_ref())?;
    let guarded = dim.min(components + 1);
    values.truncate(guarded);
    let leading = eigenvectors.as_ref().subcols(0, guarded);
    // ‖A v − λ v‖
    let mut image = Mat::<T>::zeros(dim, guarded);
    small::multiply(image.as_mut(), Accum::Replace, symmetric.as_ref(), leading, T::one());
    let residuals: Vec<T> = (0..guarded)
        .map(|j| {
            let entry = |i: usize| image[(i, j)] - values[j] * leading[(i, j)];
            (0..dim).map(|i| entry(i) * entry(i)).sum::<T>().sqrt()
        })
        .collect();
    let vectors = Block::from_fn(dim, components, |i, j| leading[(i, j)]);
    let worst = residuals[..components].iter().fold(T::zero(), |m, &r| m.max(r));
    let passes = products as f64;
    let record = Record { tick: products, passes, ritz: values[0], residual: worst };
    let info = Info {
        method: Solver::Exact.to_string(),
        iterations: products,
        applications: products,
        passes,
        history: vec![record],
        ritz: values.clone(),
        residuals: residuals.clone(),
        ..Info::new(Stop::Converged)
    };
    values.truncate(components);
    let residuals = residuals[..components].to_vec();
    Ok(Eigen { values, vectors, residuals, info })
}
