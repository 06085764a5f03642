//! Y ← α A_S X + γ Y.

use std::ops::Range;

use super::lanes::{Kernel, Packed, Source, Strided, combine, gather, run};
use super::slab::{Slab, WIDE, pack, rows_of, slabs, with_lanes};
use super::{Pick, Rows, Values, is_far, pieces, within};
use crate::tasks::halve_rows;
use crate::{BlockMut, BlockRef, Column, Scalar, Workspace};

/// Entries of a task: half a second-level cache of them.
const GRAIN: usize = 1 << 15;

/// Tasks that the rows of a piece are cut into.
const TASKS: usize = 8;

/// Y ← α A_S X + γ Y, one row of Y for each picked row. Shapes fit.
///
/// Rows are independent: how they are shared out does not change a bit.
pub(crate) fn forward<T: Scalar, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    pick: impl Pick,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    if y.rows() * y.cols() == 0 {
        return;
    }
    // A copy of the block is worth its pass when the entries outnumber its rows.
    let packs = pick.entries(a) >= 2 * a.cols;
    for Slab { columns, lanes } in slabs(x.cols(), WIDE, !packs) {
        let (x, y) = (x.cols_range(columns.clone()), y.reborrow().cols_range(columns));
        with_lanes!(lanes, W => {
            if packs {
                packed::<T, W, V, I>(a, pick, (alpha, gamma), x, y, ws);
            } else {
                let x = Strided { data: x.data(), stride: x.stride() };
                Task::<T, W, _, _, _, _> { a, pick, x, alpha, gamma }.share_out(y);
            }
        });
    }
}

fn packed<T: Scalar, const W: usize, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    pick: impl Pick,
    (alpha, gamma): (T, T),
    x: BlockRef<'_, T>,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let copy = pack::<T, W>(x, ws);
    let rows = rows_of::<T, W>(copy.as_ref().map_or(x.data(), |copy| copy.as_ref().data()));
    Task { a, pick, x: Packed(rows), alpha, gamma }.share_out(y);
    copy.into_iter().for_each(|copy| ws.give(copy));
}

struct Task<'a, T, const W: usize, V, I, P, S> {
    a: Rows<'a, V, I>,
    pick: P,
    x: S,
    alpha: T,
    gamma: T,
}

impl<T, const W: usize, V, I, P, S> Task<'_, T, W, V, I, P, S>
where
    T: Scalar,
    V: Values<T>,
    I: Column,
    P: Pick,
    S: Source<T, W>,
{
    fn share_out(&self, y: BlockMut<'_, T>) {
        if let Some(piece) = pieces::<T, V, I>(self.a, self.pick, W) {
            return self.in_pieces(piece, y);
        }
        let share = self.pick.entries(self.a).div_ceil(self.pick.len(self.a).max(1));
        halve_rows(y, 0, GRAIN / (share + 1), &|first, y| run(Leaf { task: self, first, y }));
    }

    /// Piece after piece of the columns, the rows of each shared out.
    fn in_pieces(&self, piece: usize, mut y: BlockMut<'_, T>) {
        let most = y.rows().div_ceil(TASKS);
        for from in (0..self.a.cols).step_by(piece) {
            let piece = from..self.a.cols.min(from + piece);
            let gamma = if from == 0 { self.gamma } else { T::one() };
            halve_rows(y.reborrow(), 0, most, &|first, y| {
                run(Part { task: self, piece: piece.clone(), gamma, first, y });
            });
        }
    }
}

struct Leaf<'t, 'a, T, const W: usize, V, I, P, S> {
    task: &'t Task<'a, T, W, V, I, P, S>,
    first: usize,
    y: BlockMut<'t, T>,
}

impl<T, const W: usize, V, I, P, S> Kernel for Leaf<'_, '_, T, W, V, I, P, S>
where
    T: Scalar,
    V: Values<T>,
    I: Column,
    P: Pick,
    S: Source<T, W>,
{
    #[allow(clippy::inline_always)] // see `lanes`
    #[inline(always)]
    fn run(mut self) {
        let &Task { a, pick, x, alpha, gamma } = self.task;
        let far = is_far::<T>(a.cols, W, true);
        let rows = self.first..self.first + self.y.rows();
        for (i, (columns, values, ahead)) in pick.walk(a, rows, far).enumerate() {
            // yᵢ ← α Σ_c a_ic x_c + γ yᵢ
            let sum: [T; W] = gather(columns, values, ahead, x);
            combine(alpha, &sum, gamma, self.y.row_mut(i));
        }
    }
}

/// The entries of some rows in a piece of the columns.
struct Part<'t, 'a, T, const W: usize, V, I, P, S> {
    task: &'t Task<'a, T, W, V, I, P, S>,
    piece: Range<usize>,
    gamma: T,
    first: usize,
    y: BlockMut<'t, T>,
}

impl<T, const W: usize, V, I, P, S> Kernel for Part<'_, '_, T, W, V, I, P, S>
where
    T: Scalar,
    V: Values<T>,
    I: Column,
    P: Pick,
    S: Source<T, W>,
{
    #[allow(clippy::inline_always)] // see `lanes`
    #[inline(always)]
    fn run(mut self) {
        let &Task { a, pick, x, alpha, .. } = self.task;
        let rows = self.first..self.first + self.y.rows();
        for (i, (columns, values, _)) in pick.walk(a, rows, false).enumerate() {
            // yᵢ ← α Σ_c a_ic x_c + γ yᵢ over the columns of the piece
            let range = within(columns, self.piece.start, self.piece.end);
            let sum: [T; W] = gather(&columns[range.clone()], values.slice(range), None, x);
            combine(alpha, &sum, self.gamma, self.y.row_mut(i));
        }
    }
}
