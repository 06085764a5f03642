//! [`Pick`]: all rows of a matrix, or a list of them.

/// Which row of the matrix is the i-th of the product.
pub(crate) trait Pick: Copy + Sync {
    /// The number of the i-th picked row.
    fn at(self, i: usize) -> usize;
}

/// Every row, in its own place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct All;

impl Pick for All {
    #[inline]
    fn at(self, i: usize) -> usize {
        i
    }
}

impl Pick for &[usize] {
    #[inline]
    fn at(self, i: usize) -> usize {
        self[i]
    }
}
