//! Arithmetic with a coefficient for each column: right-hand sides are solved side by side.
//!
//! Blocks of up to [`PIECE`] numbers are worked on by one thread, since waking another costs more;
//! larger ones in pieces that depend on the shape alone, whose sums are added in their order.

use favard_operator::{Block, BlockRef, Result, Scalar, Workspace, ops};
use rayon::prelude::*;

/// Numbers in a piece: 2 MiB of `f64`.
const PIECE: usize = 256 * 1024;

/// Runs `f(first row, rows of y, their sums)` over pieces of y, and adds the sums up in order.
fn pieces<T: Scalar>(
    y: &mut Block<T>,
    sums: &mut [T],
    ws: &mut Workspace<T>,
    f: impl Fn(usize, &mut [T], &mut [T]) + Sync,
) {
    let stride = y.stride().max(1);
    let step = PIECE.div_ceil(stride);
    sums.fill(T::zero());
    let mut view = y.as_mut();
    let data = view.data_mut();
    if data.len() <= step * stride {
        return f(0, data, sums);
    }
    let parts = data.par_chunks_mut(step * stride);
    let mut partial = ws.take_zeros(parts.len(), sums.len());
    let width = partial.stride();
    let (count, mut view) = (sums.len(), partial.as_mut());
    let own = view.data_mut().par_chunks_mut(width);
    parts.zip(own).enumerate().for_each(|(index, (part, own))| {
        f(index * step, part, &mut own[..count]);
    });
    for index in 0..partial.rows() {
        sums.iter_mut().zip(partial.row(index)).for_each(|(sum, &part)| *sum += part);
    }
    ws.give(partial);
}

/// Runs `f(first row, rows of y)` over the same pieces.
fn rows_of_pieces<T: Scalar>(y: &mut Block<T>, f: impl Fn(usize, &mut [T]) + Sync) {
    let stride = y.stride().max(1);
    let step = PIECE.div_ceil(stride);
    let mut view = y.as_mut();
    let data = view.data_mut();
    if data.len() <= step * stride {
        return f(0, data);
    }
    let parts = data.par_chunks_mut(step * stride).enumerate();
    parts.for_each(|(index, part)| f(index * step, part));
}

/// Runs `f(row of x, row of y)` for all rows of two blocks of one shape.
fn zip_rows<T: Scalar>(x: BlockRef<'_, T>, y: &mut Block<T>, f: impl Fn(&[T], &mut [T]) + Sync) {
    let (cols, stride) = (y.cols(), y.stride().max(1));
    rows_of_pieces(y, |first, part| {
        for (i, row) in part.chunks_mut(stride).enumerate() {
            f(x.row(first + i), &mut row[..cols]);
        }
    });
}

/// yⱼ ← yⱼ + aⱼ xⱼ for each column j.
pub(super) fn add<T: Scalar>(a: &[T], x: &Block<T>, y: &mut Block<T>) {
    zip_rows(x.as_ref(), y, |x, y| {
        for ((y, &x), &a) in y.iter_mut().zip(x).zip(a) {
            *y += a * x;
        }
    });
}

/// yⱼ ← xⱼ + bⱼ yⱼ for each column j.
pub(super) fn scale_add<T: Scalar>(b: &[T], x: &Block<T>, y: &mut Block<T>) {
    zip_rows(x.as_ref(), y, |x, y| {
        for ((y, &x), &b) in y.iter_mut().zip(x).zip(b) {
            *y = x + b * *y;
        }
    });
}

/// pⱼ ← D² gⱼ + bⱼ pⱼ for each column j, with D = diag(d).
pub(super) fn turn<T: Scalar>(d: &[T], g: &Block<T>, b: &[T], p: &mut Block<T>) {
    let (cols, stride) = (p.cols(), p.stride().max(1));
    rows_of_pieces(p, |first, part| {
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let square = d[first + i] * d[first + i];
            let numbers = row[..cols].iter_mut().zip(g.row(first + i));
            for ((p, &g), &b) in numbers.zip(b) {
                *p = square * g + b * *p;
            }
        }
    });
}

/// g ← g + a q with a number for each column, and the sums ‖g‖² and ‖D g‖² of the new columns.
pub(super) fn add_and_measure<T: Scalar>(
    a: &[T],
    q: &Block<T>,
    d: &[T],
    g: &mut Block<T>,
    sums: &mut [T],
    ws: &mut Workspace<T>,
) {
    let (cols, stride) = (g.cols(), g.stride().max(1));
    pieces(g, sums, ws, |first, part, sums| {
        let (plain, scaled) = sums.split_at_mut(cols);
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let d = d[first + i];
            let q = q.row(first + i);
            for (j, g) in row[..cols].iter_mut().enumerate() {
                *g += a[j] * q[j];
                plain[j] += *g * *g;
                scaled[j] += (d * *g) * (d * *g);
            }
        }
    });
}

/// For each column j: pⱼᵀqⱼ, ‖pⱼ‖² and ‖pⱼ/d‖², in `sums` one after the other.
pub(super) fn curves<T: Scalar>(
    p: &mut Block<T>,
    q: &Block<T>,
    d: &[T],
    sums: &mut [T],
    ws: &mut Workspace<T>,
) {
    let (cols, stride) = (p.cols(), p.stride().max(1));
    pieces(p, sums, ws, |first, part, sums| {
        let (dots, rest) = sums.split_at_mut(cols);
        let (plain, scaled) = rest.split_at_mut(cols);
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let factor = d[first + i].recip();
            let q = q.row(first + i);
            for (j, &p) in row[..cols].iter().enumerate() {
                dots[j] += p * q[j];
                plain[j] += p * p;
                scaled[j] += (factor * p) * (factor * p);
            }
        }
    });
}

/// yᵢ ← fᵢ yᵢ for each row i.
pub(super) fn scale_rows<T: Scalar>(factors: &[T], y: &mut Block<T>) {
    let factors = BlockRef::column(factors);
    zip_rows(factors, y, |f, y| y.iter_mut().for_each(|y| *y *= f[0]));
}

/// ‖D xⱼ‖ for each column j, with D = diag(d).
pub(super) fn scaled_norms<T: Scalar>(
    d: &[T],
    x: &Block<T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    let mut scaled = ws.take(x.rows(), x.cols());
    scaled.assign(x.as_ref())?;
    scale_rows(d, &mut scaled);
    ops::column_norms(scaled.as_ref(), out, ws)?;
    ws.give(scaled);
    Ok(())
}

/// The largest of some numbers of which none is negative; NaN when one of them is.
pub(super) fn largest<T: Scalar>(values: &[T]) -> T {
    values.iter().fold(T::zero(), |m, &v| if v > m || v.is_nan() { v } else { m })
}
