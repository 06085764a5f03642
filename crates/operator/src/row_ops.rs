//! What the wrappers do to the rows of a block: scale them, and add a column times a row to them.
//!
//! Parallel over pieces of rows that depend on the shape alone; sums are added in their order.

use crate::tasks::for_each_part;
use crate::{BlockMut, BlockRef, Result, Scalar, Workspace, ops};

/// Numbers in a piece: 256 KiB of `f64`.
pub(crate) const CHUNK: usize = 32 * 1024;

/// Runs `f(first row, rows of y)` over pieces of `step` rows.
pub(crate) fn chunk_rows<T: Scalar>(
    mut y: BlockMut<'_, T>,
    step: usize,
    f: impl Fn(usize, BlockMut<'_, T>) + Sync,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    if rows * cols == 0 {
        return;
    }
    for_each_part(y.data_mut(), step * stride, &|index, part| {
        let from = index * step;
        if from < rows {
            f(from, BlockMut::from_parts(part, rows.min(from + step) - from, cols, stride));
        }
    });
}

/// Runs `f(i, row i of y)` for all rows.
fn each_row<T: Scalar>(y: BlockMut<'_, T>, f: impl Fn(usize, &mut [T]) + Sync) {
    let step = CHUNK.div_ceil(y.stride().max(1));
    chunk_rows(y, step, |first, mut part| {
        for i in 0..part.rows() {
            f(first + i, part.row_mut(i));
        }
    });
}

/// zᵢ ← fᵢ xᵢ.
pub(crate) fn multiply_rows<T: Scalar>(factors: &[T], x: BlockRef<'_, T>, z: BlockMut<'_, T>) {
    T::rows_multiply(factors, x, z);
}

/// yᵢ ← fᵢ yᵢ.
pub(crate) fn scale_rows<T: Scalar>(factors: &[T], y: BlockMut<'_, T>) {
    T::rows_scale(factors, y);
}

/// yᵢ ← α fᵢ zᵢ + γ yᵢ; with γ = 0 the old y is not read.
pub(crate) fn combine_rows<T: Scalar>(
    alpha: T,
    factors: &[T],
    z: BlockRef<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
) {
    T::rows_combine(alpha, factors, z, gamma, y);
}

/// Y ← Y − α 1 rᵀ.
pub(crate) fn subtract_row<T: Scalar>(alpha: T, r: &[T], y: BlockMut<'_, T>) {
    T::rows_subtract(alpha, r, y);
}

/// Y ← Y − α c rᵀ.
pub(crate) fn subtract_outer<T: Scalar>(alpha: T, c: &[T], r: &[T], y: BlockMut<'_, T>) {
    T::rows_subtract_outer(alpha, c, r, y);
}

/// out ← cᵀ X.
pub(crate) fn dots_with<T: Scalar>(
    c: &[T],
    x: BlockRef<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    let cols = x.cols();
    ops::cross(BlockRef::column(c), x, BlockMut::new(out, 1, cols, cols)?, ws)
}

/// out ← 1ᵀ X.
pub(crate) fn column_sums<T: Scalar>(x: BlockRef<'_, T>, out: &mut [T], ws: &mut Workspace<T>) {
    T::rows_sums(x, out, ws);
}

/// What is compiled for each precision.
pub(crate) mod body {
    use super::{CHUNK, chunk_rows, each_row};
    use crate::kernel::{Kernel, run, with_lanes};
    use crate::{BlockMut, BlockRef, Scalar, Workspace};

    pub(crate) fn multiply_rows<T: Scalar>(factors: &[T], x: BlockRef<'_, T>, z: BlockMut<'_, T>) {
        each_row(z, |i, row| {
            row.iter_mut().zip(x.row(i)).for_each(|(z, &x)| *z = factors[i] * x);
        });
    }

    pub(crate) fn scale_rows<T: Scalar>(factors: &[T], y: BlockMut<'_, T>) {
        each_row(y, |i, row| row.iter_mut().for_each(|y| *y *= factors[i]));
    }

    pub(crate) fn combine_rows<T: Scalar>(
        alpha: T,
        factors: &[T],
        z: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
    ) {
        each_row(y, |i, row| {
            let factor = alpha * factors[i];
            for (y, &z) in row.iter_mut().zip(z.row(i)) {
                let old = if gamma == T::zero() { T::zero() } else { gamma * *y };
                *y = factor * z + old;
            }
        });
    }

    pub(crate) fn subtract_row<T: Scalar>(alpha: T, r: &[T], y: BlockMut<'_, T>) {
        each_row(y, |_, row| {
            row.iter_mut().zip(r).for_each(|(y, &r)| *y -= alpha * r);
        });
    }

    pub(crate) fn subtract_outer<T: Scalar>(alpha: T, c: &[T], r: &[T], y: BlockMut<'_, T>) {
        let (step, cols) = (CHUNK.div_ceil(y.stride().max(1)), y.cols());
        if cols == y.stride() && cols.is_power_of_two() && cols <= 16 {
            chunk_rows(y, step, |first, mut part| {
                let (c, y) = (&c[first..first + part.rows()], part.data_mut());
                with_lanes!(cols, W => run(Outer::<T, W> { alpha, c, r, y }));
            });
            return;
        }
        each_row(y, |i, row| {
            let factor = alpha * c[i];
            row.iter_mut().zip(r).for_each(|(y, &r)| *y -= factor * r);
        });
    }

    /// Rows of W numbers, one behind the other.
    struct Outer<'a, T, const W: usize> {
        alpha: T,
        c: &'a [T],
        r: &'a [T],
        y: &'a mut [T],
    }

    impl<T: Scalar, const W: usize> Kernel for Outer<'_, T, W> {
        #[allow(clippy::inline_always)] // see `kernel::lanes`
        #[inline(always)]
        fn run(self) {
            let Self { alpha, c, r, y } = self;
            let Some(r) = r.first_chunk::<W>() else { return };
            for (y, &c) in y.as_chunks_mut::<W>().0.iter_mut().zip(c) {
                let factor = alpha * c;
                (0..W).for_each(|j| y[j] -= factor * r[j]);
            }
        }
    }

    pub(crate) fn column_sums<T: Scalar>(x: BlockRef<'_, T>, out: &mut [T], ws: &mut Workspace<T>) {
        out.fill(T::zero());
        let (rows, cols) = x.shape();
        if rows * cols == 0 {
            return;
        }
        let step = CHUNK.div_ceil(x.stride());
        let mut partial = ws.take_zeros(rows.div_ceil(step), cols);
        chunk_rows(partial.as_mut(), 1, |index, mut sum| {
            let sum = sum.row_mut(0);
            for i in index * step..rows.min((index + 1) * step) {
                sum.iter_mut().zip(x.row(i)).for_each(|(sum, &x)| *sum += x);
            }
        });
        for index in 0..partial.rows() {
            out.iter_mut().zip(partial.row(index)).for_each(|(out, &sum)| *out += sum);
        }
        ws.give(partial);
    }
}
