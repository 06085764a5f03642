//! [`small_svd`]: the singular value decomposition of an r × r matrix.

use faer::Mat;
use faer::dyn_stack::{MemBuffer, MemStack};
use favard_operator::{Block, Scalar, small};

use crate::error::Result;

/// U, s (descending) and V of a small square matrix $U \mathrm{diag}(s) V^T$, on one thread.
pub(super) fn small_svd<T: Scalar>(matrix: &Block<T>) -> Result<(Block<T>, Vec<T>, Block<T>)> {
    let dim = matrix.rows();
    let a = Mat::from_fn(dim, dim, |i, j| matrix.row(i)[j]);
    let (mut u, mut v) = (Mat::<T>::zeros(dim, dim), Mat::<T>::zeros(dim, dim));
    let mut values = vec![T::zero(); dim];
    let mut scratch = MemBuffer::new(small::svd_scratch::<T>(dim));
    let stack = MemStack::new(&mut scratch);
    small::svd(a.as_ref(), &mut values, u.as_mut(), v.as_mut(), stack).map_err(|_| {
        favard_engine::Error::from(favard_engine::ErrorKind::Ritz { tick: 0, cols: dim })
    })?;
    let block = |m: &Mat<T>| Block::from_fn(dim, dim, |i, j| m[(i, j)]);
    Ok((block(&u), values, block(&v)))
}
