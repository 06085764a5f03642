//! Y ← α Aᵀ Z + γ Y with zᵢ = wᵢ (A X − f mᵀ)ᵢ.

use super::lanes::{Kernel, run};
use super::layout::{Layout, Shared, SideBySide};
use super::slab::{Slab, WIDE, load, pack, rows_of, rows_of_mut, slabs, with_lanes};
use super::transpose::reduce;
use super::{All, Pick, Rows, Values, forward, groups, is_far, is_near, transpose};
use crate::tasks::{for_each_group, for_each_pair, for_each_part};
use crate::{Between, BlockMut, BlockRef, Column, Outer, Scalar, Shift, Workspace};

/// Rows that one task transforms.
const TASK: usize = 1024;

/// What happens to Z = A X on the way: row i becomes $w_i (z_i - f_i m)$, and the sums $\sum_i f_i z_i$ of that
/// come back. Weights and factors are ones where there are none.
#[derive(Debug)]
pub struct Middle<'a, T> {
    weights: Option<&'a [T]>,
    factors: Option<&'a [T]>,
    offset: Option<&'a [T]>,
    sums: Option<&'a mut [T]>,
}

impl<'a, T> From<Between<'a, T>> for Middle<'a, T> {
    fn from(Between { weights, offset, sums }: Between<'a, T>) -> Self {
        Self { weights, factors: None, offset, sums }
    }
}

impl<'a, T> From<Outer<'a, T>> for Middle<'a, T> {
    fn from(Outer { weights, shift }: Outer<'a, T>) -> Self {
        match shift {
            None => Self { weights, factors: None, offset: None, sums: None },
            Some(Shift { factors, row, sums }) => {
                Self { weights, factors: Some(factors), offset: Some(row), sums: Some(sums) }
            }
        }
    }
}

/// Y ← α Aᵀ Z + γ Y with zᵢ = wᵢ (A X − f mᵀ)ᵢ. Shapes fit.
///
/// One slab of the block after the other, each in one pass over the matrix or in two: see the
/// module. The bits are the same.
pub(crate) fn normal<T: Scalar, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    alpha: T,
    x: BlockRef<'_, T>,
    middle: Middle<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let Middle { weights, factors, offset, mut sums } = middle;
    let groups = groups(a.entries(), a.cols);
    let busy = groups > 1 && groups >= rayon::current_num_threads();
    for Slab { columns, lanes } in slabs(x.cols(), WIDE, false) {
        let middle = Middle {
            weights,
            factors,
            offset: offset.map(|offset| &offset[columns.clone()]),
            sums: sums.as_deref_mut().map(|sums| &mut sums[columns.clone()]),
        };
        let (x, y) = (x.cols_range(columns.clone()), y.reborrow().cols_range(columns));
        if busy && is_near::<T>(a.cols, lanes) {
            with_lanes!(lanes, W => if 2 * W <= T::LANE {
                one_pass::<T, W, V, I, SideBySide>(a, groups, alpha, x, middle, gamma, y, ws);
            } else {
                one_pass::<T, W, V, I, Shared>(a, groups, alpha, x, middle, gamma, y, ws);
            });
        } else {
            two_passes(a, groups, alpha, x, middle, gamma, y, ws);
        }
    }
}

/// Each group of rows is walked once: a row is gathered, and scattered at once.
#[allow(clippy::too_many_arguments)] // those of the product
fn one_pass<T: Scalar, const W: usize, V: Values<T>, I: Column, L: Layout<T, W>>(
    a: Rows<'_, V, I>,
    groups: usize,
    alpha: T,
    x: BlockRef<'_, T>,
    middle: Middle<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let Middle { weights, factors, offset, sums } = middle;
    let copy = pack::<T, W>(x, ws);
    let mut buffers = ws.take(groups * a.cols, L::STEP * W);
    let mut totals = ws.take(groups, W);
    let rows = rows_of(copy.as_ref().map_or(x.data(), |copy| copy.as_ref().data()));
    let task = Task { a, x: rows, groups, weights, factors, offset: offset.map(load) };
    fill::<T, W, V, I, L>(&task, buffers.as_mut(), totals.as_mut());
    reduce::<T, W>(alpha, buffers.as_ref().data(), L::STEP, gamma, y);
    if let Some(sums) = sums {
        add_totals(totals.as_ref(), sums);
    }
    copy.into_iter().for_each(|copy| ws.give(copy));
    ws.give(buffers);
    ws.give(totals);
}

