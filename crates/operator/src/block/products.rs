//! Products of tall blocks with small matrices.
//!
//! A basis is a list of panels: it grows without being copied, and each panel is a block that an
//! operator can be applied to as it is. One block is a list of one.

use faer::Accum;
use rayon::prelude::*;

use super::ops::{chunk_rows, scale};
use super::{Block, BlockMut, BlockRef};
use crate::error::{Result, check_dim};
use crate::kernel::{Meeting, cross_narrow, fits_packed, multiply_packed};
use crate::tasks::for_each_part;
use crate::{Scalar, Workspace};

/// Rows of y that stay in the first-level cache while the panels pass by.
const NEAR: usize = 256;

/// Chunks that are enough for any number of threads to end together.
const CHUNKS: usize = 64;

/// [`ops::cross_panels`](crate::ops::cross_panels).
pub(crate) fn cross_panels<T: Scalar>(
    panels: &[BlockRef<'_, T>],
    y: BlockRef<'_, T>,
    mut out: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<()> {
    let rows = y.rows();
    for panel in panels {
        check_dim("rows of the second block", panel.rows(), rows)?;
    }
    check_dim("rows of the product", panels.iter().map(BlockRef::cols).sum(), out.rows())?;
    check_dim("columns of the product", y.cols(), out.cols())?;
    scale(T::zero(), out.reborrow());
    let (p, q) = out.shape();
    if rows * p * q == 0 {
        return Ok(());
    }
    // A chunk's product is p × q; chunks hold many more rows than that, whatever the shape.
    let step = step(panels, rows, y.stride()).max(4 * p.max(q));
    let mut partial = ws.take(rows.div_ceil(step) * p, q);
    let stride = partial.stride();
    let meeting = Meeting::of(panels, y);
    for_each_part(partial.as_mut().data_mut(), stride * p, &|index, sum| {
        let range = index * step..rows.min((index + 1) * step);
        let mut sum = BlockMut::from_parts(sum, p, q, stride);
        if let Some(meeting) = meeting {
            return cross_narrow(meeting, panels, range, y, sum);
        }
        let y = y.rows_range(range.clone()).as_mat();
        let mut from = 0;
        for x in panels {
            let to = from + x.cols();
            let sum = sum.reborrow().rows_range(from..to).into_mat();
            let x = x.rows_range(range.clone()).as_mat().transpose();
            T::small_multiply(sum, Accum::Replace, x, y, T::one());
            from = to;
        }
    });
    for row in 0..partial.rows() {
        let sums = out.row_mut(row % p).iter_mut();
        sums.zip(partial.row(row)).for_each(|(out, &sum)| *out += sum);
    }
    ws.give(partial);
    Ok(())
}

/// [`ops::right_multiply_panels`](crate::ops::right_multiply_panels).
pub(crate) fn right_multiply_panels<T: Scalar>(
    a: T,
    panels: &[BlockRef<'_, T>],
    r: BlockRef<'_, T>,
    b: T,
    y: BlockMut<'_, T>,
) -> Result<()> {
    check_dim("rows of the small matrix", panels.iter().map(BlockRef::cols).sum(), r.rows())?;
    check_dim("columns of the product", r.cols(), y.cols())?;
    for x in panels {
        check_dim("rows of the product", x.rows(), y.rows())?;
    }
    let packed = fits_packed(panels, r, y.cols(), y.stride());
    for_each_chunk(panels, y, |from, mut y| {
        if packed {
            return multiply_packed(a, panels, from, r, b, y);
        }
        for first in (0..y.rows()).step_by(NEAR) {
            let last = y.rows().min(first + NEAR);
            let part = y.reborrow().rows_range(first..last);
            multiply(a, panels, from + first, r, b, part);
        }
    });
    Ok(())
}

/// Rows of a chunk: the more panels there are, the more work is a row. From [`CHUNKS`] chunks on they are
/// as long as those of one panel.
fn step<T: Scalar>(panels: &[BlockRef<'_, T>], rows: usize, stride: usize) -> usize {
    let strides = || panels.iter().map(BlockRef::stride);
    let (all, widest) = (strides().sum::<usize>(), strides().fold(stride, usize::max));
    chunk_rows(all.max(stride)).max(rows.div_ceil(CHUNKS)).min(chunk_rows(widest))
}

/// Runs `f(first row, rows of y)` over chunks of y.
fn for_each_chunk<T: Scalar>(
    panels: &[BlockRef<'_, T>],
    mut y: BlockMut<'_, T>,
    f: impl Fn(usize, BlockMut<'_, T>) + Sync,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    if rows * cols == 0 {
        return;
    }
    let step = step(panels, rows, stride);
    for_each_part(y.data_mut(), step * stride, &|index, part| {
        let from = index * step;
        let to = rows.min(from + step);
        if from < to {
            f(from, BlockMut::from_parts(part, to - from, cols, stride));
        }
    });
}

/// y ← a (X₁ X₂ …) R + b y for the rows of the panels from `from` on.
fn multiply<T: Scalar>(
    a: T,
    panels: &[BlockRef<'_, T>],
    from: usize,
    r: BlockRef<'_, T>,
    b: T,
    mut y: BlockMut<'_, T>,
) {
    let rows = from..from + y.rows();
    let mut accum = Accum::Add;
    if b == T::zero() {
        accum = Accum::Replace;
    } else if b != T::one() {
        for i in 0..y.rows() {
            y.row_mut(i).iter_mut().for_each(|entry| *entry *= b);
        }
    }
    if panels.is_empty() && b == T::zero() {
        scale(T::zero(), y.reborrow());
    }
    let mut first = 0;
    for x in panels {
        let last = first + x.cols();
        let (x, r) = (x.rows_range(rows.clone()).as_mat(), r.rows_range(first..last).as_mat());
        T::small_multiply(y.reborrow().into_mat(), accum, x, r, a);
        (first, accum) = (last, Accum::Add);
    }
}

/// [`ops::rotate_panels`](crate::ops::rotate_panels).
pub(crate) fn rotate_panels<T: Scalar>(panels: &mut [Block<T>], r: BlockRef<'_, T>) -> Result<()> {
    let Some(rows) = panels.first().map(Block::rows) else {
        return check_dim("rows of the small matrix", 0, r.rows());
    };
    check_dim("rows of the small matrix", panels.iter().map(Block::cols).sum(), r.rows())?;
    let mut filled = 0;
    for panel in panels.iter() {
        check_dim("rows of a panel", rows, panel.rows())?;
        filled += if filled < r.cols() { panel.cols() } else { 0 };
    }
    check_dim("columns of the small matrix", filled, r.cols())?;
    if rows == 0 {
        return Ok(());
    }
    let step = NEAR;
    let shapes: Vec<(usize, usize)> = panels.iter().map(|x| (x.cols(), x.stride())).collect();
    // Chunk by chunk of rows, the same chunk of every panel.
    let mut chunks: Vec<Vec<&mut [T]>> = (0..rows.div_ceil(step)).map(|_| Vec::new()).collect();
    for (panel, (_, stride)) in panels.iter_mut().zip(&shapes) {
        let parts = panel.as_mut().into_data().chunks_mut(step * stride);
        chunks.iter_mut().zip(parts).for_each(|(chunk, part)| chunk.push(part));
    }
    chunks.par_iter_mut().enumerate().for_each_init(
        || Block::<T>::zeros(step, r.cols()),
        |product, (index, chunk)| {
            let height = step.min(rows - index * step);
            let views: Vec<BlockRef<'_, T>> = chunk
                .iter()
                .zip(&shapes)
                .map(|(part, &(cols, stride))| BlockRef::from_parts(part, height, cols, stride))
                .collect();
            let mut product = product.as_mut().rows_range(0..height);
            multiply(T::one(), &views, 0, r, T::zero(), product.reborrow());
            let mut first = 0;
            for (part, &(cols, stride)) in chunk.iter_mut().zip(&shapes) {
                if first == r.cols() {
                    break;
                }
                for i in 0..height {
                    let row = &product.as_ref().row(i)[first..first + cols];
                    part[i * stride..][..cols].copy_from_slice(row);
                }
                first += cols;
            }
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products with panels equal those with the one matrix they make up, whatever their width:
    /// packed vectors go through a kernel of their own.
    #[test]
    fn panels_are_one_matrix() {
        let narrow = [(1, 2, 3), (1, 1, 1), (19, 2, 2), (9001, 1, 3), (9001, 2, 5)];
        let wide = [(0, 4, 2), (7, 4, 3), (700, 3, 2), (9001, 4, 2), (9001, 8, 3)];
        for (rows, width, count) in narrow.into_iter().chain(wide) {
            let panels: Vec<Block<f64>> =
                (0..count).map(|p| Block::gaussian(rows, width, p as u64)).collect();
            let whole =
                Block::from_fn(rows, width * count, |i, j| panels[j / width].row(i)[j % width]);
            let views: Vec<_> = panels.iter().map(Block::as_ref).collect();
            let (y, r) = (
                Block::<f64>::gaussian(rows, width, 91),
                Block::<f64>::gaussian(width * count, width, 92),
            );
            let close = |a: &Block<f64>, b: ndarray::Array2<f64>, terms: usize, size: f64| {
                let bound = 4.0 * f64::EPSILON * terms as f64 * size;
                for (x, y) in a.view().iter().zip(&b) {
                    assert!((x - y).abs() <= bound, "{rows} × {width}: {x} for {y}");
                }
            };
            // Gaussian entries stay below 6; sums of `terms` products below 36 terms.
            let mut h = Block::zeros(width * count, width);
            cross_panels(&views, y.as_ref(), h.as_mut(), &mut Workspace::new()).unwrap();
            close(&h, whole.view().t().dot(&y.view()), rows, 36.0 * rows as f64);
            let mut z = y.clone();
            right_multiply_panels(2.0, &views, r.as_ref(), 0.5, z.as_mut()).unwrap();
            let expected = whole.view().dot(&r.view()) * 2.0 + &y.view() * 0.5;
            close(&z, expected, width * count, 80.0 * (width * count) as f64);
            let mut z = Block::from_fn(rows, width, |_, _| f64::NAN);
            right_multiply_panels(1.0, &views, r.as_ref(), 0.0, z.as_mut()).unwrap();
            let expected = whole.view().dot(&r.view());
            close(&z, expected.clone(), width * count, 36.0 * (width * count) as f64);
            let mut rotated = panels.clone();
            rotate_panels(&mut rotated, r.as_ref()).unwrap();
            close(&rotated[0], expected, width * count, 36.0 * (width * count) as f64);
            assert_eq!(rotated[1..], panels[1..]);
        }
    }

    /// One column against blocks of any width, of which some have a kernel of their own.
    #[test]
    fn a_column_meets_every_width() {
        for (rows, width) in [1, 7, 16, 100, 40_001]
            .into_iter()
            .flat_map(|n| [1, 2, 3, 4, 8, 16, 17].map(|k| (n, k)))
        {
            let (c, y) =
                (Block::<f64>::gaussian(rows, 1, 3), Block::<f64>::gaussian(rows, width, 4));
            let mut h = Block::zeros(1, width);
            cross_panels(&[c.as_ref()], y.as_ref(), h.as_mut(), &mut Workspace::new()).unwrap();
            let expected = c.view().t().dot(&y.view());
            // Gaussian entries stay below 6.
            let bound = 2.0 * f64::EPSILON * (rows * rows) as f64 * 36.0;
            for (x, y) in h.view().iter().zip(&expected) {
                assert!((x - y).abs() <= bound, "{rows} × {width}: {x} for {y}");
            }
        }
    }
}
