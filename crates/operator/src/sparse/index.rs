//! [`SparseIndex`]: the integers a sparse structure may come in.

use std::borrow::Cow;

use pulp::bytemuck;
use rayon::prelude::*;
use sprs::SpIndex;

use crate::Result;
use crate::error::ErrorKind;

/// An integer that sparse libraries use for columns and row pointers.
///
/// Columns are kept as `u32` and pointers as `usize`; a list that already has this layout is used
/// in place (`u32` and `i32` columns, `usize` pointers), any other is converted once. The trait is
/// implemented for every index type of `sprs`.
///
/// # Example
/// ```
/// use std::borrow::Cow;
/// use favard_operator::SparseIndex;
/// let list = [3_i32, 5];
/// // In place: the columns are the same memory.
/// assert!(matches!(i32::columns(Cow::Borrowed(&list))?, Cow::Borrowed(&[3, 5])));
/// assert!(i64::columns(Cow::Borrowed(&[1 << 40])).is_err());
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub trait SparseIndex: SpIndex + 'static {
    /// The list as columns.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] for a negative index or one that 32 bits do not hold.
    fn columns(list: Cow<'_, [Self]>) -> Result<Cow<'_, [u32]>> {
        // Checked first, so that the list is written in one piece, where a failing conversion would
        // gather pieces and copy them.
        if let Some(position) = list.par_iter().position_first(|index| index.to_u32().is_none()) {
            return Err(bad_index("columns", position, list[position], 1 << 32));
        }
        Ok(Cow::Owned(list.par_iter().map(|index| index.to_u32().unwrap_or_default()).collect()))
    }

    /// The list as row pointers.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] for a negative pointer.
    fn pointers(list: Cow<'_, [Self]>) -> Result<Cow<'_, [usize]>> {
        let convert = |(position, &index): (usize, &Self)| {
            index.try_index().ok_or_else(|| bad_index("row pointers", position, index, 1 << 63))
        };
        list.iter().enumerate().map(convert).collect::<Result<Vec<_>>>().map(Cow::Owned)
    }
}

fn bad_index<I: SpIndex>(
    what: &'static str,
    position: usize,
    index: I,
    bound: u64,
) -> crate::Error {
    // A negative number is reported as what it is in memory, a number far above the bound.
    let index = index.to_u64().or_else(|| index.to_i64().map(i64::cast_unsigned));
    ErrorKind::Index { what, position, index: index.unwrap_or(u64::MAX), bound }.into()
}

impl SparseIndex for u32 {
    fn columns(list: Cow<'_, [Self]>) -> Result<Cow<'_, [u32]>> {
        Ok(list)
    }
}

impl SparseIndex for i32 {
    fn columns(list: Cow<'_, [Self]>) -> Result<Cow<'_, [u32]>> {
        if let Some(position) = list.par_iter().position_first(|&index| index < 0) {
            return Err(bad_index("columns", position, list[position], 1 << 31));
        }
        // The same 32 bits hold the same number when it is not negative.
        Ok(match list {
            Cow::Borrowed(list) => Cow::Borrowed(bytemuck::cast_slice(list)),
            // `collect` reuses the memory of a vector whose elements keep their size.
            Cow::Owned(list) => Cow::Owned(list.into_iter().map(i32::cast_unsigned).collect()),
        })
    }
}

impl SparseIndex for usize {
    fn pointers(list: Cow<'_, [Self]>) -> Result<Cow<'_, [usize]>> {
        Ok(list)
    }
}

impl SparseIndex for u16 {}
impl SparseIndex for i16 {}
impl SparseIndex for u64 {}
impl SparseIndex for i64 {}
impl SparseIndex for isize {}
