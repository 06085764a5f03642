//! BᵀB and BBᵀ for B = √W (A − 1mᵀ) F, formed as the matrices they are.

use std::ops::Range;

use ndarray::ArrayView2;
use num_traits::Float;
use rayon::prelude::*;

use super::square::{add_square, is_small, mirror, width};
use crate::adjoint::{Side, Standardized};
use crate::row_ops::CHUNK;
use crate::wrap::SHORT;
use crate::{Block, Scalar};

/// Partial sums at most.
const PARTIALS: usize = 16;

/// How many of them for `inner` rows in pieces of `height`: they take at most half of the memory of A.
pub(super) fn partials(dim: usize, inner: usize, height: usize) -> usize {
    inner.div_ceil(height).min(inner / (2 * dim)).clamp(1, PARTIALS)
}

/// How a sum of `inner` squares of rows of `dim` numbers is cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    inner: usize,
    /// The rows of a piece that stays in cache.
    height: usize,
    /// The rows that each partial sum is over.
    step: usize,
}

impl Cut {
    fn new(dim: usize, inner: usize) -> Self {
        let columns = dim.max(1);
        // Each piece updates all of the sum: many rows keep that small against their product.
        let height = if is_small(dim) { SHORT } else { (CHUNK / columns).clamp(256, 512) };
        let step = inner.div_ceil(partials(columns, inner, height)).max(1);
        Self { inner, height, step }
    }

    /// The rows of each partial sum.
    fn ranges(self) -> Vec<Range<usize>> {
        let starts = (0..self.inner).step_by(self.step);
        starts.map(|from| from..self.inner.min(from + self.step)).collect()
    }
}

/// Bytes that [`form`] or a scatter matrix takes beside the result: the partial sums, the means of
/// the pieces, and for each thread a piece and its copy.
pub(super) fn scratch<T: Scalar>(dim: usize, inner: usize) -> usize {
    if dim * inner == 0 {
        return 0;
    }
    let cut = Cut::new(dim, inner);
    let partials = inner.div_ceil(cut.step);
    let busy = rayon::current_num_threads().min(partials);
    // Of each piece its weight and mean, and of sixteen groups of pieces the moments.
    let means = (inner.div_ceil(SHORT) * (dim + 1) + 32 * dim) * size_of::<f64>();
    let piece = Block::<T>::len_for(cut.height, width::<T>(dim));
    means + (partials * Block::<T>::len_for(dim, dim) + 2 * busy * piece) * size_of::<T>()
}

/// The rows of B (or columns, for BBᵀ) are taken in pieces that stay in cache, each standardised on
/// the way: the mean is subtracted before anything is squared. Only the lower triangle is computed.
/// Pieces and partial sums depend on the shape alone.
pub(crate) fn form<T: Scalar>(
    a: ArrayView2<'_, T>,
    side: Side,
    by: &Standardized<'_, T>,
) -> Block<T> {
    let (dim, inner) = match side {
        Side::Columns => (a.ncols(), a.nrows()),
        Side::Rows => (a.nrows(), a.ncols()),
    };
    let cut = Cut::new(dim, inner);
    let partial = |range: Range<usize>| {
        let mut sum = Block::zeros(dim, dim);
        let mut part = Block::zeros(cut.height, width::<T>(dim));
        for from in range.clone().step_by(cut.height) {
            let len = cut.height.min(range.end - from);
            match side {
                Side::Columns => copy_rows(a, from, len, by, &mut part),
                Side::Rows => copy_columns(a, from, len, by, &mut part),
            }
            add_square(&part, len, sum.as_mut());
        }
        sum
    };
    let ranges = if dim == 0 { Vec::new() } else { cut.ranges() };
    collect(dim, &ranges.into_par_iter().map(partial).collect::<Vec<_>>())
}

/// The symmetric matrix that the lower triangles of some matrices add up to.
pub(super) fn collect<T: Scalar>(dim: usize, partial: &[Block<T>]) -> Block<T> {
    let mut sum = Block::zeros(dim, dim);
    for part in partial {
        for i in 0..dim {
            let rows = sum.row_mut(i)[..=i].iter_mut().zip(part.row(i));
            rows.for_each(|(sum, &part)| *sum += part);
        }
    }
    mirror(&mut sum);
    sum
}

/// Rows of B.
fn copy_rows<T: Scalar>(
    a: ArrayView2<'_, T>,
    from: usize,
    len: usize,
    by: &Standardized<'_, T>,
    to: &mut Block<T>,
) {
    for i in 0..len {
        let row = &mut to.row_mut(i)[..a.ncols()];
        row.iter_mut().zip(a.row(from + i)).for_each(|(to, &a)| *to = a);
        if let Some(shift) = by.shift {
            row.iter_mut().zip(shift).for_each(|(to, &m)| *to -= m);
        }
        if let Some(factor) = by.factor {
            row.iter_mut().zip(factor).for_each(|(to, &f)| *to *= f);
        }
        if let Some(weights) = by.weights {
            let root = Float::sqrt(weights[from + i]);
            row.iter_mut().for_each(|to| *to *= root);
        }
    }
}

/// Columns of B, as rows.
fn copy_columns<T: Scalar>(
    a: ArrayView2<'_, T>,
    from: usize,
    len: usize,
    by: &Standardized<'_, T>,
    to: &mut Block<T>,
) {
    for (i, row) in a.rows().into_iter().enumerate() {
        let root = by.weights.map_or_else(T::one, |weights| Float::sqrt(weights[i]));
        for j in 0..len {
            let mut value = row[from + j];
            if let Some(shift) = by.shift {
                value -= shift[from + j];
            }
            if let Some(factor) = by.factor {
                value *= factor[from + j];
            }
            to.row_mut(j)[i] = root * value;
        }
    }
}
