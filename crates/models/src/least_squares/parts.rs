//! Right-hand sides part by part.

use favard_operator::{Block, Scalar, ops};

use super::Solution;
use crate::error::Result;

/// Solves for at most `width` right-hand sides at a time, `width` at least 1, one part after the
/// other: the engine takes no more columns than there are unknowns. Every column is copied once into
/// its part and once into the solution.
pub(crate) fn solve<T: Scalar>(
    width: usize,
    rhs: &Block<T>,
    solve: &mut dyn FnMut(&Block<T>) -> Result<Solution<T>>,
) -> Result<Solution<T>> {
    let cols = rhs.cols();
    let part = |from: usize| rhs.as_ref().cols_range(from..cols.min(from + width)).to_owned();
    let mut all = solve(&part(0))?;
    let mut x = Block::zeros(all.x.rows(), cols);
    ops::copy(all.x.as_ref(), x.as_mut().cols_range(0..all.x.cols()))?;
    for from in (width..cols).step_by(width) {
        let found = solve(&part(from))?;
        ops::copy(found.x.as_ref(), x.as_mut().cols_range(from..from + found.x.cols()))?;
        all.append(&found);
    }
    Ok(Solution { x, ..all })
}
