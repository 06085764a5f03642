//! BᵀB and BBᵀ for B = (A − 1mᵀ) F, formed as the matrices they are.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Par};
use ndarray::ArrayView2;
use rayon::prelude::*;

use crate::adjoint::{Side, Standardized};
use crate::row_ops::CHUNK;
use crate::{Block, BlockMut, BlockRef, Scalar};

/// Partial sums at most.
const PARTIALS: usize = 16;

/// How a sum of `inner` squares of rows of `dim` numbers is cut: the rows of a piece that stays in
/// cache, and the rows that each partial sum is over.
fn cut(dim: usize, inner: usize) -> (usize, usize) {
    // Each piece updates all of the sum: many rows keep that small against their product.
    let height = (CHUNK / dim).clamp(256, 512);
    // Partial sums take at most half of the memory of A.
    let pieces = inner.div_ceil(height).min(inner / (2 * dim)).clamp(1, PARTIALS);
    (height, inner.div_ceil(pieces))
}

/// Bytes that [`form`] takes beside the result: the partial sums, and a piece for each thread.
pub(super) fn scratch<T: Scalar>(dim: usize, inner: usize) -> usize {
    if dim * inner == 0 {
        return 0;
    }
    let (height, step) = cut(dim, inner);
    let partials = inner.div_ceil(step);
    let busy = rayon::current_num_threads().min(partials);
    (partials * Block::<T>::len_for(dim, dim) + busy * Block::<T>::len_for(height, dim))
        * size_of::<T>()
}

/// The rows of B (or columns, for BBᵀ) are taken in pieces that stay in cache, each standardised on
/// the way: the mean is subtracted before anything is squared. Only the lower triangle is computed.
/// Pieces and partial sums depend on the shape alone.
pub(super) fn form<T: Scalar>(
    a: ArrayView2<'_, T>,
    side: Side,
    by: &Standardized<'_, T>,
) -> Block<T> {
    let (dim, inner) = match side {
        Side::Columns => (a.ncols(), a.nrows()),
        Side::Rows => (a.nrows(), a.ncols()),
    };
    let mut sum = Block::zeros(dim, dim);
    if dim * inner == 0 {
        return sum;
    }
    let (height, step) = cut(dim, inner);
    let mut partial: Vec<Block<T>> =
        (0..inner.div_ceil(step)).map(|_| Block::zeros(dim, dim)).collect();
    partial.par_iter_mut().enumerate().for_each(|(index, sum)| {
        let mut part = Block::zeros(height, dim);
        let end = inner.min((index + 1) * step);
        for from in (index * step..end).step_by(height) {
            let len = height.min(end - from);
            let mut part = part.as_mut().rows_range(0..len);
            match side {
                Side::Columns => copy_rows(a, from, by, part.reborrow()),
                Side::Rows => copy_columns(a, from, by, part.reborrow()),
            }
            add_square(part.as_ref(), sum.as_mut());
        }
    });
    for part in &partial {
        for i in 0..dim {
            let rows = sum.row_mut(i)[..=i].iter_mut().zip(part.row(i));
            rows.for_each(|(sum, &part)| *sum += part);
        }
    }
    for i in 0..dim {
        for j in i + 1..dim {
            sum.row_mut(i)[j] = sum.row(j)[i];
        }
    }
    sum
}

/// The lower triangle of s ← s + PᵀP.
fn add_square<T: Scalar>(p: BlockRef<'_, T>, s: BlockMut<'_, T>) {
    let (p, whole) = (p.as_mat(), BlockStructure::Rectangular);
    let lower = BlockStructure::TriangularLower;
    matmul(s.into_mat(), lower, Accum::Add, p.transpose(), whole, p, whole, T::one(), Par::Seq);
}

/// Rows of B.
fn copy_rows<T: Scalar>(
    a: ArrayView2<'_, T>,
    from: usize,
    by: &Standardized<'_, T>,
    mut to: BlockMut<'_, T>,
) {
    for i in 0..to.rows() {
        let row = to.row_mut(i);
        row.iter_mut().zip(a.row(from + i)).for_each(|(to, &a)| *to = a);
        if let Some(shift) = by.shift {
            row.iter_mut().zip(shift).for_each(|(to, &m)| *to -= m);
        }
        if let Some(factor) = by.factor {
            row.iter_mut().zip(factor).for_each(|(to, &f)| *to *= f);
        }
    }
}

/// Columns of B, as rows.
fn copy_columns<T: Scalar>(
    a: ArrayView2<'_, T>,
    from: usize,
    by: &Standardized<'_, T>,
    mut to: BlockMut<'_, T>,
) {
    let (first, len) = (from, to.rows());
    for (i, row) in a.rows().into_iter().enumerate() {
        for j in 0..len {
            let mut value = row[first + j];
            if let Some(shift) = by.shift {
                value -= shift[first + j];
            }
            if let Some(factor) = by.factor {
                value *= factor[first + j];
            }
            to.row_mut(j)[i] = value;
        }
    }
}
