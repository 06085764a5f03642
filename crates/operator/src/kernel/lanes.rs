//! The innermost loops: one sparse row against the rows of a block.
//!
//! They are plain loops over arrays of W numbers that the compiler turns into vector code once
//! they are inlined into a function compiled for the instruction set ([`run`]). No multiply-add is
//! fused: a product is rounded, then the sum, so that every processor gives the same bits.

// Inlining is what carries the instruction set from `run` into the loops: without it they would be
// compiled for the oldest processor.
#![allow(clippy::inline_always)]

use pulp::{Arch, Simd, WithSimd};

use super::Values;
use crate::{Column, Scalar};

/// A loop that is compiled once for every instruction set.
pub(crate) trait Kernel {
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
pub(crate) fn run(kernel: impl Kernel) {
    Arch::new().dispatch(Vectorized(kernel));
}

/// The rows of a block that a sparse row gathers from.
pub(super) trait Source<T, const W: usize>: Copy + Sync {
    /// acc ← acc + v x_c
    fn add(self, acc: &mut [T; W], column: usize, value: T);
}

/// Rows of W numbers one behind the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'a, T, const W: usize>(pub &'a [[T; W]]);

impl<T: Scalar, const W: usize> Source<T, W> for Packed<'_, T, W> {
    #[inline(always)]
    fn add(self, acc: &mut [T; W], column: usize, value: T) {
        let row = &self.0[column];
        for j in 0..W {
            acc[j] += value * row[j];
        }
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
    #[inline(always)]
    fn add(self, acc: &mut [T; W], column: usize, value: T) {
        let row = &self.data[column * self.stride..][..W];
        for j in 0..W {
            acc[j] += value * row[j];
        }
    }
}

/// Σ_c v_c x_c over a sparse row.
///
/// Several sums run side by side and are added at the end, because one alone would wait for its
/// own additions: two (12 % faster for a whole line), and four for W = 1 (a quarter faster while
/// the block is in the cache).
#[inline(always)]
pub(super) fn gather<T: Scalar, const W: usize>(
    columns: &[impl Column],
    values: impl Values<T>,
    x: impl Source<T, W>,
) -> [T; W] {
    if W == 1 {
        gather_by::<T, W, 4>(columns, values, x)
    } else {
        gather_by::<T, W, 2>(columns, values, x)
    }
}

/// Entry e goes to sum e mod U; sum u is then added to sum u − U/2, and so on down to one.
#[inline(always)]
fn gather_by<T: Scalar, const W: usize, const U: usize>(
    columns: &[impl Column],
    values: impl Values<T>,
    x: impl Source<T, W>,
) -> [T; W] {
    let mut sums = [[T::zero(); W]; U];
    let (columns, last_columns) = columns.as_chunks::<U>();
    let (values, last_values) = values.chunks::<U>();
    for (columns, values) in columns.iter().zip(values) {
        for u in 0..U {
            x.add(&mut sums[u], columns[u].at(), values[u]);
        }
    }
    for (sum, (&column, value)) in sums.iter_mut().zip(last_columns.iter().zip(last_values)) {
        x.add(sum, column.at(), value);
    }
    let mut half = U / 2;
    while half > 0 {
        for u in 0..half {
            let other = sums[u + half];
            sums[u].iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
        }
        half /= 2;
    }
    sums[0]
}

/// y_c ← y_c + v_c z over a sparse row, for columns counted from `first`.
///
/// Each row of y is read as a whole before it is written, and z comes by value: so the compiler
/// knows that z does not change underway, and keeps it in registers (a sixth faster).
#[inline(always)]
pub(super) fn scatter<T: Scalar, const W: usize>(
    z: [T; W],
    columns: &[impl Column],
    values: impl Values<T>,
    first: usize,
    y: &mut [[T; W]],
) {
    for (&column, value) in columns.iter().zip(values.each()) {
        let row = &mut y[column.at() - first];
        let mut new = *row;
        for j in 0..W {
            new[j] += value * z[j];
        }
        *row = new;
    }
}

/// α s + γ y, without reading y when γ = 0.
#[inline(always)]
pub(super) fn combine<T: Scalar>(alpha: T, sum: T, gamma: T, y: T) -> T {
    if gamma == T::zero() { alpha * sum } else { alpha * sum + gamma * y }
}
