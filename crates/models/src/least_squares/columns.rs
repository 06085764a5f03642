//! Arithmetic with a coefficient for each column: right-hand sides are solved side by side.
//!
//! Parallel over pieces of rows that depend on the shape alone; no sums across rows.

use favard_operator::{Block, BlockRef, Result, Scalar, Workspace, ops};
use rayon::prelude::*;

/// Numbers in a piece: 256 KiB of `f64`.
const PIECE: usize = 32 * 1024;

/// Runs `f(row of x, row of y)` for all rows of two blocks of one shape.
fn zip_rows<T: Scalar>(x: BlockRef<'_, T>, y: &mut Block<T>, f: impl Fn(&[T], &mut [T]) + Sync) {
    let (cols, stride) = (y.cols(), y.stride().max(1));
    let step = PIECE.div_ceil(stride);
    let work = |(index, part): (usize, &mut [T])| {
        for (i, row) in part.chunks_mut(stride).enumerate() {
            f(x.row(index * step + i), &mut row[..cols]);
        }
    };
    let mut view = y.as_mut();
    let data = view.data_mut();
    if data.len() <= step * stride {
        work((0, data));
    } else {
        data.par_chunks_mut(step * stride).enumerate().for_each(work);
    }
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
