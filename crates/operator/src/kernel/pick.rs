//! [`Pick`]: all rows of a matrix, or a list of them.

use std::ops::Range;

use super::rows::Entries;
use super::{Rows, Values};
use crate::Column;

/// Which rows of the matrix take part in a product, in which order.
pub(crate) trait Pick: Copy + Sync {
    /// The picked rows of a range, one after the other, as [`Rows::walk`] gives them.
    fn walk<T, V: Values<T>, I: Column>(
        self,
        a: Rows<'_, V, I>,
        range: Range<usize>,
        hints: bool,
    ) -> impl Iterator<Item = Entries<'_, V, I>>;

    /// How many rows are picked.
    fn len<V, I: Column>(self, a: Rows<'_, V, I>) -> usize;

    /// How many entries they have, exactly or from the mean row: it decides the schedule only.
    fn entries<V, I: Column>(self, a: Rows<'_, V, I>) -> usize;

    /// The g-th of `groups` ranges of picked rows with about equally many entries each.
    fn group<V, I: Column>(self, a: Rows<'_, V, I>, g: usize, groups: usize) -> Range<usize>;
}

/// Every row, in its own place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct All;

impl Pick for All {
    #[inline]
    fn walk<T, V: Values<T>, I: Column>(
        self,
        a: Rows<'_, V, I>,
        range: Range<usize>,
        hints: bool,
    ) -> impl Iterator<Item = Entries<'_, V, I>> {
        a.walk(range, hints)
    }

    fn len<V, I: Column>(self, a: Rows<'_, V, I>) -> usize {
        a.rows()
    }

    fn entries<V, I: Column>(self, a: Rows<'_, V, I>) -> usize {
        a.entries()
    }

    fn group<V, I: Column>(self, a: Rows<'_, V, I>, g: usize, groups: usize) -> Range<usize> {
        let rows = a.rows();
        let starts = &a.pointers[..rows];
        // Row i belongs to the group that its first entry falls into.
        let cut = |g: usize| {
            let target = (a.entries() as u128 * g as u128).div_ceil(groups as u128);
            if g == groups { rows } else { starts.partition_point(|&p| (p as u128) < target) }
        };
        (if g == 0 { 0 } else { cut(g) })..cut(g + 1)
    }
}

impl Pick for &[usize] {
    #[inline]
    fn walk<T, V: Values<T>, I: Column>(
        self,
        a: Rows<'_, V, I>,
        range: Range<usize>,
        _: bool,
    ) -> impl Iterator<Item = Entries<'_, V, I>> {
        self[range].iter().map(move |&i| {
            let (columns, values) = a.row(i);
            (columns, values, None)
        })
    }

    fn len<V, I: Column>(self, _: Rows<'_, V, I>) -> usize {
        <[usize]>::len(self)
    }

    fn entries<V, I: Column>(self, a: Rows<'_, V, I>) -> usize {
        // From the mean row, so that it costs nothing; the list itself may be skewed.
        <[usize]>::len(self).saturating_mul(a.entries().div_ceil(a.rows().max(1)))
    }

    fn group<V, I: Column>(self, _: Rows<'_, V, I>, g: usize, groups: usize) -> Range<usize> {
        let len = <[usize]>::len(self);
        len * g / groups..len * (g + 1) / groups
    }
}
