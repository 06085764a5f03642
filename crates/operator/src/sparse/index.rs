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
/// in place (`u32` and `i32` columns; `usize` pointers, and those of 64 bits where `usize` has as
/// many), any other is converted once. The trait is implemented for every index type of `sprs`.
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
        let mut columns = vec![0_u32; list.len()];
        let parts = columns.par_chunks_mut(TASK).zip(list.par_chunks(TASK)).enumerate();
        // Without a branch an index: the first bad one is looked for where there is one.
        let convert = |(part, (to, from)): (usize, (&mut [u32], &[Self]))| {
            let mut good = true;
            for (to, from) in to.iter_mut().zip(from) {
                let index = from.to_u32();
                good &= index.is_some();
                *to = index.unwrap_or_default();
            }
            if good { None } else { position(from, part, |index| index.to_u32().is_none()) }
        };
        match parts.map(convert).reduce(|| None, Option::or) {
            Some(position) => Err(bad_index("columns", position, list[position], 1 << 32)),
            None => Ok(Cow::Owned(columns)),
        }
    }

    /// The list as row pointers.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] for a negative pointer.
    fn pointers(list: Cow<'_, [Self]>) -> Result<Cow<'_, [usize]>> {
        check_pointers(&list)?;
        Ok(Cow::Owned(list.par_iter().map(|index| index.try_index().unwrap_or_default()).collect()))
    }
}

/// Indices that one task looks at.
const TASK: usize = 1 << 14;

/// The first bad index of the list, from that of a part of it.
fn position<I>(part: &[I], number: usize, is_bad: impl Fn(&I) -> bool) -> Option<usize> {
    part.iter().position(is_bad).map(|position| number * TASK + position)
}

/// The first bad index, whatever the threads do.
fn find_bad<I: Sync>(list: &[I], is_bad: impl Fn(&I) -> bool + Sync) -> Option<usize> {
    let look = |(number, part): (usize, &[I])| {
        // Without a branch an index.
        let any = part.iter().fold(false, |any, index| any | is_bad(index));
        if any { position(part, number, &is_bad) } else { None }
    };
    list.par_chunks(TASK).enumerate().map(look).reduce(|| None, Option::or)
}

/// `Ok` when all are numbers of `usize`.
fn check_pointers<I: SpIndex>(list: &[I]) -> Result<()> {
    match find_bad(list, |index| index.try_index().is_none()) {
        None => Ok(()),
        Some(position) => Err(bad_index("row pointers", position, list[position], 1 << 63)),
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
        if let Some(position) = find_bad(&list, |&index| index < 0) {
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

/// Pointers of as many bits as `usize` has: the same bits hold the same number when it is not
/// negative.
macro_rules! pointers_in_place {
    ($($index:ty),*) => {$(
        impl SparseIndex for $index {
            fn pointers(list: Cow<'_, [Self]>) -> Result<Cow<'_, [usize]>> {
                check_pointers(&list)?;
                if let Cow::Borrowed(list) = list
                    && let Ok(list) = bytemuck::try_cast_slice(list)
                {
                    return Ok(Cow::Borrowed(list));
                }
                // `collect` reuses the memory of a vector whose elements keep their size.
                let convert = |index: Self| index.try_index().unwrap_or_default();
                Ok(Cow::Owned(list.into_owned().into_iter().map(convert).collect()))
            }
        }
    )*};
}

pointers_in_place!(u64, i64, isize);

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
mod tests {
    use super::*;

    /// 64-bit pointers are read in place where `usize` has 64 bits, negative ones are named.
    #[test]
    fn pointers_in_place() {
        let list = [0_i64, 2, 5];
        let found = i64::pointers(Cow::Borrowed(&list)).unwrap();
        assert_eq!(found.as_ref(), [0, 2, 5]);
        assert_eq!(matches!(found, Cow::Borrowed(_)), size_of::<usize>() == 8);
        assert_eq!(i64::pointers(Cow::Owned(list.to_vec())).unwrap().as_ref(), [0, 2, 5]);
        assert_eq!(i32::pointers(Cow::Borrowed(&[0, 7])).unwrap().as_ref(), [0, 7]);
        let error = i64::pointers(Cow::Borrowed(&[0, -1])).unwrap_err();
        assert!(error.to_string().contains("row pointers"), "{error}");
    }

    /// Of two bad indices in different parts the first is named, for every type that is checked.
    #[test]
    fn the_first_bad_index_is_named() {
        let (first, second) = (TASK + 7, 3 * TASK + 1);
        let mut list: Vec<i64> = (0..4 * TASK as i64).collect();
        assert_eq!(i64::columns(Cow::Borrowed(&list)).unwrap()[second], second as u32);
        (list[first], list[second]) = (-1, 1 << 32);
        let short: Vec<i32> = list.iter().map(|&index| index as i32).collect();
        let error = i64::columns(Cow::Borrowed(&list)).unwrap_err();
        let named = |error: &crate::Error| match error.kind() {
            ErrorKind::Index { position, .. } => *position,
            other => panic!("{other}"),
        };
        assert_eq!(named(&error), first);
        assert_eq!(named(&i32::columns(Cow::Owned(short)).unwrap_err()), first);
        assert_eq!(named(&i64::pointers(Cow::Owned(list)).unwrap_err()), first);
    }
}
