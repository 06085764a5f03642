//! Small dense problems, solved by faer, for the crates above: compiled here once
//! (see [`Compiled`](crate::compiled::Compiled)).

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::EvdError;
use faer::linalg::svd::SvdError;
use faer::{Accum, MatMut, MatRef, Par};

use crate::Scalar;

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
/// # Errors
/// When the iteration does not converge.
pub fn symmetric_eigen<T: Scalar>(
    matrix: MatRef<'_, T>,
    values: &mut [T],
    vectors: MatMut<'_, T>,
    par: Par,
    stack: &mut MemStack,
) -> Result<(), EvdError> {
    T::small_eigen(matrix, values, vectors, par, stack)
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
