//! [`Values`]: the values of the entries, or the knowledge that all are one.

use std::iter::repeat;
use std::ops::Range;

use crate::Scalar;
use crate::hints::prefetch;

/// The values of the entries of a matrix, or of a row of it.
///
/// A matrix of zeros and ones (memberships, clicks, one-hot categories) need not be read but for its
/// columns: 4 bytes an entry instead of 12. A product with one is exact, so that the bits are
/// those of the list of ones.
pub(crate) trait Values<T>: Copy + Sync {
    /// Those at some positions.
    fn slice(self, range: Range<usize>) -> Self;

    /// Asks for the one at a position, which need not exist.
    fn hint(self, position: usize);

    /// One after the other, at least as many as there are.
    fn each(self) -> impl Iterator<Item = T>;

    /// In groups of U, at least as many as there are whole ones, and those behind them.
    fn chunks<const U: usize>(self) -> (impl Iterator<Item = [T; U]>, impl Iterator<Item = T>);
}

impl<T: Scalar> Values<T> for &[T] {
    #[inline]
    fn slice(self, range: Range<usize>) -> Self {
        &self[range]
    }

    #[inline]
    fn hint(self, position: usize) {
        prefetch(self, position);
    }

    #[inline]
    fn each(self) -> impl Iterator<Item = T> {
        self.iter().copied()
    }

    #[inline]
    fn chunks<const U: usize>(self) -> (impl Iterator<Item = [T; U]>, impl Iterator<Item = T>) {
        let (chunks, rest) = self.as_chunks::<U>();
        (chunks.iter().copied(), rest.iter().copied())
    }
}

/// All values are one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ones;

impl<T: Scalar> Values<T> for Ones {
    #[inline]
    fn slice(self, _: Range<usize>) -> Self {
        self
    }

    #[inline]
    fn hint(self, _: usize) {}

    #[inline]
    fn each(self) -> impl Iterator<Item = T> {
        repeat(T::one())
    }

    #[inline]
    fn chunks<const U: usize>(self) -> (impl Iterator<Item = [T; U]>, impl Iterator<Item = T>) {
        (repeat([T::one(); U]), repeat(T::one()))
    }
}
