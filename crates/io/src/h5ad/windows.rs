//! [`Window`]: arrays are read a few windows at a time, by all threads.

use std::ops::Range;

use favard_operator::Scalar;
use hdf5_pure::Dataset;
use rayon::prelude::*;

use super::{AnnData, guarded};
use crate::csr::reserve;
use crate::error::Result;

/// Numbers of an array that are read at a time, in windows that the threads share: what bounds the memory.
const PART: u64 = 1 << 18;

/// Numbers of a window, rounded up to whole chunks of the file, each of which is then unpacked once. Chunks
/// of more than a part are read in parts.
const WINDOW: u64 = 1 << 15;

/// The first of some rows of an array, and how many.
pub(super) type Window = (u64, u64);

/// The parts of a range that end at whole steps.
fn windows(range: Range<u64>, step: u64) -> impl Iterator<Item = Window> {
    let Range { start, end } = range;
    (start / step..end.div_ceil(step)).map(move |number| {
        let first = start.max(number * step);
        (first, end.min((number + 1) * step) - first)
    })
}

impl AnnData<'_> {
    /// Some rows of an array of `width` numbers each, in parts, and those in windows.
    pub fn parts(
        &self,
        part: &str,
        array: &Dataset,
        rows: Range<u64>,
        width: u64,
    ) -> Result<Vec<Vec<Window>>> {
        let chunk = array.chunk_shape().map_err(|error| self.fail(part, error))?;
        let chunk = chunk.and_then(|shape| shape.first().copied()).unwrap_or(1).max(1);
        let [window, all] = [WINDOW, PART].map(|numbers| (numbers / width.max(1)).max(1));
        let step = window.checked_next_multiple_of(chunk).unwrap_or(all).min(all);
        let many = usize::try_from(all / step).unwrap_or(1);
        let windows: Vec<Window> = windows(rows, step).collect();
        Ok(windows.chunks(many).map(<[_]>::to_vec).collect())
    }

    /// Appends what `read` gives for each of the windows, in their order; the threads share them.
    fn together<V: Send + Copy>(
        &self,
        what: &'static str,
        windows: &[Window],
        read: impl Fn(Window, &mut Vec<V>) -> Result<()> + Sync,
        to: &mut Vec<V>,
    ) -> Result<()> {
        let read = |&window: &Window| {
            let mut list = Vec::new();
            guarded(self.source, || read(window, &mut list)).map(|()| list)
        };
        let lists: Vec<Result<Vec<V>>> = windows.par_iter().map(read).collect();
        for list in lists {
            let list = list?;
            reserve(what, to, list.len()).map_err(|kind| self.source.error(kind))?;
            to.extend_from_slice(&list);
        }
        Ok(())
    }

    /// Appends the numbers of a part of an array.
    pub fn numbers_of<T: Scalar>(
        &self,
        part: &str,
        array: &Dataset,
        windows: &[Window],
        to: &mut Vec<T>,
    ) -> Result<()> {
        let read = |window, list: &mut Vec<T>| self.numbers(part, array, window, list);
        self.together("values", windows, read, to)
    }

    /// Appends the whole numbers of a part of a list, each at most the second of `bound`.
    pub fn indices_of<I: TryFrom<i64> + Send + Copy>(
        &self,
        name: &str,
        array: &Dataset,
        windows: &[Window],
        bound: (&'static str, u64),
        to: &mut Vec<I>,
    ) -> Result<()> {
        let read = |window, list: &mut Vec<I>| self.indices(name, array, window, bound, list);
        self.together(bound.0, windows, read, to)
    }

    /// Appends the indices and the values of a part of the entries; all threads read and unpack.
    pub fn entries_of<T: Scalar>(
        &self,
        (indices, data): (&Dataset, &Dataset),
        windows: &[Window],
        bound: (&'static str, u64),
        (places, values): (&mut Vec<u32>, &mut Vec<T>),
    ) -> Result<()> {
        let (of_places, of_values) = rayon::join(
            || self.indices_of("indices", indices, windows, bound, places),
            || self.numbers_of("X/data", data, windows, values),
        );
        of_places.and(of_values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows are the range, cut at whole steps.
    #[test]
    fn windows_end_at_whole_steps() {
        for (range, step) in [(0..10, 4), (3..10, 4), (4..8, 4), (5..6, 4), (7..7, 4), (0..3, 9)] {
            let mut next = range.start;
            for (first, count) in windows(range.clone(), step) {
                assert_eq!(first, next, "{range:?}");
                next = first + count;
                assert!(count <= step && (next % step == 0 || next == range.end), "{range:?}");
            }
            assert_eq!(next, range.end);
        }
    }
}
