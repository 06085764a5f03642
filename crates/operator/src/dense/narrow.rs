//! y ← α Pᵀ Z + γ y with row i of Z equal to wᵢ (P x − 1mᵀ)ᵢ, for a P of few columns.

// Inlining carries the instruction set of a kernel into what it calls: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use rayon::prelude::*;

use super::lines::Lines;
use super::product::add_partials;
use super::square::{is_small, tile};
use crate::kernel::{Kernel, run};
use crate::{Between, BlockMut, BlockRef, Scalar, Workspace};

/// Rows of P whose part of Z is kept: with a slab of 12 columns of `f64`, both fit in 32 KiB while P
/// has at most 20 columns.
const HEIGHT: usize = 128;

/// Partial results at most.
const PARTIALS: usize = 32;

/// Columns of a slab at most: three vector registers of `f64`, so that ten columns fill one.
const SLAB: usize = 12;

/// Rows of a tile, and room for what a tile reads behind a row: with their sums, a product and a row
/// of x, all sixteen vector registers are in use at most.
const fn tall(slab: usize) -> usize {
    if slab > 8 { 3 } else { 4 }
}

/// Whether this is the way for P of so many columns and x of so many.
pub(super) fn fits(inner: usize, cols: usize) -> bool {
    inner > 0 && cols > 0 && is_small(inner)
}

/// y ← α Pᵀ Z + γ y in one pass over P, all of whose rows are given one behind the other: both
/// products of a piece of rows while it is in cache, with the sums of tiles in registers.
pub(crate) fn normal<T: Scalar>(
    p: &[T],
    alpha: T,
    x: BlockRef<'_, T>,
    between: Between<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let Between { weights, offset, sums } = between;
    let (inner, cols) = x.shape();
    let rows = p.len() / inner;
    // Slabs of equal width, a multiple of a vector.
    let slabs = cols.div_ceil(SLAB);
    let slab = cols.div_ceil(slabs).next_multiple_of(4);
    let (width, room) = (slabs * slab, inner.next_multiple_of(tall(slab)));
    let pieces = rows.div_ceil(HEIGHT).min(PARTIALS);
    let step = rows.div_ceil(pieces);
    let pieces = rows.div_ceil(step);
    let mut packed = ws.take_zeros(inner, width);
    for j in 0..inner {
        packed.row_mut(j)[..cols].copy_from_slice(x.row(j));
    }
    // The last rows with room behind them, where a tile reads beyond the memory of P.
    let first = rows.saturating_sub(2 * HEIGHT);
    let mut last = ws.take_zeros(rows - first, room);
    for i in first..rows {
        last.row_mut(i - first)[..inner].copy_from_slice(&p[i * inner..][..inner]);
    }
    let mut partial = ws.take_zeros(pieces * inner, width);
    let mut z = ws.take(pieces * HEIGHT, width);
    let mut totals = ws.take_zeros(pieces, width);
    let stride = packed.stride();
    let task = Task {
        p,
        last: Lines::new(last.as_ref().data(), last.stride()),
        first,
        inner,
        x: packed.as_ref(),
        weights,
        offset,
        wants_sums: sums.is_some(),
    };
    let (mut all_partial, mut all_z, mut all_totals) =
        (partial.as_mut(), z.as_mut(), totals.as_mut());
    let parts = all_partial.data_mut().par_chunks_mut(inner * stride);
    let blocks = all_z.data_mut().par_chunks_mut(HEIGHT * stride);
    let sums_of = all_totals.data_mut().par_chunks_mut(stride);
    parts.zip(blocks).zip(sums_of).enumerate().for_each(|(index, ((sum, z), total))| {
        let mut from = index * step;
        let end = rows.min(from + step);
        while from < end {
            let len = HEIGHT.min(end - from);
            for at in (0..width).step_by(slab) {
                let (sum, z, total) = (&mut sum[at..], &mut z[at..], &mut total[at..]);
                let piece = Piece { task, from, len, at, stride, sum, z, total };
                match slab {
                    4 => run(Run::<T, 4, { tall(4) }>(piece)),
                    8 => run(Run::<T, 8, { tall(8) }>(piece)),
                    _ => run(Run::<T, SLAB, { tall(SLAB) }>(piece)),
                }
            }
            from += len;
        }
    });
    add_partials(partial.as_ref().cols_range(0..cols), pieces, alpha, gamma, y);
    if let Some(sums) = sums {
        sums.fill(T::zero());
        for index in 0..pieces {
            sums.iter_mut().zip(totals.row(index)).for_each(|(sum, &total)| *sum += total);
        }
    }
    ws.give(packed);
    ws.give(last);
    ws.give(partial);
    ws.give(z);
    ws.give(totals);
}

