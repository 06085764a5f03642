//! [`symmetric_eigen`]: the small dense eigenproblem.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par, Spec};
use favard_operator::Scalar;

use crate::error::Result;

/// All eigenvalues of a symmetric matrix, descending, and their vectors, one a column.
///
/// On one thread: the problems here are small, and what faer does in parallel depends on the number
/// of threads, which our bits must not.
pub(crate) fn symmetric_eigen<T: Scalar>(matrix: MatRef<'_, T>) -> Result<(Vec<T>, Mat<T>)> {
    let dim = matrix.nrows();
    let (mut values, mut vectors) = (vec![T::zero(); dim], Mat::<T>::zeros(dim, dim));
    let (want, params) = (ComputeEigenvectors::Yes, Spec::default());
    let mut scratch = MemBuffer::new(self_adjoint_evd_scratch::<T>(dim, want, Par::Seq, params));
    self_adjoint_evd(
        matrix,
        faer::diag::DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    )
    .map_err(|_| {
        favard_engine::Error::from(favard_engine::ErrorKind::Ritz { tick: 0, cols: dim })
    })?;
    values.reverse();
    let last = dim.saturating_sub(1);
    let descending = Mat::from_fn(dim, dim, |i, j| vectors[(i, last - j)]);
    Ok((values, descending))
}
