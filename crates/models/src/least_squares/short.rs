//! Rows too short for the squares of their lengths.

use std::collections::BTreeSet;

use favard_operator::{Block, RowOperator, Scalar, Workspace};

use crate::error::Result;

/// What is said of a matrix all of whose rows are.
pub(crate) const SHORT: &str = "the squares of all rows' lengths are below the smallest number, so \
     that none can be drawn (multiply the system by a number)";

/// Of rows with the squared length 0, those that are not zero: an entry below about 1e-23 in `f32`
/// has a square that is.
///
/// One product with all of them tells whether there is any, and only then their entries are looked
/// at.
pub(crate) fn short_rows<T: Scalar>(
    op: &dyn RowOperator<T>,
    rows: &[usize],
) -> Result<BTreeSet<usize>> {
    if rows.is_empty() {
        return Ok(BTreeSet::new());
    }
    let cols = op.shape().1;
    // Random weights: rows that are not zero do not cancel each other.
    let (weights, mut sum) = (Block::gaussian(rows.len(), 1, 1), Block::zeros(cols, 1));
    let (one, zero) = (T::one(), T::zero());
    op.apply_rows_adjoint(rows, one, weights.as_ref(), zero, sum.as_mut(), &mut Workspace::new())?;
    if (0..cols).all(|j| sum.row(j)[0] == zero) {
        return Ok(BTreeSet::new());
    }
    let is_short = |i: usize| (0..cols).any(|j| op.entry(i, j) != zero);
    Ok(rows.iter().copied().filter(|&i| is_short(i)).collect())
}
