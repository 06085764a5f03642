//! The products of a matrix stored by rows with a block, at the memory's speed.

mod direct;
mod forward;
mod lanes;
mod normal;
mod pick;
mod prefetch;
mod rows;
mod slab;
mod transpose;

use direct::direct;
pub(crate) use forward::forward;
pub(crate) use normal::normal;
pub(crate) use pick::{All, Pick};
pub(crate) use rows::Rows;
pub(crate) use transpose::transpose;

use crate::Scalar;

/// Bytes of a slab above which its rows are asked for ahead: what a second-level cache holds.
const NEAR: usize = 1 << 20;

/// Whether a slab of W numbers a row does not stay in the second-level cache.
fn is_far<T: Scalar, const W: usize>(rows: usize) -> bool {
    W == T::LANE && rows.saturating_mul(64) > NEAR
}

/// The number of groups of rows that add up a transposed product, each in its own buffer.
///
/// With r entries a column, a buffer costs each column two lines to clear and to add up against r
/// lines to fill. One group below r = 16; up to four while a group has 8 entries a column; more
/// while it has 64, at most 32.
fn groups(entries: usize, cols: usize) -> usize {
    let share = entries / cols.max(1);
    (share / 8).clamp(1, 4).max((share / 64).min(32))
}
