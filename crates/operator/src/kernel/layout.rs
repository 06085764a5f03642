//! [`Layout`]: where a group of rows finds X, and where it keeps its sums.

// Inlining carries the instruction set into the loops: see `lanes`.
#![allow(clippy::inline_always)]

use std::hint::black_box;

use super::Values;
use super::lanes::{Packed, Paired, Source, gather, scatter, stream};
use super::short::{MOST, Short, ask, with_length};
use crate::{Column, Scalar};

/// How the buffer of a group is laid out.
pub(super) trait Layout<T: Scalar, const W: usize> {
    /// What the buffer has for each column.
    type Row: Send;

    /// How many rows of W numbers that is, the sums being the last of them.
    const STEP: usize;

    /// The memory of the buffers.
    fn rows(data: &mut [[T; W]]) -> &mut [Self::Row];

    /// Sums of zero.
    fn clear(buffer: &mut [Self::Row], x: &[[T; W]]);

    /// One sparse row: z ← Σ_c v_c x_c, as [`gather`] has it, what is `between`, y_c ← y_c + v_c z.
    fn step<I: Column>(
        columns: &[I],
        values: impl Values<T>,
        ahead: Option<&[I]>,
        x: &[[T; W]],
        between: impl FnOnce([T; W]) -> [T; W],
        buffer: &mut [Self::Row],
    );
}

/// The same numbers, of which the compiler does not know where they come from: else it lays out the
/// sums of the gathering loop by what is done to them afterwards, and shuffles lanes for every entry
/// (a quarter slower for W = 8). One number has no lanes.
#[inline(always)]
fn apart<T, const W: usize>(z: [T; W]) -> [T; W] {
    if W == 1 { z } else { black_box(z) }
}

/// X is shared by all groups.
pub(super) struct Shared;

impl<T: Scalar, const W: usize> Layout<T, W> for Shared {
    type Row = [T; W];

    const STEP: usize = 1;

    fn rows(data: &mut [[T; W]]) -> &mut [[T; W]] {
        data
    }

    fn clear(buffer: &mut [[T; W]], _: &[[T; W]]) {
        buffer.fill([T::zero(); W]);
    }

    #[inline(always)]
    fn step<I: Column>(
        columns: &[I],
        values: impl Values<T>,
        ahead: Option<&[I]>,
        x: &[[T; W]],
        between: impl FnOnce([T; W]) -> [T; W],
        buffer: &mut [[T; W]],
    ) {
        let z = between(apart(gather(columns, values, ahead, Packed(x))));
        scatter(z, columns, values, ahead, (0, false), buffer);
    }
}

/// Every group has its own copy of X, row by row beside its sums.
///
/// For rows that fit a cache line together: what gathering has fetched is what scattering needs, one line
/// an entry instead of two. Nanoseconds an entry, 25 entries a row, one thread, best of 7, one run, without
/// it and with it (both ask ahead): W = 1 with 20,000 columns 2.0 and 1.9, W = 2 2.4 and 2.1, W = 4 2.8
/// and 2.4; W = 4 with 10,000 columns 2.3 and 2.1.
pub(super) struct SideBySide;

impl<T: Scalar, const W: usize> Layout<T, W> for SideBySide {
    type Row = [[T; W]; 2];

    const STEP: usize = 2;

    fn rows(data: &mut [[T; W]]) -> &mut [[[T; W]; 2]] {
        data.as_chunks_mut().0
    }

    fn clear(buffer: &mut [[[T; W]; 2]], x: &[[T; W]]) {
        buffer.iter_mut().zip(x).for_each(|(row, &x)| *row = [x, [T::zero(); W]]);
    }

    #[inline(always)]
    fn step<I: Column>(
        columns: &[I],
        values: impl Values<T>,
        ahead: Option<&[I]>,
        _: &[[T; W]],
        between: impl FnOnce([T; W]) -> [T; W],
        buffer: &mut [[[T; W]; 2]],
    ) {
        if W == 1 && columns.len() <= MOST {
            stream(columns, values, 0);
            ask(ahead, |column| Paired(buffer).hint(column));
            // Its columns and values stay in registers from gathering to scattering.
            with_length!(columns.len(), L => if let Some(row) = Short::<T, L>::new(columns, values) {
                return row.scatter(between(row.gather(Paired(buffer))), buffer);
            });
        }
        let z = between(apart(gather(columns, values, ahead, Paired(buffer))));
        scatter(z, columns, values, ahead, (0, false), buffer);
    }
}
