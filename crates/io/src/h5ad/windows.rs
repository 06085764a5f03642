//! [`Window`]: arrays are read a few windows at a time, by all threads.

use std::ops::Range;

use favard_operator::Scalar;
use hdf5_pure::Dataset;
use rayon::prelude::*;

use super::{AnnData, guarded};
use crate::csr::reserve;
use crate::error::Result;

/// Numbers of an array that are read at a time, in windows that the threads share.
pub(super) const PART: u64 = 1 << 18;

/// Numbers of a window, rounded up to whole chunks of the file, each of which is then unpacked once.
const WINDOW: u64 = 1 << 15;

/// The first of some rows of an array, and how many.
pub(super) type Window = (u64, u64);

/// The parts of a range that end at whole steps.
pub(super) fn windows(range: Range<u64>, step: u64) -> impl Iterator<Item = Window> {
    let Range { start, end } = range;
    (start / step..end.div_ceil(step)).map(move |number| {
        let first = start.max(number * step);
        (first, end.min((number + 1) * step) - first)
    })
}

impl AnnData<'_> {
    /// Some rows of an array in windows, several of which are read at a time: how many does not
    /// depend on the threads, since it is what bounds the memory.
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
        let step = window.checked_next_multiple_of(chunk).unwrap_or(window);
        let many = usize::try_from(all / step).unwrap_or(1).max(1);
        let windows: Vec<Window> = windows(rows, step).collect();
        Ok(windows.chunks(many).map(<[_]>::to_vec).collect())
    }

    /// Appends what `read` gives for each of the windows, in their order; the threads share them.
    pub fn together<V: Send + Copy>(
        &self,
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
            reserve("numbers", to, list.len()).map_err(|kind| self.source.error(kind))?;
            to.extend_from_slice(&list);
        }
        Ok(())
    }

    /// Appends the indices and the values of some entries; all threads read and unpack.
    pub fn entries<T: Scalar>(
        &self,
        (indices, data): (&Dataset, &Dataset),
        entries: Range<u64>,
        bound: (&'static str, u64),
        (places, values): (&mut Vec<u32>, &mut Vec<T>),
    ) -> Result<()> {
        for windows in self.parts("X/indices", indices, entries, 1)? {
            let (of_places, of_values) = rayon::join(
                || {
                    let read = |window, list: &mut Vec<u32>| {
                        self.indices("indices", indices, window, bound, list)
                    };
                    self.together(&windows, read, places)
                },
                || {
                    let read =
                        |window, list: &mut Vec<T>| self.numbers("X/data", data, window, list);
                    self.together(&windows, read, values)
                },
            );
            of_places.and(of_values)?;
        }
        Ok(())
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
