//! S ← S + PᵀP, the lower triangle.

// Inlining carries the instruction set of a kernel into what it calls: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Par};

use super::lines::Lines;
use crate::kernel::{Kernel, run};
use crate::{Block, BlockMut, Scalar};

/// Columns up to which the products are our own: a matrix product of faer copies its operands into
/// the order it works in, which for so few numbers a row is most of its time.
const SMALL: usize = 32;

/// Rows of a tile: with two vector registers a row, half of them hold its sums.
const TALL: usize = 4;

/// Numbers a row of a block that [`add_square`] takes for so many columns.
pub(crate) fn width<T: Scalar>(dim: usize) -> usize {
    dim.next_multiple_of(T::LANE)
}

/// Whether the products are our own.
pub(super) fn is_small(dim: usize) -> bool {
    dim <= SMALL
}

/// The lower triangle of s ← s + PᵀP for the first rows of a block and as many of its columns as s
/// has; the columns behind them may hold anything.
pub(crate) fn add_square<T: Scalar>(p: &Block<T>, rows: usize, s: BlockMut<'_, T>) {
    let dim = s.cols();
    if is_small(dim) {
        let p = Lines::new(p.as_ref().data(), p.stride());
        if T::LANE == 8 {
            run(Square::<T, 8> { p, rows, s });
        } else {
            run(Square::<T, 16> { p, rows, s });
        }
        return;
    }
    let p = p.as_ref().rows_range(0..rows).cols_range(0..dim).as_mat();
    let (whole, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    matmul(s.into_mat(), lower, Accum::Add, p.transpose(), whole, p, whole, T::one(), Par::Seq);
}

/// The upper triangle is what the lower one is.
pub(crate) fn mirror<T: Scalar>(s: &mut Block<T>) {
    for i in 0..s.rows() {
        for j in i + 1..s.cols() {
            s.row_mut(i)[j] = s.row(j)[i];
        }
    }
}

struct Square<'a, T, const W: usize> {
    p: Lines<'a, T>,
    rows: usize,
    s: BlockMut<'a, T>,
}

impl<T: Scalar, const W: usize> Kernel for Square<'_, T, W> {
    #[inline(always)]
    fn run(self) {
        let Self { p, rows, mut s } = self;
        let dim = s.cols();
        for i in (0..dim).step_by(TALL) {
            // Only the tiles that the diagonal passes, and those left of it.
            for j in (0..dim.min(i + TALL)).step_by(W) {
                let sum = tile::<T, W, TALL>(p.skip(i), p.skip(j), rows);
                for (i, sum) in (i..dim).zip(sum) {
                    s.row_mut(i)[j..].iter_mut().zip(sum).for_each(|(s, sum)| *s += sum);
                }
            }
        }
    }
}

/// Σᵢ pᵢ qᵢᵀ of the first R numbers and the first W numbers of each row, in registers.
#[inline(always)]
pub(super) fn tile<T: Scalar, const W: usize, const R: usize>(
    p: Lines<'_, T>,
    q: Lines<'_, T>,
    rows: usize,
) -> [[T; W]; R] {
    let mut sum = [[T::zero(); W]; R];
    for i in 0..rows {
        let (p, q) = (p.at::<R>(i), q.at::<W>(i));
        for r in 0..R {
            for l in 0..W {
                sum[r][l] += p[r] * q[l];
            }
        }
    }
    sum
}
