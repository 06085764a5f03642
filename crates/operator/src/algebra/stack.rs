//! What the stacks share: where each part begins.

use std::ops::Range;

use crate::error::{ErrorKind, Result};
use crate::{LinearOperator, Scalar};

/// The sums of the first 0, 1, 2, … lengths.
pub(super) fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut total = 0;
    for length in lengths {
        total += length;
        offsets.push(total);
    }
    offsets
}

/// The range of part i.
pub(super) fn range(offsets: &[usize], i: usize) -> Range<usize> {
    offsets[i]..offsets[i + 1]
}

/// The sum of all lengths.
pub(super) fn total(offsets: &[usize]) -> usize {
    offsets.last().copied().unwrap_or(0)
}

/// `Ok` when there is a part and `dim` of the shape is the same for all.
pub(super) fn check_parts<A: LinearOperator<T>, T: Scalar>(
    what: &'static str,
    parts: &[A],
    dim: impl Fn((usize, usize)) -> usize,
) -> Result<()> {
    let Some(first) = parts.first() else {
        return Err(ErrorKind::Empty { what, rows: 0, cols: 0 }.into());
    };
    let left = first.shape();
    match parts.iter().map(LinearOperator::shape).find(|&shape| dim(shape) != dim(left)) {
        None => Ok(()),
        Some(right) => Err(ErrorKind::Mismatch { what, left, right }.into()),
    }
}

/// γ for the first part of a sum and 1 for the others, which add to it.
pub(super) fn gamma_of<T: Scalar>(i: usize, gamma: T) -> T {
    if i == 0 { gamma } else { T::one() }
}