/// sums ← Σ_g totals_g, in the order of the groups.
fn add_totals<T: Scalar>(totals: BlockRef<'_, T>, sums: &mut [T]) {
    sums.fill(T::zero());
    for g in 0..totals.rows() {
        sums.iter_mut().zip(totals.row(g)).for_each(|(sum, &total)| *sum += total);
    }
}

struct Task<'a, T, const W: usize, V, I> {
    a: Rows<'a, V, I>,
    x: &'a [[T; W]],
    groups: usize,
    weights: Option<&'a [T]>,
    factors: Option<&'a [T]>,
    offset: Option<[T; W]>,
}

fn fill<T: Scalar, const W: usize, V: Values<T>, I: Column, L: Layout<T, W>>(
    task: &Task<'_, T, W, V, I>,
    mut buffers: BlockMut<'_, T>,
    mut totals: BlockMut<'_, T>,
) {
    let len = task.a.cols * L::STEP * W;
    for_each_pair((buffers.data_mut(), len), (totals.data_mut(), W), &|number, buffer, total| {
        let buffer = L::rows(rows_of_mut(buffer));
        L::clear(buffer, &task.x[..task.a.cols]);
        run(Group::<T, W, V, I, L> { task, number, buffer, total });
    });
}

struct Group<'t, 'a, T: Scalar, const W: usize, V, I, L: Layout<T, W>> {
    task: &'t Task<'a, T, W, V, I>,
    number: usize,
    buffer: &'t mut [L::Row],
    total: &'t mut [T],
}

impl<T: Scalar, const W: usize, V: Values<T>, I: Column, L: Layout<T, W>> Kernel
    for Group<'_, '_, T, W, V, I, L>
{
    #[allow(clippy::inline_always)] // see `lanes`
    #[inline(always)]
    fn run(self) {
        let Self { task, number, buffer, .. } = self;
        let &Task { a, x, groups, weights, factors, ref offset } = task;
        let far = is_far::<T>(a.cols, W, false);
        let mut total = [T::zero(); W];
        let rows = All.group(a, number, groups);
        for (i, (columns, values, ahead)) in (rows.start..).zip(a.walk(rows, far)) {
            // z ← wᵢ (Σ_c a_ic x_c − fᵢ m),  y_c ← y_c + a_ic z
            let factor = factors.map_or_else(T::one, |factors| factors[i]);
            let between = |mut z: [T; W]| {
                if let Some(offset) = offset {
                    (0..W).for_each(|j| z[j] -= factor * offset[j]);
                }
                if let Some(weights) = weights {
                    (0..W).for_each(|j| z[j] *= weights[i]);
                }
                (0..W).for_each(|j| total[j] += factor * z[j]);
                z
            };
            L::step(columns, values, ahead, x, between, buffer);
        }
        self.total.copy_from_slice(&total);
    }
}

/// A X for all rows, then Aᵀ Z: each pass runs on all threads, whatever the number of groups.
#[allow(clippy::too_many_arguments)] // those of the product
fn two_passes<T: Scalar, V: Values<T>, I: Column>(
    a: Rows<'_, V, I>,
    groups: usize,
    alpha: T,
    x: BlockRef<'_, T>,
    middle: Middle<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    let Middle { weights, factors, offset, sums } = middle;
    let mut z = ws.take(a.rows(), x.cols());
    forward(a, All, T::one(), x, T::zero(), z.as_mut(), ws);
    let (cols, stride) = (x.cols(), z.stride());
    if weights.is_some() || offset.is_some() {
        let mut view = z.as_mut();
        for_each_part(view.data_mut(), TASK * stride, &|task, part| {
            let mut part = BlockMut::from_parts(part, part.len() / stride, cols, stride);
            let Some((factors, offset)) = factors.zip(offset) else {
                return Between::transform(weights, offset, part, task * TASK, None);
            };
            for (i, &factor) in (0..part.rows()).zip(&factors[task * TASK..]) {
                part.row_mut(i).iter_mut().zip(offset).for_each(|(z, &m)| *z -= factor * m);
            }
            Between::transform(weights, None, part, task * TASK, None);
        });
    }
    if let Some(sums) = sums {
        let mut totals = ws.take_zeros(groups, cols);
        let mut view = totals.as_mut();
        for_each_group(view.data_mut(), stride, &|g, total| {
            for i in All.group(a, g, groups) {
                let factor = factors.map_or_else(T::one, |factors| factors[i]);
                total.iter_mut().zip(z.row(i)).for_each(|(total, &z)| *total += factor * z);
            }
        });
        add_totals(totals.as_ref(), sums);
        ws.give(totals);
    }
    transpose(a, All, alpha, z.as_ref(), gamma, y, ws);
    ws.give(z);
}
