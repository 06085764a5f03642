//! [`Rows`]: a sparse matrix as the kernels see it.

use std::ops::Range;

use super::Values;
use crate::Column;

/// Entries between asking for a row of the block and using it. From 8 to 32 it took as long.
const AHEAD: usize = 16;

/// A matrix stored by rows, borrowed: the entries of row i are at `pointers[i]..pointers[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, V, I> {
    /// Where each row starts, and where the last one ends.
    pub pointers: &'a [usize],
    /// The column of every entry, increasing within a row.
    pub columns: &'a [I],
    /// The value of every entry.
    pub values: V,
    /// The number of columns.
    pub cols: usize,
}

/// The columns and the values of a row, and the columns of as many entries [`AHEAD`] entries further on:
/// none where the matrix ends before, or where they are not wanted.
pub(super) type Entries<'a, V, I> = (&'a [I], V, Option<&'a [I]>);

impl<'a, V, I: Column> Rows<'a, V, I> {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.pointers.len() - 1
    }

    /// The number of entries.
    pub(super) fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns and the values of row i.
    #[inline]
    pub(super) fn row<T>(&self, i: usize) -> (&'a [I], V)
    where
        V: Values<T>,
    {
        let range = self.pointers[i]..self.pointers[i + 1];
        (&self.columns[range.clone()], self.values.slice(range))
    }

    /// The rows of a range, one after the other, with `hints` if they are wanted.
    #[inline]
    pub(super) fn walk<T>(
        self,
        range: Range<usize>,
        hints: bool,
    ) -> impl Iterator<Item = Entries<'a, V, I>>
    where
        V: Values<T>,
    {
        // Of an empty list there is nothing to get.
        let ahead = if hints { self.columns.get(AHEAD..).unwrap_or_default() } else { &[] };
        let ends = &self.pointers[range.start..=range.end];
        let mut start = ends[0];
        ends[1..].iter().map(move |&end| {
            let row = start..end;
            start = end;
            (&self.columns[row.clone()], self.values.slice(row.clone()), ahead.get(row))
        })
    }
}
