//! The innermost loops: one sparse row against the rows of a block.
//!
//! They are plain loops over arrays of W numbers that the compiler turns into vector code once
//! they are inlined into a function compiled for the instruction set ([`run`]). No multiply-add is
//! fused: a product is rounded, then the sum, so that every processor gives the same bits.

// Inlining is what carries the instruction set from `run` into the loops: without it they would be
// compiled for the oldest processor.
#![allow(clippy::inline_always)]

#[cfg(not(test))]
use pulp::{Simd, WithSimd};

use super::Values;
use super::short::{MOST, Short, ask, with_length};
use crate::hints::prefetch;
use crate::{Column, Scalar};

/// A loop that is compiled once for every instruction set.
pub(crate) trait Kernel {
    /// Runs it. Implementations and all they call are `#[inline(always)]`.
    fn run(self);
}

#[cfg(not(test))]
struct Vectorized<K>(K);

#[cfg(not(test))]
impl<K: Kernel> WithSimd for Vectorized<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.run();
    }
}

/// Runs a kernel with the widest vectors of this processor.
///
/// The tests of private parts, for which all is compiled once more, do without vectors: that takes a
/// third of the time. What is public is tested with them, in `tests`.
pub(crate) fn run(kernel: impl Kernel) {
    #[cfg(not(test))]
    pulp::Arch::new().dispatch(Vectorized(kernel));
    #[cfg(test)]
    kernel.run();
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// The rows of a block that a sparse row gathers from.
pub(super) trait Source<T, const W: usize>: Copy + Sync {
    /// acc ← acc + v x_c
    fn add(self, acc: &mut [T; W], column: usize, value: T);

    /// Asks for a row that will be needed soon.
    fn hint(self, column: usize);
}

/// Asks for a row: for both of its cache lines, if it has two.
#[inline(always)]
fn fetch<T, const W: usize>(rows: &[[T; W]], row: usize) {
    prefetch(rows, row);
    if W * size_of::<T>() > LINE {
        prefetch(rows.as_flattened(), row * W + W / 2);
    }
}

/// The rows of a block that a sparse row scatters to.
pub(super) trait Target<T, const W: usize> {
    /// The row of a column.
    fn at(&mut self, column: usize) -> &mut [T; W];

    /// Asks for a row that will be needed soon.
    fn hint(&self, column: usize);
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

    #[inline(always)]
    fn hint(self, column: usize) {
        fetch(self.0, column);
    }
}

impl<T: Scalar, const W: usize> Target<T, W> for [[T; W]] {
    #[inline(always)]
    fn at(&mut self, column: usize) -> &mut [T; W] {
        &mut self[column]
    }

    #[inline(always)]
    fn hint(&self, column: usize) {
        fetch(self, column);
    }
}

/// Rows of two blocks side by side, one that is gathered from and one that is scattered to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paired<'a, T, const W: usize>(pub &'a [[[T; W]; 2]]);

impl<T: Scalar, const W: usize> Source<T, W> for Paired<'_, T, W> {
    #[inline(always)]
    fn add(self, acc: &mut [T; W], column: usize, value: T) {
        let [row, _] = &self.0[column];
        for j in 0..W {
            acc[j] += value * row[j];
        }
    }

    #[inline(always)]
    fn hint(self, column: usize) {
        prefetch(self.0, column);
    }
}

impl<T: Scalar, const W: usize> Target<T, W> for [[[T; W]; 2]] {
    #[inline(always)]
    fn at(&mut self, column: usize) -> &mut [T; W] {
        &mut self[column][1]
    }

