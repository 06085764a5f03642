//! Products of a matrix of any strides with a block, cut by the shape alone.

use faer::{Accum, MatRef};
use rayon::prelude::*;

use crate::row_ops::{CHUNK, chunk_rows};
use crate::{Between, BlockMut, BlockRef, Scalar, Workspace, ops};

/// With at least this many pieces of the result, the result is what is shared out.
const PIECES: usize = 16;

/// Partial results at most: they cost memory and one addition each.
const PARTIALS: usize = 32;

/// Columns of a matrix stored by rows that a piece of its transpose covers at least: a page of
/// `f64`, so that the memory is still read in long runs.
const COLUMNS: usize = 512;

/// y ← α P x + γ y on this thread.
fn gemm<T: Scalar>(
    p: MatRef<'_, T>,
    alpha: T,
    x: &BlockRef<'_, T>,
    gamma: T,
    y: &mut BlockMut<'_, T>,
) {
    let accum = if gamma == T::zero() { Accum::Replace } else { Accum::Add };
    if gamma != T::zero() && gamma != T::one() {
        for i in 0..y.rows() {
            y.row_mut(i).iter_mut().for_each(|entry| *entry *= gamma);
        }
    }
    T::small_multiply(y.reborrow().into_mat(), accum, p, x.as_mat(), alpha);
}

/// y ← α P x + γ y on this thread. A P that is stored by columns (the transpose of a matrix stored
/// by rows) is taken in blocks of columns that stay in cache, each read once in the order of the
/// memory first: the product itself runs through it in strips of a few rows, each of which touches
/// every column, an order that no prefetcher follows. (50,000 × 500, f64, k = 8, 2 cores: 52 ms, and
/// 115 ms without either.)
fn gemm_in_cache<T: Scalar>(
    p: MatRef<'_, T>,
    alpha: T,
    x: &BlockRef<'_, T>,
    gamma: T,
    y: &mut BlockMut<'_, T>,
) {
    let inner = p.ncols();
    let depth = (CHUNK / p.nrows().max(1)).max(32);
    if is_by_rows(p) || inner <= depth || x.cols() == 1 {
        return gemm(p, alpha, x, gamma, y);
    }
    for from in (0..inner).step_by(depth) {
        let len = depth.min(inner - from);
        let gamma = if from == 0 { gamma } else { T::one() };
        touch(p.subcols(from, len));
        gemm(p.subcols(from, len), alpha, &x.rows_range(from..from + len), gamma, y);
    }
}

/// Brings a matrix with contiguous columns into cache: one number of each line, in order.
fn touch<T: Scalar>(p: MatRef<'_, T>) {
    let mut sum = T::zero();
    for j in 0..p.ncols() {
        let Some(column) = p.col(j).try_as_col_major() else {
            return;
        };
        sum += column.as_slice().iter().step_by(T::LANE).copied().sum::<T>();
    }
    // Nobody wants the sum, but the compiler must not know.
    std::hint::black_box(sum);
}

fn is_by_rows<T>(p: MatRef<'_, T>) -> bool {
    p.row_stride().unsigned_abs() >= p.col_stride().unsigned_abs()
}

/// y ← α P x + γ y for any P that fits.
pub(crate) fn multiply<T: Scalar>(
    p: MatRef<'_, T>,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let (rows, inner, cols) = (p.nrows(), p.ncols(), x.cols());
    if rows * cols == 0 {
        return;
    }
    if inner == 0 {
        return ops::scale(gamma, y);
    }
    // Rows of the result in a piece. A piece reads all of x: 4k rows or more keep that small
    // against the piece of P.
    let least = if is_by_rows(p) { 8 } else { COLUMNS };
    let step = (CHUNK / (inner + cols)).max(least).max(4 * cols);
    // Partial results take at most half of the memory of P. With an eighth, they are the better
    // choice for the transpose of a matrix stored by rows, which they read in whole rows.
    let pieces = (rows * inner).div_ceil(CHUNK).min(PARTIALS).min(inner / (2 * cols));
    let by_inner = !is_by_rows(p) && pieces >= PIECES && pieces <= inner / (8 * cols);
    if pieces < 4 || (rows.div_ceil(step) >= PIECES && !by_inner) {
        chunk_rows(y, step, |first, mut y| {
            gemm_in_cache(p.subrows(first, y.rows()), alpha, &x, gamma, &mut y);
        });
    } else {
        multiply_inner(p, inner.div_ceil(pieces), alpha, x, gamma, y, ws);
    }
}

