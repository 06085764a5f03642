//! Y ← α A_Sᵀ Z + γ Y.

use super::lanes::{Kernel, combine, run, scatter};
use super::slab::{Slab, WIDE, load, rows_of, rows_of_mut, slabs, with_lanes};
use super::{Pick, Rows, Values, direct, groups, is_far, pieces, within};
use crate::hints::prefetch;
use crate::tasks::{for_each_group, for_each_part};
use crate::{BlockMut, BlockRef, Column, Scalar, Workspace};

/// Columns whose sums one task adds up.
const TASK: usize = 1024;

/// Rows between asking for a row of Z and using it.
const SOON: usize = 8;

/// Y ← α A_Sᵀ Z + γ Y, one row of Z for each picked row. Shapes fit.
///
/// The rows are cut into groups ([`groups`]: from the shape only). Each group adds its rows, in
/// order, into a buffer of its own, and the buffers are added in the order of the groups. When
/// there are more threads than groups, a group's columns are shared out too, which changes no bit.
/// A product too small for buffers, or one in pieces, is added to Y itself ([`direct`]).
pub(crate) fn transpose<T: Scalar, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    pick: impl Pick,
    alpha: T,
    z: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    if y.rows() * y.cols() == 0 {
        return;
    }
    let groups = groups(pick.entries(a), a.cols);
    let lanes = y.cols().next_power_of_two().min(T::LANE);
    if groups == 1 || pieces::<T, V, I>(a, pick, lanes).is_some() {
        direct(a, pick, alpha, z, gamma, y);
        return;
    }
    for Slab { columns, lanes } in slabs(y.cols(), WIDE, false) {
        let (z, y) = (z.cols_range(columns.clone()), y.reborrow().cols_range(columns));
        with_lanes!(lanes, W => {
            let mut buffers = ws.take(groups * a.cols, W);
            let mut view = buffers.as_mut();
            fill::<T, W, V, I>(a, pick, z, groups, view.data_mut());
            reduce::<T, W>(alpha, buffers.as_ref().data(), 1, gamma, y);
            ws.give(buffers);
        });
    }
}

fn fill<T: Scalar, const W: usize, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    pick: impl Pick,
    z: BlockRef<'_, T>,
    groups: usize,
    buffers: &mut [T],
) {
    let panel = a.cols.div_ceil(rayon::current_num_threads().div_ceil(groups));
    for_each_group(buffers, a.cols * W, &|g, buffer| {
        let rows = pick.group(a, g, groups);
        for_each_group(buffer, panel * W, &|p, y| {
            y.fill(T::zero());
            let (from, to, y) = (rows.start, rows.end, rows_of_mut(y));
            run(Panel::<T, W, _, _, _> { a, pick, z, from, to, first: p * panel, y });
        });
    });
}

struct Panel<'a, T, const W: usize, V, I, P> {
    a: Rows<'a, V, I>,
    pick: P,
    z: BlockRef<'a, T>,
    from: usize,
    to: usize,
    /// The column of the first row of y.
    first: usize,
    y: &'a mut [[T; W]],
}

impl<T: Scalar, const W: usize, V: Values<T>, I: Column, P: Pick> Kernel
    for Panel<'_, T, W, V, I, P>
{
    #[allow(clippy::inline_always)] // see `lanes`
    #[inline(always)]
    fn run(self) {
        let Self { a, pick, z, from, to, first, y } = self;
        let whole = y.len() == a.cols;
        let far = whole && is_far::<T>(a.cols, W, false);
        for (i, (columns, values, ahead)) in (from..to).zip(pick.walk(a, from..to, far)) {
            prefetch(z.data(), (i + SOON) * z.stride());
            let zi = load(z.row(i));
            // y_c ← y_c + a_ic zᵢ
            if whole {
                scatter(zi, columns, values, ahead, (0, true), y);
            } else {
                let range = within(columns, first, first + y.len());
                let columns = &columns[range.clone()];
                scatter(zi, columns, values.slice(range), None, (first, true), y);
            }
        }
    }
}

/// Y ← α Σ_g B_g + γ Y, the buffers B one behind the other, each row the last of `step`.
pub(super) fn reduce<T: Scalar, const W: usize>(
    alpha: T,
    buffers: &[T],
    step: usize,
    gamma: T,
    mut y: BlockMut<'_, T>,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    let buffers = rows_of::<T, W>(buffers);
    for_each_part(y.data_mut(), TASK * stride, &|task, part| {
        let from = task * TASK;
        for (i, y) in (from..rows).zip(part.chunks_mut(stride)) {
            let mut sum = [T::zero(); W];
            for buffer in buffers.chunks_exact(step * rows) {
                let row = &buffer[step * i + step - 1];
                (0..W).for_each(|j| sum[j] += row[j]);
            }
            combine(alpha, &sum, gamma, &mut y[..cols]);
        }
    });
}