/// What all pieces share.
#[derive(Clone, Copy)]
struct Task<'a, T> {
    p: &'a [T],
    /// The rows from `first` on, padded.
    last: Lines<'a, T>,
    first: usize,
    inner: usize,
    x: BlockRef<'a, T>,
    weights: Option<&'a [T]>,
    offset: Option<&'a [T]>,
    wants_sums: bool,
}

/// `len` rows from row `from` on, and the columns of a slab from `at` on.
struct Piece<'a, T> {
    task: Task<'a, T>,
    from: usize,
    len: usize,
    at: usize,
    /// That of x, z and sum, which begin at the slab.
    stride: usize,
    sum: &'a mut [T],
    z: &'a mut [T],
    total: &'a mut [T],
}

/// Slabs of W columns, tiles of R rows.
struct Run<'a, T, const W: usize, const R: usize>(Piece<'a, T>);

impl<T: Scalar, const W: usize, const R: usize> Kernel for Run<'_, T, W, R> {
    #[inline(always)]
    fn run(self) {
        let Piece { task, from, len, at, stride, sum, z, total } = self.0;
        let inner = task.inner;
        let needed = (from + len - 1) * inner + inner.next_multiple_of(R);
        let p = if needed <= task.p.len() {
            Lines::new(&task.p[from * inner..], inner)
        } else {
            task.last.skip_rows(from - task.first)
        };
        // Z ← P x
        let x = Lines::new(&task.x.data()[at..], stride);
        let whole = len - len % R;
        for i in (0..whole).step_by(R) {
            let rows = images::<T, W, R>(p, i, inner, x);
            for (i, row) in (i..).zip(rows) {
                z[i * stride..][..W].copy_from_slice(&row);
            }
        }
        for i in whole..len {
            let [row] = images::<T, W, 1>(p, i, inner, x);
            z[i * stride..][..W].copy_from_slice(&row);
        }
        // Z ← W (Z − 1mᵀ)
        if task.weights.is_some() || task.offset.is_some() || task.wants_sums {
            let mut offset = [T::zero(); W];
            if let Some(given) = task.offset {
                offset.iter_mut().zip(&given[at..]).for_each(|(to, &m)| *to = m);
            }
            let mut sums = [T::zero(); W];
            for i in 0..len {
                let weight = task.weights.map_or_else(T::one, |weights| weights[from + i]);
                let row = &mut z[i * stride..][..W];
                for l in 0..W {
                    row[l] = weight * (row[l] - offset[l]);
                    sums[l] += row[l];
                }
            }
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        // sum ← sum + Pᵀ Z
        let z = Lines::new(z, stride);
        for j in (0..inner).step_by(R) {
            let tile = tile::<T, W, R>(p.skip(j), z, len);
            for (j, tile) in (j..inner).zip(tile) {
                let row = &mut sum[j * stride..][..W];
                row.iter_mut().zip(tile).for_each(|(sum, more)| *sum += more);
            }
        }
    }
}

/// Σ_j p_ij x_j for R rows i side by side.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // j runs over R rows at once
fn images<T: Scalar, const W: usize, const R: usize>(
    p: Lines<'_, T>,
    i: usize,
    inner: usize,
    x: Lines<'_, T>,
) -> [[T; W]; R] {
    let mut rows = [[T::zero(); W]; R];
    let p: [&[T]; R] = std::array::from_fn(|r| p.row(i + r, inner));
    for j in 0..inner {
        let x = x.at::<W>(j);
        for r in 0..R {
            let value = p[r][j];
            for l in 0..W {
                rows[r][l] += value * x[l];
            }
        }
    }
    rows
}