    #[inline(always)]
    fn hint(&self, _: usize) {
        // The row that was gathered from has brought it along.
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

    #[inline(always)]
    fn hint(self, column: usize) {
        prefetch(self.data, column * self.stride);
    }
}

/// Σ_c v_c x_c over a sparse row, asking meanwhile for the rows of the columns `ahead`, if given.
///
/// Several sums run side by side and are added at the end, because one alone would wait for its
/// own additions: two (12 % faster for a whole line), and four for W = 1 (a quarter faster while
/// the block is in the cache).
#[inline(always)]
pub(super) fn gather<T: Scalar, const W: usize, I: Column>(
    columns: &[I],
    values: impl Values<T>,
    ahead: Option<&[I]>,
    x: impl Source<T, W>,
) -> [T; W] {
    if W == 1 && columns.len() <= MOST {
        stream(columns, values, 0);
        ask(ahead, |column| x.hint(column));
        with_length!(columns.len(), L => if let Some(row) = Short::<T, L>::new(columns, values) {
            return row.gather(x);
        });
    }
    match (ahead, W) {
        (Some(ahead), 1) => gather_by::<T, W, I, 4, true>(columns, values, ahead, x),
        (Some(ahead), _) => gather_by::<T, W, I, 2, true>(columns, values, ahead, x),
        (None, 1) => gather_by::<T, W, I, 4, false>(columns, values, columns, x),
        (None, _) => gather_by::<T, W, I, 2, false>(columns, values, columns, x),
    }
}

/// Entries between asking for a part of the matrix itself and using it.
pub(crate) const STREAM: usize = 384;

/// Asks for the part of the matrix that comes [`STREAM`] entries behind entry `e` of a row.
///
/// What the processor fetches of itself ends at the end of a page, and is lost among the rows of the block,
/// which are anywhere.
#[inline(always)]
pub(super) fn stream<T, I>(columns: &[I], values: impl Values<T>, e: usize) {
    prefetch(columns, e + STREAM);
    values.hint(e + STREAM);
}

/// Entries that are worked on in one step of a loop.
const STEP: usize = 4;

/// Entry e goes to sum e mod U, U at most [`STEP`]; sum u is then added to sum u − U/2, and so on down to one.
#[inline(always)]
pub(super) fn gather_by<T: Scalar, const W: usize, I: Column, const U: usize, const HINTS: bool>(
    columns: &[I],
    values: impl Values<T>,
    ahead: &[I],
    x: impl Source<T, W>,
) -> [T; W] {
    let mut sums = [[T::zero(); W]; U];
    let (all, list) = (columns, values);
    let (columns, last_columns) = columns.as_chunks::<STEP>();
    let (chunks, last_values) = values.chunks::<STEP>();
    let steps = columns.iter().zip(chunks).zip(ahead.as_chunks::<STEP>().0).enumerate();
    for (step, ((columns, values), ahead)) in steps {
        stream(all, list, step * STEP);
        for e in 0..STEP {
            if HINTS {
                x.hint(ahead[e].at());
            }
            x.add(&mut sums[e % U], columns[e].at(), values[e]);
        }
    }
    for (e, (&column, value)) in last_columns.iter().zip(last_values).enumerate() {
        x.add(&mut sums[e % U], column.at(), value);
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

/// y_c ← y_c + v_c z over a sparse row, for columns counted from `first`, asking meanwhile for the rows
/// of the columns `ahead`, if given, and for the matrix itself where it `streams`: where nobody has just read it.
#[inline(always)]
pub(super) fn scatter<T: Scalar, const W: usize, I: Column>(
    z: [T; W],
    columns: &[I],
    values: impl Values<T>,
    ahead: Option<&[I]>,
    (first, streams): (usize, bool),
    y: &mut (impl Target<T, W> + ?Sized),
) {
    if W == 1 && first == 0 && columns.len() <= MOST {
        if streams {
            stream(columns, values, 0);
        }
        ask(ahead, |column| y.hint(column));
        with_length!(columns.len(), L => if let Some(row) = Short::<T, L>::new(columns, values) {
            return row.scatter(z, y);
        });
    }
    let (all, list, hints) = (columns, values, ahead.is_some());
    let (columns, last_columns) = columns.as_chunks::<STEP>();
    let (chunks, last_values) = values.chunks::<STEP>();
    let ahead = ahead.unwrap_or(all).as_chunks::<STEP>().0;
    for (step, ((columns, values), ahead)) in columns.iter().zip(chunks).zip(ahead).enumerate() {
        if streams {
            stream(all, list, step * STEP);
        }
        for e in 0..STEP {
            if hints {
                y.hint(ahead[e].at() - first);
            }
            add(z, values[e], y.at(columns[e].at() - first));
        }
    }
    for (column, value) in last_columns.iter().zip(last_values) {
        add(z, value, y.at(column.at() - first));
    }
}

/// y ← y + v z
///
/// Each row of y is read as a whole before it is written, and z comes by value: so the compiler
/// knows that z does not change underway, and keeps it in registers (a sixth faster).
#[inline(always)]
fn add<T: Scalar, const W: usize>(z: [T; W], value: T, row: &mut [T; W]) {
    let mut new = *row;
    for j in 0..W {
        new[j] += value * z[j];
    }
    *row = new;
}

/// y ← α s + γ y over as many numbers as y has, without reading y when γ = 0: to wait for it, a row that
/// no cache has, took two fifths of a product of 100 entries a row.
#[inline(always)]
pub(super) fn combine<T: Scalar>(alpha: T, sums: &[T], gamma: T, y: &mut [T]) {
    if gamma == T::zero() {
        y.iter_mut().zip(sums).for_each(|(y, &sum)| *y = alpha * sum);
    } else {
        y.iter_mut().zip(sums).for_each(|(y, &sum)| *y = alpha * sum + gamma * *y);
    }
}
