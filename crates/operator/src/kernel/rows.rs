//! [`Rows`]: a sparse matrix as the kernels see it.

use super::Values;
use crate::Column;

/// Entries between asking for a row of the block and using it. From 8 to 32 it took as long.
const AHEAD: usize = 16;

/// A matrix stored by rows, borrowed: the entries of row i are at `pointers[i]..pointers[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a, V, I> {
    /// Where each row starts, and where the last one ends.
    pub pointers: &'a [usize],
    /// The column of every entry, increasing within a row.
    pub columns: &'a [I],
    /// The value of every entry.
    pub values: V,
    /// The number of columns.
    pub cols: usize,
}

impl<'a, V, I: Column> Rows<'a, V, I> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.pointers.len() - 1
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns and the values of row i.
    #[inline]
    pub fn row<T>(&self, i: usize) -> (&'a [I], V)
    where
        V: Values<T>,
    {
        let range = self.pointers[i]..self.pointers[i + 1];
        (&self.columns[range.clone()], self.values.slice(range))
    }

    /// The columns of as many entries as row i has, [`AHEAD`] entries further on; `None` where the
    /// matrix ends before.
    #[inline]
    pub fn ahead(&self, i: usize) -> Option<&'a [I]> {
        self.columns.get(self.pointers[i] + AHEAD..self.pointers[i + 1] + AHEAD)
    }
}
