//! [`Slab`]: a wide block is worked on a few numbers of each row at a time.

use std::ops::Range;

use crate::tasks::for_each_part;
use crate::{Block, BlockRef, Scalar, Workspace};

/// Some columns of a block, worked on together.
#[derive(Debug, Clone)]
pub(super) struct Slab {
    /// Which columns.
    pub columns: Range<usize>,
    /// How many numbers the kernel works on: a power of two, at least the columns.
    pub lanes: usize,
}

/// Numbers of a slab: a cache line of `f32`, two of `f64`.
pub(super) const WIDE: usize = 16;

/// The slabs of a block of `cols` columns: `widest` at a time, a power of two, then what is left.
///
/// What is left is padded to a power of two, or, when `exact`, cut into powers of two.
pub(super) fn slabs(cols: usize, widest: usize, exact: bool) -> impl Iterator<Item = Slab> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let left = (cols - from).min(widest);
        if left == 0 {
            return None;
        }
        let lanes = if exact { 1 << left.ilog2() } else { left.next_power_of_two() };
        let columns = from..from + left.min(lanes);
        from = columns.end;
        Some(Slab { columns, lanes })
    })
}

/// Runs an expression with the constant `$w` equal to the lanes of a slab.
macro_rules! with_lanes {
    ($lanes:expr, $w:ident => $body:expr) => {
        match $lanes {
            1 => {
                const $w: usize = 1;
                $body
            }
            2 => {
                const $w: usize = 2;
                $body
            }
            4 => {
                const $w: usize = 4;
                $body
            }
            8 => {
                const $w: usize = 8;
                $body
            }
            _ => {
                const $w: usize = 16;
                $body
            }
        }
    };
}
pub(crate) use with_lanes;

/// The numbers of a slice as whole rows of W.
pub(super) fn rows_of<T, const W: usize>(data: &[T]) -> &[[T; W]] {
    data.as_chunks().0
}

/// The same, to write.
pub(super) fn rows_of_mut<T, const W: usize>(data: &mut [T]) -> &mut [[T; W]] {
    data.as_chunks_mut().0
}

/// Whether the rows of x are at most W numbers in places for W, one behind the other, none across more
/// cache lines than it needs. What is in the places behind the columns does not matter: no lane of a
/// kernel looks at another, and those of no column are not written to the result.
fn is_packed<T: Scalar, const W: usize>(x: BlockRef<'_, T>) -> bool {
    let line = W.min(T::LANE) * size_of::<T>();
    x.cols() <= W
        && x.stride() == W
        && x.data().len() >= x.rows() * W
        && x.data().as_ptr().addr().is_multiple_of(line)
}

/// Rows that one task copies.
const TASK: usize = 2048;

/// A copy of x with rows of W numbers, zeros behind its columns; `None` when x has such rows already.
///
/// The copy is one pass over the block. It pays, because every entry of the matrix then meets a
/// whole cache line, and because a narrow slab of a wide block uses all sets of the caches.
pub(super) fn pack<T: Scalar, const W: usize>(
    x: BlockRef<'_, T>,
    ws: &mut Workspace<T>,
) -> Option<Block<T>> {
    if is_packed::<T, W>(x) {
        return None;
    }
    let mut copy = ws.take(x.rows(), W);
    let mut view = copy.as_mut();
    for_each_part(view.data_mut(), TASK * W, &|task, part| {
        for (i, row) in rows_of_mut::<T, W>(part).iter_mut().enumerate() {
            *row = load(x.row(task * TASK + i));
        }
    });
    Some(copy)
}

/// A row of at most W numbers, with zeros behind.
#[inline]
pub(super) fn load<T: Scalar, const W: usize>(row: &[T]) -> [T; W] {
    let mut lanes = [T::zero(); W];
    lanes.iter_mut().zip(row).for_each(|(lane, &value)| *lane = value);
    lanes
}
