//! [`small_svd`]: the singular value decomposition of an r × r matrix.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, Par, Spec};
use favard_operator::{Block, Scalar};

use crate::error::Result;

/// U, s (descending) and V of a small square matrix $U \mathrm{diag}(s) V^T$, on one thread.
pub(super) fn small_svd<T: Scalar>(matrix: &Block<T>) -> Result<(Block<T>, Vec<T>, Block<T>)> {
    let dim = matrix.rows();
    let a = Mat::from_fn(dim, dim, |i, j| matrix.row(i)[j]);
    let (mut u, mut v) = (Mat::<T>::zeros(dim, dim), Mat::<T>::zeros(dim, dim));
    let mut values = vec![T::zero(); dim];
    let thin = ComputeSvdVectors::Thin;
    let request = svd_scratch::<T>(dim, dim, thin, thin, Par::Seq, Spec::default());
    let mut scratch = MemBuffer::new(request);
    svd(
        a.as_ref(),
        faer::diag::DiagMut::from_slice_mut(&mut values),
        Some(u.as_mut()),
        Some(v.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    )
    .map_err(|_| {
        favard_engine::Error::from(favard_engine::ErrorKind::Ritz { tick: 0, cols: dim })
    })?;
    let block = |m: &Mat<T>| Block::from_fn(dim, dim, |i, j| m[(i, j)]);
    Ok((block(&u), values, block(&v)))
}
