//! Y ← α A_Sᵀ Z + γ Y for few entries, or for long rows in pieces: into Y itself.

use super::lanes::{Kernel, run};
use super::slab::{Slab, load, slabs, with_lanes};
use super::{Pick, Rows, Values, pieces, within};
use crate::tasks::halve_rows;
use crate::{BlockMut, BlockRef, Column, Scalar, ops};

/// Entries below which a second thread is not worth waking.
const GRAIN: usize = 1 << 14;

/// Y ← γ Y, then y_c ← y_c + a_ic (α zᵢ) for the picked rows in order.
///
/// With γ = 1 only the rows of Y that the entries name are touched: a batch of one row costs as
/// many cache lines as the row has entries. The columns are shared out among the threads; every
/// number is summed in the order of the rows, whatever their share.
pub(super) fn direct<T: Scalar, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    pick: impl Pick,
    alpha: T,
    z: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
) {
    let parts = rayon::current_num_threads().min(pick.entries(a) / GRAIN).max(1);
    let panel = a.cols.div_ceil(parts);
    for Slab { columns, lanes } in slabs(y.cols(), T::LANE, true) {
        let (z, y) = (z.cols_range(columns.clone()), y.reborrow().cols_range(columns));
        with_lanes!(lanes, W => {
            let task = Task::<T, W, _, _, _> { a, pick, alpha, z };
            let panel = pieces::<T, V, I>(a, pick, W).map_or(panel, |piece| piece.min(panel));
            // The rows of Y are the columns of A.
            halve_rows(y, 0, panel, &|first, mut y| {
                ops::scale(gamma, y.reborrow());
                run(Leaf { task: &task, first, y });
            });
        });
    }
}

struct Task<'a, T, const W: usize, V, I, P> {
    a: Rows<'a, V, I>,
    pick: P,
    alpha: T,
    z: BlockRef<'a, T>,
}

struct Leaf<'t, 'a, T, const W: usize, V, I, P> {
    task: &'t Task<'a, T, W, V, I, P>,
    first: usize,
    y: BlockMut<'t, T>,
}

impl<T: Scalar, const W: usize, V: Values<T>, I: Column, P: Pick> Kernel
    for Leaf<'_, '_, T, W, V, I, P>
{
    #[allow(clippy::inline_always)] // see `lanes`
    #[inline(always)]
    fn run(mut self) {
        let &Task { a, pick, alpha, z } = self.task;
        let (first, rows, stride) = (self.first, self.y.rows(), self.y.stride());
        let y = self.y.data_mut();
        for (i, (columns, values, _)) in pick.walk(a, 0..z.rows(), false).enumerate() {
            let range = if rows == a.cols {
                0..columns.len()
            } else {
                within(columns, first, first + rows)
            };
            let mut zi: [T; W] = load(z.row(i));
            zi.iter_mut().for_each(|z| *z *= alpha);
            for (&column, value) in columns[range.clone()].iter().zip(values.slice(range).each()) {
                // y_c ← y_c + a_ic (α zᵢ)
                let row = &mut y[(column.at() - first) * stride..][..W];
                for j in 0..W {
                    row[j] += value * zi[j];
                }
            }
        }
    }
}
