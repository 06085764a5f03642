//! [`Rows`]: a sparse matrix as the kernels see it.

/// A matrix stored by rows, borrowed: the entries of row i are at `pointers[i]..pointers[i + 1]`.
#[derive(Debug)]
pub(crate) struct Rows<'a, T> {
    /// Where each row starts, and where the last one ends.
    pub pointers: &'a [usize],
    /// The column of every entry, increasing within a row.
    pub columns: &'a [u32],
    /// The value of every entry.
    pub values: &'a [T],
    /// The number of columns.
    pub cols: usize,
}

// Not derived: a borrowed matrix is copied whatever its numbers are.
impl<T> Clone for Rows<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<'_, T> {}

impl<'a, T> Rows<'a, T> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.pointers.len() - 1
    }

    /// The columns and the values of row i.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [T]) {
        let range = self.pointers[i]..self.pointers[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}
