//! Long rows are walked in pieces of columns, where a block has more rows than a cache.

use std::ops::Range;

use super::{NEAR, Pick, Rows};
use crate::{Column, Scalar};

/// Entries that a row has in a piece, at least, for what it costs to find them: the places where a search
/// looks are in no cache either.
///
/// A fit with two columns at a time took 4.0 and 4.3 s without pieces and 2.7 and 3.0 with them where a piece
/// has 1,640 entries of a row (100 rows, 3 million columns), and no less, rather more, where it has 500 (1,000
/// rows, a million columns); two threads, in turn. With eight columns and 400 entries the two were level.
const LONG: usize = 1024;

/// How many columns a piece has, when the rows are to be walked in pieces: those whose `lanes` numbers take
/// [`NEAR`] bytes.
///
/// A hundred rows of a hundred thousand entries each name nearly every row of a block of millions, in turn: each
/// of them is fetched from memory once for each row of the matrix. Piece after piece, each is
/// fetched once in all. Short rows have too few entries in a piece.
pub(super) fn pieces<T: Scalar, V: Copy, I: Column>(
    a: Rows<'_, V, I>,
    pick: impl Pick,
    lanes: usize,
) -> Option<usize> {
    let piece = NEAR / (lanes * size_of::<T>());
    let share = pick.entries(a) / pick.len(a).max(1);
    (a.cols > piece && share / a.cols.div_ceil(piece) >= LONG).then_some(piece)
}

/// Where the columns `first..end` are in a sparse row.
#[inline]
pub(super) fn within(columns: &[impl Column], first: usize, end: usize) -> Range<usize> {
    let from = columns.partition_point(|column| column.at() < first);
    from..from + columns[from..].partition_point(|column| column.at() < end)
}
