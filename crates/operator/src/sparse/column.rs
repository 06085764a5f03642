//! [`Column`]: the integers that the columns of a sparse matrix are kept in.

use std::fmt::Debug;

use crate::kernel::Tables;

/// An integer that a [`Csr`](crate::Csr) keeps its columns in: `u32`, or `i64` as other libraries have
/// them in large matrices, read in place at four more bytes an entry. The trait is sealed: the kernels are
/// compiled for both.
///
/// # Example
/// ```
/// use favard_operator::Column;
/// assert_eq!((7_u32.at(), i64::of(7)), (7, Some(7)));
/// assert_eq!(u32::of(1 << 40), None);
/// ```
pub trait Column: Tables + Copy + Ord + Debug + Send + Sync + 'static {
    /// The first number of columns that is too large.
    const BOUND: u64;

    /// The column as a position. A negative number, which no matrix has, is one beyond any.
    fn at(self) -> usize;

    /// The other way round, for a position that fits.
    fn of(position: usize) -> Option<Self>;
}

impl Column for u32 {
    const BOUND: u64 = (1 << 32) + 1;

    #[inline]
    fn at(self) -> usize {
        self as usize
    }

    #[inline]
    fn of(position: usize) -> Option<Self> {
        Self::try_from(position).ok()
    }
}

impl Column for i64 {
    const BOUND: u64 = 1 << 63;

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the positions of a list in memory fit
    fn at(self) -> usize {
        self.cast_unsigned() as usize
    }

    #[inline]
    fn of(position: usize) -> Option<Self> {
        Self::try_from(position).ok()
    }
}
