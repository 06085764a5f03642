//! What makes three lists a sparse matrix.

use rayon::prelude::*;

use crate::error::{ErrorKind, Result, check_dim};
use crate::kernel::{Kernel, run};
use crate::{Column, Error, Scalar};

/// Rows that one task checks.
const TASK: usize = 1024;

/// `Ok` when the lists are a matrix of `rows × cols` with finite values. Reads each list once.
pub(crate) fn check<T: Scalar, I: Column>(
    (rows, cols): (usize, usize),
    pointers: &[usize],
    columns: &[I],
    values: &[T],
) -> Result<()> {
    check_count::<I>(cols)?;
    check_dim("row pointers", rows.saturating_add(1), pointers.len())?;
    check_dim("values", columns.len(), values.len())?;
    check_pointers(pointers, columns.len())?;
    let row_error = |i: usize| {
        let range = pointers[i]..pointers[i + 1];
        check_row(i, cols, &columns[range.clone()], &values[range]).err()
    };
    let part = |number: usize| {
        let from = number * TASK;
        let rows = from..rows.min(from + TASK);
        let mut is_good = false;
        let pointers = &pointers[rows.start..=rows.end];
        run(Look { cols, pointers, columns, values, is_good: &mut is_good });
        // Which row is bad, and why, is looked for where one is.
        if is_good { None } else { rows.into_iter().find_map(row_error) }
    };
    // The first bad row is reported, whatever the threads do.
    match (0..rows.div_ceil(TASK)).into_par_iter().find_map_first(part) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// `Ok` when so many columns can be numbered.
pub(super) fn check_count<I: Column>(cols: usize) -> Result<()> {
    let (what, index, bound) = ("number of columns", cols as u64, I::BOUND);
    let error = ErrorKind::Index { what, position: 0, index, bound };
    if index < bound { Ok(()) } else { Err(error.into()) }
}

/// Whether some rows are good, without a branch an entry: a column that does not increase is one
/// where a row begins, no column is too large, and no value is not finite.
struct Look<'a, T, I> {
    cols: usize,
    pointers: &'a [usize],
    columns: &'a [I],
    values: &'a [T],
    is_good: &'a mut bool,
}

impl<T: Scalar, I: Column> Kernel for Look<'_, T, I> {
    #[allow(clippy::inline_always)] // see `kernel::lanes`
    #[inline(always)]
    fn run(self) {
        let (first, last) = (self.pointers[0], self.pointers[self.pointers.len() - 1]);
        let (columns, values) = (&self.columns[first..last], &self.values[first..last]);
        let mut falls = 0_u64;
        for (column, next) in columns.iter().zip(columns.iter().skip(1)) {
            falls += u64::from(column >= next);
        }
        // Each place between two rows once, however many rows without entries begin there.
        let mut before = first;
        for &start in self.pointers.iter().filter(|&&start| start < last) {
            if start > before {
                falls -= u64::from(self.columns[start - 1] >= self.columns[start]);
                before = start;
            }
        }
        // The least as well: it may be negative.
        let ends = columns.first().map(|&first| {
            let both = |(least, largest): (I, I), &c: &I| (least.min(c), largest.max(c));
            columns.iter().fold((first, first), both)
        });
        let fits = ends.is_none_or(|(least, largest)| least.at().max(largest.at()) < self.cols);
        let finite = values.iter().fold(true, |finite, value| finite & value.is_finite());
        *self.is_good = falls == 0 && fits && finite;
    }
}

fn check_pointers(pointers: &[usize], entries: usize) -> Result<()> {
    let error = |position: usize, expected: usize, found: usize| -> Error {
        let (expected, found) = (expected as u64, found as u64);
        ErrorKind::Pointers { position, expected, found }.into()
    };
    let last = pointers.len() - 1;
    if pointers[0] != 0 {
        return Err(error(0, 0, pointers[0]));
    }
    if let Some(i) = pointers.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(error(i + 1, pointers[i], pointers[i + 1]));
    }
    if pointers[last] == entries { Ok(()) } else { Err(error(last, entries, pointers[last])) }
}

fn check_row<T: Scalar, I: Column>(
    row: usize,
    cols: usize,
    columns: &[I],
    values: &[T],
) -> Result<()> {
    if let Some(i) = columns.windows(2).position(|pair| pair[0] >= pair[1]) {
        let (column, next) = (columns[i].at(), columns[i + 1].at());
        return Err(ErrorKind::Unsorted { row, column, next }.into());
    }
    // Increasing, so the last is the largest, and only the first can be negative with it.
    let mut ends = columns.first().into_iter().chain(columns.last());
    if let Some(column) = ends.find(|column| column.at() >= cols) {
        let (index, bound) = (column.at() as u64, cols as u64);
        return Err(ErrorKind::Index {
            what: "columns of a sparse row",
            position: row,
            index,
            bound,
        }
        .into());
    }
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let (column, value) = (columns[i].at(), values[i].as_f64());
            Err(ErrorKind::NonFinite { what: "sparse matrix", row, column, value }.into())
        }
    }
}