/// y ← α Σ_c P_c x_c + γ y, the sum over pieces of `step` of the inner dimension.
fn multiply_inner<T: Scalar>(
    p: MatRef<'_, T>,
    step: usize,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let (rows, inner, cols) = (p.nrows(), p.ncols(), x.cols());
    let pieces = inner.div_ceil(step);
    let mut partial = ws.take(pieces * rows, cols);
    chunk_rows(partial.as_mut(), rows, |first, mut sum| {
        let from = (first / rows) * step;
        let len = step.min(inner - from);
        let x = x.rows_range(from..from + len);
        gemm_in_cache(p.subcols(from, len), T::one(), &x, T::zero(), &mut sum);
    });
    add_partials(partial.as_ref(), pieces, alpha, gamma, y);
    ws.give(partial);
}

/// y ← α Σ_c s_c + γ y, where `sums` is the s_c on top of each other, added in order.
pub(super) fn add_partials<T: Scalar>(
    sums: BlockRef<'_, T>,
    pieces: usize,
    alpha: T,
    gamma: T,
    y: BlockMut<'_, T>,
) {
    let rows = y.rows();
    let step = CHUNK.div_ceil(pieces * sums.stride());
    chunk_rows(y, step, |first, mut y| {
        for i in 0..y.rows() {
            let row = y.row_mut(i);
            for (j, entry) in row.iter_mut().enumerate() {
                let sum: T = (0..pieces).map(|c| sums.row(c * rows + first + i)[j]).sum();
                let old = if gamma == T::zero() { T::zero() } else { gamma * *entry };
                *entry = alpha * sum + old;
            }
        }
    });
}

/// y ← α Pᵀ Z + γ y with row i of Z equal to wᵢ (P x − 1mᵀ)ᵢ, P read once where that pays.
pub(crate) fn normal<T: Scalar>(
    p: MatRef<'_, T>,
    alpha: T,
    x: BlockRef<'_, T>,
    between: Between<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let (rows, inner, cols) = (p.nrows(), p.ncols(), x.cols());
    let Between { weights, offset, mut sums } = between;
    if let Some(sums) = sums.as_deref_mut() {
        sums.fill(T::zero());
    }
    // Rows of P in a block that stays in cache.
    let height = CHUNK / inner.max(1);
    if !is_by_rows(p) || height < 16.max(2 * cols) || rows * inner * cols == 0 {
        let mut z = ws.take(rows, cols);
        multiply(p, T::one(), x, T::zero(), z.as_mut(), ws);
        Between::transform(weights, offset, z.as_mut(), 0, sums);
        multiply(p.transpose(), alpha, z.as_ref(), gamma, y, ws);
        ws.give(z);
        return;
    }
    let pieces = rows.div_ceil(height).min(PARTIALS);
    let step = rows.div_ceil(pieces);
    let pieces = rows.div_ceil(step);
    let height = height.min(step);
    // One sum, one piece of Z and one row of column sums for every piece of P.
    let mut partial = ws.take(pieces * inner, cols);
    let mut z = ws.take(pieces * height, cols);
    let mut totals = ws.take_zeros(pieces, cols);
    let (stride, wants_sums) = (partial.stride(), sums.is_some());
    let (mut all_partial, mut all_z, mut all_totals) =
        (partial.as_mut(), z.as_mut(), totals.as_mut());
    let parts = all_partial.data_mut().par_chunks_mut(inner * stride);
    let blocks = all_z.data_mut().par_chunks_mut(height * stride);
    let sums_of = all_totals.data_mut().par_chunks_mut(stride);
    parts.zip(blocks).zip(sums_of).enumerate().for_each(|(index, ((partial, z), total))| {
        let mut sum = BlockMut::from_parts(partial, inner, cols, stride);
        let end = rows.min((index + 1) * step);
        for from in (index * step..end).step_by(height) {
            let len = height.min(end - from);
            let block = p.subrows(from, len);
            let mut z = BlockMut::from_parts(&mut z[..len * stride], len, cols, stride);
            // Z ← W (P x − 1mᵀ)
            gemm(block, T::one(), &x, T::zero(), &mut z);
            let total = wants_sums.then_some(&mut total[..cols]);
            Between::transform(weights, offset, z.reborrow(), from, total);
            // sum ← sum + Pᵀ Z
            let keep = if from == index * step { T::zero() } else { T::one() };
            gemm(block.transpose(), T::one(), &z.as_ref(), keep, &mut sum);
        }
    });
    add_partials(partial.as_ref(), pieces, alpha, gamma, y);
    if let Some(sums) = sums {
        for index in 0..pieces {
            sums.iter_mut().zip(totals.row(index)).for_each(|(sum, &total)| *sum += total);
        }
    }
    ws.give(partial);
    ws.give(z);
    ws.give(totals);
}
