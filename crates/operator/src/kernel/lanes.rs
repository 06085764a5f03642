//! The innermost loops.

use crate::{BlockRef, Scalar};

/// α s + γ y, without reading y when γ = 0.
#[inline]
pub(super) fn combine<T: Scalar>(alpha: T, sum: T, gamma: T, y: T) -> T {
    if gamma == T::zero() { alpha * sum } else { alpha * sum + gamma * y }
}

/// Σ_c v_c x_cj.
#[inline]
pub(super) fn gather<T: Scalar>(columns: &[u32], values: &[T], x: BlockRef<'_, T>, j: usize) -> T {
    let mut sum = T::zero();
    for (&column, &value) in columns.iter().zip(values) {
        sum += value * x.data()[column as usize * x.stride() + j];
    }
    sum
}
