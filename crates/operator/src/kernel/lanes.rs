//! The innermost loops: one sparse row against the rows of a block.
//!
//! They are plain loops over arrays of W numbers that the compiler turns into vector code when
//! they are inlined into a function compiled for the instruction set ([`run`]). No multiply-add is
//! fused: a product is rounded, then the sum, so that every processor gives the same bits.

use pulp::{Arch, Simd, WithSimd};

use super::prefetch::prefetch;
use crate::Scalar;

/// A loop that is compiled once for every instruction set.
pub(super) trait Kernel {
    /// Runs it. Implementations and all they call are `#[inline(always)]`.
    fn run(self);
}

struct Vectorized<K>(K);

impl<K: Kernel> WithSimd for Vectorized<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.run();
    }
}

/// Runs a kernel with the widest vectors of this processor.
pub(super) fn run(kernel: impl Kernel) {
    Arch::new().dispatch(Vectorized(kernel));
}

/// How many entries ahead a block's row is asked for.
const AHEAD: usize = 32;

/// The rows of a block that a sparse row gathers from.
pub(super) trait Source<T, const W: usize>: Copy + Sync {
    /// Whether rows are worth asking for ahead of their use.
    const FAR: bool;

    /// acc ← acc + v x_c
    fn add(self, acc: &mut [T; W], column: u32, value: T);

    /// Asks for row c.
    fn touch(self, column: u32);
}

/// Rows of W numbers one behind the other; `FAR` when they do not stay in the second-level cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'a, T, const W: usize, const FAR: bool>(pub &'a [[T; W]]);

impl<T: Scalar, const W: usize, const FAR: bool> Source<T, W> for Packed<'_, T, W, FAR> {
    const FAR: bool = FAR;

    #[inline(always)]
    fn add(self, acc: &mut [T; W], column: u32, value: T) {
        let row = &self.0[column as usize];
        for j in 0..W {
            acc[j] += value * row[j];
        }
    }

    #[inline(always)]
    fn touch(self, column: u32) {
        prefetch(self.0, column as usize);
    }
}

/// Rows of any block as they are: no copy, for products too small to pay for one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strided<'a, T> {
    /// The block from the first column of the slab on.
    pub data: &'a [T],
    /// The distance between its rows.
    pub stride: usize,
}

impl<T: Scalar, const W: usize> Source<T, W> for Strided<'_, T> {
    const FAR: bool = false;

    #[inline(always)]
    fn add(self, acc: &mut [T; W], column: u32, value: T) {
        let row = &self.data[column as usize * self.stride..][..W];
        for j in 0..W {
            acc[j] += value * row[j];
        }
    }

    #[inline(always)]
    fn touch(self, _: u32) {}
}

/// Σ_c v_c x_c over a sparse row.
///
/// In the order of the columns, except for W = 1, where four sums run side by side (entry e goes
/// to sum e mod 4, and they are added in pairs): one alone would wait for its own additions.
///
/// `ahead` are the columns that follow in memory, asked for when the source is far away.
#[inline(always)]
pub(super) fn gather<T: Scalar, const W: usize, S: Source<T, W>>(
    columns: &[u32],
    values: &[T],
    ahead: &[u32],
    x: S,
) -> [T; W] {
    if W == 1 {
        let mut sums = [[T::zero(); W]; 4];
        let (quads, rest) = columns.as_chunks::<4>();
        let (values, tail) = values.as_chunks::<4>();
        for (columns, values) in quads.iter().zip(values) {
            for s in 0..4 {
                x.add(&mut sums[s], columns[s], values[s]);
            }
        }
        for (sum, (&column, &value)) in sums.iter_mut().zip(rest.iter().zip(tail)) {
            x.add(sum, column, value);
        }
        let mut total = [T::zero(); W];
        total[0] = (sums[0][0] + sums[1][0]) + (sums[2][0] + sums[3][0]);
        return total;
    }
    let mut acc = [T::zero(); W];
    let near = if S::FAR { ahead.len().min(columns.len()) } else { 0 };
    let (columns, last_columns) = columns.split_at(near);
    let (values, last_values) = values.split_at(near);
    for ((&column, &value), &next) in columns.iter().zip(values).zip(ahead) {
        x.touch(next);
        x.add(&mut acc, column, value);
    }
    for (&column, &value) in last_columns.iter().zip(last_values) {
        x.add(&mut acc, column, value);
    }
    acc
}

/// y_c ← y_c + v_c z over a sparse row, for columns counted from `first`.
#[inline(always)]
pub(super) fn scatter<T: Scalar, const W: usize, const FAR: bool>(
    z: &[T; W],
    columns: &[u32],
    values: &[T],
    ahead: &[u32],
    first: usize,
    y: &mut [[T; W]],
) {
    let near = if FAR { ahead.len().min(columns.len()) } else { 0 };
    let (columns, last_columns) = columns.split_at(near);
    let (values, last_values) = values.split_at(near);
    for ((&column, &value), &next) in columns.iter().zip(values).zip(ahead) {
        prefetch(y, (next as usize).wrapping_sub(first));
        add_to(y, column as usize - first, value, z);
    }
    for (&column, &value) in last_columns.iter().zip(last_values) {
        add_to(y, column as usize - first, value, z);
    }
}

/// yᵢ ← yᵢ + v z
#[inline(always)]
fn add_to<T: Scalar, const W: usize>(y: &mut [[T; W]], i: usize, value: T, z: &[T; W]) {
    let row = &mut y[i];
    for j in 0..W {
        row[j] += value * z[j];
    }
}

/// The columns that follow an entry range in memory, [`AHEAD`] of its start.
#[inline(always)]
pub(super) fn ahead(columns: &[u32], from: usize, to: usize) -> &[u32] {
    let len = columns.len();
    &columns[len.min(from + AHEAD)..len.min(to + AHEAD)]
}

/// α s + γ y, without reading y when γ = 0.
#[inline(always)]
pub(super) fn combine<T: Scalar>(alpha: T, sum: T, gamma: T, y: T) -> T {
    if gamma == T::zero() { alpha * sum } else { alpha * sum + gamma * y }
}
