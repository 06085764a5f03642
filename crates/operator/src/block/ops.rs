//! Arithmetic on blocks, parallel over chunks of rows.
//!
//! The chunks depend on the shape and never on the number of threads, and partial sums are added
//! in the order of the chunks: the same block gives the same bits on any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::{BlockMut, BlockRef};
use crate::error::{Result, check_dim};
use crate::tasks::for_each_part;
use crate::{Scalar, Workspace};

/// Numbers in a chunk: 256 KiB of `f64`, large against the cost of a task, small against a block.
const CHUNK: usize = 32 * 1024;

/// Rows of a chunk for rows that are `stride` apart.
pub(super) fn chunk_rows(stride: usize) -> usize {
    (CHUNK / stride.max(1)).max(64)
}

fn check_same(x: (usize, usize), y: (usize, usize)) -> Result<()> {
    check_dim("rows of the second block", x.0, y.0)?;
    check_dim("columns of the second block", x.1, y.1)
}

/// Runs `f(rows of x, rows of y)` over chunks of y, for functions of single entries: a chunk without
/// gaps is handed over as one long row.
fn zip_chunks<T: Scalar>(
    x: BlockRef<'_, T>,
    mut y: BlockMut<'_, T>,
    f: impl Fn(BlockRef<'_, T>, BlockMut<'_, T>) + Sync,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    if rows * cols == 0 {
        return;
    }
    let step = chunk_rows(stride.max(x.stride()));
    let is_whole = x.stride() == cols && stride == cols;
    for_each_part(y.data_mut(), step * stride, &|index, part| {
        let from = index * step;
        let to = rows.min(from + step);
        if from < to {
            let x = x.rows_range(from..to);
            let count = (to - from) * cols;
            if is_whole {
                let y = BlockMut::from_parts(&mut part[..count], 1, count, count);
                f(BlockRef::from_parts(&x.data()[..count], 1, count, count), y);
            } else {
                f(x, BlockMut::from_parts(part, to - from, cols, stride));
            }
        }
    });
}

/// [`ops::copy`](crate::ops::copy).
pub(crate) fn copy<T: Scalar>(x: BlockRef<'_, T>, y: BlockMut<'_, T>) -> Result<()> {
    check_same(x.shape(), y.shape())?;
    zip_chunks(x, y, |x, mut y| {
        for i in 0..x.rows() {
            y.row_mut(i).copy_from_slice(x.row(i));
        }
    });
    Ok(())
}

/// [`ops::axpby`](crate::ops::axpby).
pub(crate) fn axpby<T: Scalar>(a: T, x: BlockRef<'_, T>, b: T, y: BlockMut<'_, T>) -> Result<()> {
    check_same(x.shape(), y.shape())?;
    zip_chunks(x, y, |x, mut y| {
        for i in 0..x.rows() {
            let pairs = y.row_mut(i).iter_mut().zip(x.row(i));
            if b == T::zero() {
                pairs.for_each(|(y, &x)| *y = a * x);
            } else {
                pairs.for_each(|(y, &x)| *y = a * x + b * *y);
            }
        }
    });
    Ok(())
}

/// [`ops::scale`](crate::ops::scale).
pub(crate) fn scale<T: Scalar>(b: T, mut y: BlockMut<'_, T>) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    if rows * cols == 0 || b == T::one() {
        return;
    }
    for_each_part(y.data_mut(), chunk_rows(stride) * stride, &|_, part| {
        for row in part.chunks_mut(stride) {
            // The last row may lack its padding; columns outside the view are not ours.
            let row = &mut row[..cols];
            if b == T::zero() {
                row.fill(T::zero());
            } else {
                row.iter_mut().for_each(|entry| *entry *= b);
            }
        }
    });
}

/// [`ops::scale_columns`](crate::ops::scale_columns).
pub(crate) fn scale_columns<T: Scalar>(factors: &[T], mut y: BlockMut<'_, T>) -> Result<()> {
    check_dim("factors", y.cols(), factors.len())?;
    let ((rows, cols), stride) = (y.shape(), y.stride());
    if rows * cols == 0 {
        return Ok(());
    }
    for_each_part(y.data_mut(), chunk_rows(stride) * stride, &|_, part| {
        for row in part.chunks_mut(stride) {
            row[..cols].iter_mut().zip(factors).for_each(|(entry, &factor)| *entry *= factor);
        }
    });
    Ok(())
}

/// [`ops::column_dots`](crate::ops::column_dots).
pub(crate) fn column_dots<T: Scalar>(
    x: BlockRef<'_, T>,
    y: BlockRef<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    check_same(x.shape(), y.shape())?;
    check_dim("results", x.cols(), out.len())?;
    sum_chunks(x, y, out, ws, &|range, sum| {
        if x.cols() == 1 && x.stride() == 1 && y.stride() == 1 {
            sum[0] = dot(&x.data()[range.clone()], &y.data()[range]);
            return;
        }
        for i in range {
            for ((sum, &x), &y) in sum.iter_mut().zip(x.row(i)).zip(y.row(i)) {
                *sum += x * y;
            }
        }
    });
    Ok(())
}

/// What adds the numbers of some rows to sums, one a column.
type AddRows<'f, T> = &'f (dyn Fn(Range<usize>, &mut [T]) + Sync);

