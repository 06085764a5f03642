//! H ← (X₁ X₂ …)ᵀ Y for packed panels whose rows are 16 bytes at most, or of one column.
//!
//! A general matrix product is made for more columns. Here sixteen numbers of X that stand one behind the
//! other, rows of W, meet the same of Y turned by 0, …, W − 1 columns; each has a sum of its own until
//! the end. A block of 8,000 rows of `f64` (Zen 5, one thread): with one column 0.6 µs instead of the 23 of
//! faer's product, with two 1.3 instead of 7.6. With four, turning costs more than it saves: 10.8 instead
//! of 7.7.

// Inlining carries the instruction set into the loops: see `lanes`.
#![allow(clippy::inline_always)]

use std::ops::Range;

use super::lanes::{Kernel, run};
use super::slab::with_lanes;
use crate::{BlockMut, BlockRef, Scalar};

/// Numbers that are worked on together.
const LANES: usize = 16;

/// Numbers of Y that stay in the first-level cache while the panels pass by.
const NEAR: usize = 2048;

/// Whether rows of x are so many numbers one behind the other.
fn is_packed<T: Scalar>(x: &BlockRef<'_, T>, cols: usize) -> bool {
    x.cols() == cols && x.stride() == cols
}

/// Whether rows of so many numbers are narrow: 16 bytes, or 8 or 4.
fn is_narrow<T: Scalar>(cols: usize) -> bool {
    cols.is_power_of_two() && cols * size_of::<T>() <= 16
}

/// How rows of x meet rows of y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// Every column of the one every column of the other; both have so many.
    All(usize),
    /// One column all so many of y.
    One(usize),
}

impl Meeting {
    /// That of panels and y, whose rows are all one behind the other; `None` for those of a general
    /// product.
    pub fn of<T: Scalar>(panels: &[BlockRef<'_, T>], y: BlockRef<'_, T>) -> Option<Self> {
        let cols = y.cols();
        let all = |cols: usize| panels.iter().all(|x| is_packed(x, cols));
        if !is_packed(&y, cols) {
            None
        } else if is_narrow::<T>(cols) && all(cols) {
            Some(Self::All(cols))
        } else {
            (cols.is_power_of_two() && cols <= LANES && all(1)).then_some(Self::One(cols))
        }
    }
}

/// H ← (X₁ X₂ …)ᵀ Y over some rows.
pub(crate) fn cross_narrow<T: Scalar>(
    meeting: Meeting,
    panels: &[BlockRef<'_, T>],
    rows: Range<usize>,
    y: BlockRef<'_, T>,
    mut h: BlockMut<'_, T>,
) {
    for i in 0..h.rows() {
        h.row_mut(i).fill(T::zero());
    }
    let task = Cross { panels, rows, y, h };
    match meeting {
        Meeting::All(1) => run(All::<T, 1>(task)),
        Meeting::All(2) => run(All::<T, 2>(task)),
        Meeting::All(_) => run(All::<T, 4>(task)),
        Meeting::One(lanes) => with_lanes!(lanes, W => run(One::<T, W>(task))),
    }
}

struct Cross<'a, T> {
    panels: &'a [BlockRef<'a, T>],
    rows: Range<usize>,
    y: BlockRef<'a, T>,
    h: BlockMut<'a, T>,
}

struct All<'a, T, const W: usize>(Cross<'a, T>);

struct One<'a, T, const W: usize>(Cross<'a, T>);

impl<T: Scalar, const W: usize> Kernel for All<'_, T, W> {
    #[inline(always)]
    fn run(self) {
        let Cross { panels, rows, y, mut h } = self.0;
        for from in rows.clone().step_by(NEAR / W) {
            let part = from..rows.end.min(from + NEAR / W);
            let y = &y.data()[part.start * W..part.end * W];
            for (p, x) in panels.iter().enumerate() {
                let x = &x.data()[part.start * W..part.end * W];
                // sums[s][l] ← Σ x_l y_l', with l' in the row of l and s columns on
                let mut sums = [[T::zero(); LANES]; W];
                let ((x, last_x), (y, last_y)) = (x.as_chunks(), y.as_chunks());
                for (x, y) in x.iter().zip(y) {
                    turn(&mut sums, x, y);
                }
                turn(&mut sums, &padded(last_x), &padded(last_y));
                for (s, sums) in sums.iter_mut().enumerate() {
                    let sums = fold::<T, W>(sums);
                    (0..W).for_each(|a| h.row_mut(p * W + a)[(a + s) % W] += sums[a]);
                }
            }
        }
    }
}

impl<T: Scalar, const W: usize> Kernel for One<'_, T, W> {
    #[inline(always)]
    fn run(self) {
        let Cross { panels, rows, y, mut h } = self.0;
        let y = &y.data()[rows.start * W..rows.end * W];
        for (p, x) in panels.iter().enumerate() {
            let mut sums = [T::zero(); LANES];
            let x = &x.data()[rows.clone()];
            let (lines, last) = y.as_chunks::<LANES>();
            let (whole, rest) = x.split_at(lines.len() * (LANES / W));
            // sums_l ← Σ x_i y_l, with i the row of l
            for (x, y) in whole.chunks_exact(LANES / W).zip(lines) {
                (0..LANES).for_each(|l| sums[l] += x[l / W] * y[l]);
            }
            for (x, y) in rest.iter().zip(last.chunks_exact(W)) {
                (0..W).for_each(|l| sums[l] += *x * y[l]);
            }
            h.row_mut(p).copy_from_slice(&fold::<T, W>(&mut sums)[..W]);
        }
    }
}

/// Sums of the numbers of x times those of y, W of which are a row.
#[inline(always)]
fn turn<T: Scalar, const W: usize>(sums: &mut [[T; LANES]; W], x: &[T; LANES], y: &[T; LANES]) {
    for (s, sums) in sums.iter_mut().enumerate() {
        for l in 0..LANES {
            let turned = (l & !(W - 1)) | ((l + s) & (W - 1));
            sums[l] += x[l] * y[turned];
        }
    }
}

/// Fewer numbers than there are places, and zeros.
#[inline(always)]
fn padded<T: Scalar>(numbers: &[T]) -> [T; LANES] {
    let mut all = [T::zero(); LANES];
    all[..numbers.len()].copy_from_slice(numbers);
    all
}

/// The sums of each W-th number, in front.
#[inline(always)]
fn fold<T: Scalar, const W: usize>(sums: &mut [T; LANES]) -> &[T; LANES] {
    let mut width = LANES / 2;
    while width >= W {
        (0..width).for_each(|l| sums[l] += sums[l + width]);
        width /= 2;
    }
    sums
}
