//! Small dense problems, solved by faer, for the crates above: compiled here, once for each precision.

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::EvdError;
use faer::linalg::svd::SvdError;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::Scalar;

/// A power of two that brings `size` close to one, where squares of it would leave the range of the
/// precision or lose digits at its end; one elsewhere. To multiply by it, and to divide, is exact.
#[must_use]
pub fn balance<T: Scalar>(size: T) -> T {
    // Squares of what is ε times as large are still numbers of full precision.
    let least = (T::min_positive_value() / T::EPSILON).sqrt() / T::EPSILON;
    if size == T::zero() || !size.is_finite() || (least..=least.recip()).contains(&size) {
        return T::one();
    }
    // 1/size itself may be beyond the range.
    let most = T::max_value().as_f64().log2().floor() - 1.0;
    let exponent = size.as_f64().log2().round().clamp(-most, most);
    #[allow(clippy::cast_possible_truncation)] // 1022 at most
    T::of(2.0).powi(-(exponent as i32))
}

/// P ← α A B, or P + α A B, on one thread.
pub fn multiply<T: Scalar>(
    product: MatMut<'_, T>,
    accum: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    alpha: T,
) {
    T::small_multiply(product, accum, left, right, alpha);
}

/// The eigenvalues of a symmetric matrix, ascending, and their vectors, one a column.
///
/// Of entries whose squares are no numbers a multiple is solved, a copy that [`balance`] brings close to
/// one: the scale of the matrix is no part of its vectors.
///
/// # Errors
/// When the iteration does not converge.
pub fn symmetric_eigen<T: Scalar>(
    matrix: MatRef<'_, T>,
    values: &mut [T],
    vectors: MatMut<'_, T>,
    par: Par,
    stack: &mut MemStack,
) -> Result<(), EvdError> {
    let (rows, cols) = (matrix.nrows(), matrix.ncols());
    let entries = (0..cols).flat_map(|j| (0..rows).map(move |i| matrix[(i, j)].abs()));
    let factor = balance(entries.fold(T::zero(), T::max));
    if factor == T::one() {
        return T::small_eigen(matrix, values, vectors, par, stack);
    }
    let scaled = Mat::from_fn(rows, cols, |i, j| factor * matrix[(i, j)]);
    T::small_eigen(scaled.as_ref(), values, vectors, par, stack)?;
    values.iter_mut().for_each(|value| *value /= factor);
    Ok(())
}

/// The scratch of [`symmetric_eigen`].
#[must_use]
pub fn symmetric_eigen_scratch<T: Scalar>(dim: usize, par: Par) -> StackReq {
    T::small_eigen_scratch(dim, par)
}

/// The singular values of a square matrix, descending, with their vectors, on one thread.
///
/// # Errors
/// When the iteration does not converge.
pub fn svd<T: Scalar>(
    matrix: MatRef<'_, T>,
    values: &mut [T],
    left: MatMut<'_, T>,
    right: MatMut<'_, T>,
    stack: &mut MemStack,
) -> Result<(), SvdError> {
    T::small_svd(matrix, values, left, right, stack)
}

/// The scratch of [`svd`].
#[must_use]
pub fn svd_scratch<T: Scalar>(dim: usize) -> StackReq {
    T::small_svd_scratch(dim)
}

/// What is compiled for each precision.
pub(crate) mod body {
    use faer::Spec;
    use faer::diag::DiagMut;
    use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
    use faer::linalg::matmul::matmul;
    use faer::linalg::svd::ComputeSvdVectors;

    use super::{Accum, EvdError, MatMut, MatRef, MemStack, Par, Scalar, StackReq, SvdError};

    pub(crate) fn multiply<T: Scalar>(
        product: MatMut<'_, T>,
        accum: Accum,
        left: MatRef<'_, T>,
        right: MatRef<'_, T>,
        alpha: T,
    ) {
        matmul(product, accum, left, right, alpha, Par::Seq);
    }

    pub(crate) fn symmetric_eigen<T: Scalar>(
        matrix: MatRef<'_, T>,
        values: &mut [T],
        vectors: MatMut<'_, T>,
        par: Par,
        stack: &mut MemStack,
    ) -> Result<(), EvdError> {
        let values = DiagMut::from_slice_mut(values);
        self_adjoint_evd(matrix, values, Some(vectors), par, stack, Spec::default())
    }

    pub(crate) fn symmetric_eigen_scratch<T: Scalar>(dim: usize, par: Par) -> StackReq {
        self_adjoint_evd_scratch::<T>(dim, ComputeEigenvectors::Yes, par, Spec::default())
    }

    pub(crate) fn svd<T: Scalar>(
        matrix: MatRef<'_, T>,
        values: &mut [T],
        left: MatMut<'_, T>,
        right: MatMut<'_, T>,
        stack: &mut MemStack,
    ) -> Result<(), SvdError> {
        let (values, spec) = (DiagMut::from_slice_mut(values), Spec::default());
        faer::linalg::svd::svd(matrix, values, Some(left), Some(right), Par::Seq, stack, spec)
    }

    pub(crate) fn svd_scratch<T: Scalar>(dim: usize) -> StackReq {
        let thin = ComputeSvdVectors::Thin;
        faer::linalg::svd::svd_scratch::<T>(dim, dim, thin, thin, Par::Seq, Spec::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ordinary sizes are left alone; others come close to one, and their squares are numbers.
    #[test]
    fn balanced_sizes_are_close_to_one() {
        for size in [0.0_f32, 1e-8, 1.0, 3e8, f32::INFINITY] {
            assert_eq!(balance(size).to_bits(), 1.0_f32.to_bits(), "{size:e}");
        }
        for size in [1e-10_f32, 1e-25, 2e-38, 1e12, 1e38] {
            assert!((0.7..1.5).contains(&(size * balance(size))), "{size:e}");
        }
        for size in [1e-160_f64, 3e-308, 1e170, 1e308] {
            assert!((0.7..1.5).contains(&(size * balance(size))), "{size:e}");
        }
        assert!(balance(f32::from_bits(1)).is_finite() && balance(5e-324_f64).is_finite());
    }

    /// Powers of two change the exponents of the eigenvalues, and nothing else.
    #[test]
    fn eigenvalues_of_any_scale() {
        use faer::dyn_stack::MemBuffer;
        let solve = |size: f32| {
            let entry = |i: usize, j: usize| size / (1 + i + j) as f32;
            let (matrix, mut vectors) = (Mat::from_fn(4, 4, entry), Mat::zeros(4, 4));
            let mut values = [0.0_f32; 4];
            let mut memory = MemBuffer::new(symmetric_eigen_scratch::<f32>(4, Par::Seq));
            let stack = MemStack::new(&mut memory);
            let (matrix, out) = (matrix.as_ref(), vectors.as_mut());
            symmetric_eigen(matrix, &mut values, out, Par::Seq, stack).unwrap();
            values
        };
        let plain = solve(1.0);
        for power in [-90, -60, 60, 110] {
            let size = 2.0_f32.powi(power);
            for (value, wanted) in solve(size).into_iter().zip(plain) {
                let gap = (value / size - wanted).abs();
                assert!(gap <= 16.0 * f32::EPSILON * plain[3], "2^{power}: {value:e} {wanted:e}");
            }
        }
    }
}
