//! [`Pick`]: all rows of a matrix, or a list of them.

use std::ops::Range;

use super::Rows;
use crate::Column;

/// Which row of the matrix is the i-th of the product.
pub(crate) trait Pick: Copy + Sync {
    /// The number of the i-th picked row.
    fn at(self, i: usize) -> usize;

    /// The columns that will be needed a little after those of the i-th picked row began to be, as many as
    /// it has; `None` where they are not known.
    fn ahead<V, I: Column>(self, a: Rows<'_, V, I>, i: usize) -> Option<&[I]>;

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
    fn at(self, i: usize) -> usize {
        i
    }

    #[inline]
    fn ahead<V, I: Column>(self, a: Rows<'_, V, I>, i: usize) -> Option<&[I]> {
        a.ahead(i)
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
    fn at(self, i: usize) -> usize {
        self[i]
    }

    #[inline]
    fn ahead<V, I: Column>(self, _: Rows<'_, V, I>, _: usize) -> Option<&[I]> {
        None
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