/// out ← the sums over all rows of two blocks of one shape, chunk after chunk.
fn sum_chunks<T: Scalar>(
    x: BlockRef<'_, T>,
    y: BlockRef<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
    add: AddRows<'_, T>,
) {
    out.fill(T::zero());
    let (rows, cols) = x.shape();
    if rows * cols == 0 {
        return;
    }
    let step = chunk_rows(x.stride().max(y.stride()));
    let mut partial = ws.take_zeros(rows.div_ceil(step), cols);
    let stride = partial.stride();
    for_each_part(partial.as_mut().data_mut(), stride, &|index, sum| {
        add(index * step..rows.min((index + 1) * step), sum);
    });
    for index in 0..partial.rows() {
        out.iter_mut().zip(partial.row(index)).for_each(|(out, &sum)| *out += sum);
    }
    ws.give(partial);
}

/// xᵀy. Entry i goes to sum i mod 8: one sum alone would wait for its own additions.
fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    let mut sums = [T::zero(); 8];
    let ((x, last_x), (y, last_y)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    for (x, y) in x.iter().zip(y) {
        (0..8).for_each(|j| sums[j] += x[j] * y[j]);
    }
    sums.iter_mut().zip(last_x).zip(last_y).for_each(|((sum, &x), &y)| *sum += x * y);
    sums.into_iter().sum()
}

/// [`ops::column_norms`](crate::ops::column_norms).
pub(crate) fn column_norms<T: Scalar>(
    x: BlockRef<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    column_dots(x, x, out, ws)?;
    for (j, norm) in out.iter_mut().enumerate() {
        let safe = is_safe(*norm);
        *norm = if safe { norm.sqrt() } else { scaled_norm(x, j) };
        if *norm == T::zero() {
            *norm = scaled_norm(x, j);
        }
    }
    Ok(())
}

/// Whether a sum of squares has not left the range.
fn is_safe<T: Scalar>(sum: T) -> bool {
    sum.is_finite() && (sum == T::zero() || sum > T::min_positive_value())
}

/// [`ops::residual_norms`](crate::ops::residual_norms).
pub(crate) fn residual_norms<T: Scalar>(
    x: BlockRef<'_, T>,
    values: &[T],
    mut y: BlockMut<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    check_same(x.shape(), y.shape())?;
    check_dim("values", x.cols(), values.len())?;
    check_dim("results", x.cols(), out.len())?;
    let image = y.as_ref();
    // Σ_i (y_ij − λ_j x_ij)²
    sum_chunks(x, image, out, ws, &|range, sum| {
        for i in range {
            let pairs = x.row(i).iter().zip(image.row(i)).zip(values);
            for (sum, ((&x, &y), &value)) in sum.iter_mut().zip(pairs) {
                let gap = y - value * x;
                *sum += gap * gap;
            }
        }
    });
    if out.iter().all(|&sum| is_safe(sum) && sum > T::zero()) {
        out.iter_mut().for_each(|norm| *norm = norm.sqrt());
        return Ok(());
    }
    for i in 0..x.rows() {
        let pairs = y.row_mut(i).iter_mut().zip(x.row(i)).zip(values);
        pairs.for_each(|((y, &x), &value)| *y -= value * x);
    }
    column_norms(y.as_ref(), out, ws)
}

/// ‖column j‖ = m ‖column / m‖ with m its largest absolute entry.
fn scaled_norm<T: Scalar>(x: BlockRef<'_, T>, j: usize) -> T {
    let entries = || (0..x.rows()).map(|i| x.row(i)[j].abs());
    // `max` would drop a NaN: let it win instead.
    let largest = entries().fold(T::zero(), |m, v| if v > m || v.is_nan() { v } else { m });
    if largest == T::zero() || !largest.is_finite() {
        return largest;
    }
    largest * entries().map(|v| (v / largest) * (v / largest)).sum::<T>().sqrt()
}

/// Whether all numbers are finite, without a branch for each: 0 a is 0, or else not a number, and so
/// is then the sum.
pub(crate) fn is_finite<T: Scalar>(numbers: &[T]) -> bool {
    let (lines, rest) = numbers.as_chunks::<16>();
    let mut sums = [T::zero(); 16];
    for line in lines {
        for l in 0..16 {
            sums[l] += T::zero() * line[l];
        }
    }
    sums.iter().chain(rest).all(|value| value.is_finite())
}

/// [`ops::find_non_finite`](crate::ops::find_non_finite).
pub(crate) fn find_non_finite<T: Scalar>(x: BlockRef<'_, T>) -> Option<(usize, usize)> {
    let bad = |i: usize| x.row(i).iter().position(|v| !v.is_finite()).map(|j| (i, j));
    // Where one is, is looked for where there is one; others are read at the memory's speed.
    let part = |from: usize| {
        let rows = from..x.rows().min(from + 1024);
        let whole = x.stride() == x.cols();
        let good = whole && is_finite(&x.data()[rows.start * x.cols()..rows.end * x.cols()]);
        if good { None } else { rows.into_iter().find_map(bad) }
    };
    if x.rows() <= 1024 {
        return part(0);
    }
    (0..x.rows().div_ceil(1024)).into_par_iter().find_map_first(|number| part(1024 * number))
}
