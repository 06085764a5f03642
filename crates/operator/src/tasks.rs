//! Work that is shared out among the threads: compiled once for each kind of numbers, not for each kernel.
//!
//! The functions of rayon are generic in what they run: wherever they are called, the compiler has more than
//! a thousand lines of them to translate. With some hundred kernels that was two fifths of this crate. Here
//! they are called with a reference to the task instead: one indirect call for each part, the least of which
//! has thousands of entries.

use rayon::join;
use rayon::prelude::*;

use crate::{BlockMut, Scalar};

/// What is done to each part of a slice, given with its number.
pub(crate) type OnPart<'f, T> = &'f (dyn Fn(usize, &mut [T]) + Sync);

/// What is done to some rows of a block, given with the number of the first.
pub(crate) type OnRows<'f, T> = &'f (dyn Fn(usize, BlockMut<'_, T>) + Sync);

/// What is done to each part of a slice and the part of another one beside it.
pub(crate) type OnPair<'f, T> = &'f (dyn Fn(usize, &mut [T], &mut [T]) + Sync);

/// Parts of `len` numbers, as many at a time as are worth a thread: a slice of one part costs no visit to the
/// thread pool.
pub(crate) fn for_each_part<T: Send>(data: &mut [T], len: usize, task: OnPart<'_, T>) {
    if data.len() <= len {
        task(0, data);
    } else {
        data.par_chunks_mut(len).enumerate().for_each(|(number, part)| task(number, part));
    }
}

/// Parts of `len` numbers, each of which any thread may take: for those that take long.
pub(crate) fn for_each_group<T: Send>(data: &mut [T], len: usize, task: OnPart<'_, T>) {
    let parts = data.par_chunks_mut(len).enumerate().with_max_len(1);
    parts.for_each(|(number, part)| task(number, part));
}

/// The same for the parts of two slices, side by side.
pub(crate) fn for_each_pair<T: Send>(
    (data, len): (&mut [T], usize),
    (other, other_len): (&mut [T], usize),
    task: OnPair<'_, T>,
) {
    let pairs = data.par_chunks_mut(len).zip(other.par_chunks_mut(other_len));
    let pairs = pairs.enumerate().with_max_len(1);
    pairs.for_each(|(number, (part, other))| task(number, part, other));
}

/// The rows of a block, in halves of halves of at most so many; the first of them has the number `first`.
pub(crate) fn halve_rows<T: Scalar>(
    mut y: BlockMut<'_, T>,
    first: usize,
    most: usize,
    task: OnRows<'_, T>,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    if rows <= most.max(1) {
        return task(first, y);
    }
    let half = rows / 2;
    let (top, bottom) = y.data_mut().split_at_mut(half * stride);
    let top = BlockMut::from_parts(top, half, cols, stride);
    let bottom = BlockMut::from_parts(bottom, rows - half, cols, stride);
    join(|| halve_rows(top, first, most, task), || halve_rows(bottom, first + half, most, task));
}
