//! A sparse matrix from entries in any order.

use favard_operator::{Csr, Scalar, prefer_large_pages};
use rayon::prelude::*;

use crate::error::{ErrorKind, Result};

/// Entries that one task sorts.
pub(crate) const TASK: usize = 1 << 16;

/// A list of zeros, or an error where the memory cannot be had.
pub(crate) fn zeros<V: Clone>(
    what: &'static str,
    zero: V,
    count: usize,
) -> Result<Vec<V>, ErrorKind> {
    let bytes = (count as u64).saturating_mul(size_of::<V>() as u64);
    let mut probe = Vec::<V>::new();
    probe.try_reserve_exact(count).map_err(|_| ErrorKind::Memory { what, bytes })?;
    drop(probe);
    // Fresh pages of the system are zero: they are not written here, and so not yet taken.
    let mut list = vec![zero; count];
    prefer_large_pages(&mut list);
    Ok(list)
}

/// Room for `more` elements, or an error.
pub(crate) fn reserve<V>(
    what: &'static str,
    list: &mut Vec<V>,
    more: usize,
) -> Result<(), ErrorKind> {
    let bytes = (list.len() as u64 + more as u64).saturating_mul(size_of::<V>() as u64);
    let before = list.capacity();
    list.try_reserve(more).map_err(|_| ErrorKind::Memory { what, bytes })?;
    if list.capacity() > before {
        prefer_large_pages(list);
    }
    Ok(())
}

/// Counts become where those who are counted start, one behind the other from `base` on; gives where the last
/// ones end.
pub(crate) fn starts(base: usize, counts: &mut [usize]) -> usize {
    let mut sum = base;
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
    sum
}

/// One entry of a matrix, on its way into it.
#[derive(Debug, Clone, Copy, Default)]
// In this order, the place of an entry is one word of memory on most processors.
#[repr(C)]
pub(crate) struct Entry<T> {
    pub column: u32,
    pub row: u32,
    pub value: T,
}

impl<T> Entry<T> {
    /// A number that increases from row to row, and from column to column in a row.
    #[inline]
    pub fn place(&self) -> u64 {
        u64::from(self.row) << 32 | u64::from(self.column)
    }
}

/// Entries from lists of their rows, columns and values.
pub(crate) fn together<'a, T: Scalar>(
    rows: &'a [u32],
    columns: &'a [u32],
    values: &'a [T],
) -> impl ExactSizeIterator<Item = Entry<T>> + Clone + Sync {
    let lists = rows.iter().zip(columns).zip(values);
    lists.map(|((&row, &column), &value)| Entry { column, row, value })
}

/// Entries of rows that were counted before, put in their places as they come.
///
/// Between the passes, `pointers[i + 1]` is where the next entry of row i goes. When all are placed
/// it is where the row ends, as it has to be: no second list is needed.
#[derive(Debug)]
pub(crate) struct Scatter<T> {
    pointers: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    /// The first rows of the parts that are filled at the same time, and the number of rows.
    cuts: Vec<usize>,
    /// Where the entries of each part start.
    starts: Vec<usize>,
    placed: usize,
}

/// Some rows that one thread fills.
struct Part<'a, T> {
    first: usize,
    /// Where the entries of the part start.
    base: usize,
    next: &'a mut [usize],
    columns: &'a mut [u32],
    values: &'a mut [T],
}

impl<T: Scalar> Scatter<T> {
    /// Room for rows with that many entries (row i at position i + 1 of the list).
    pub fn new(mut pointers: Vec<usize>) -> Result<Self, ErrorKind> {
        // pointers[i + 1] ← where row i starts.
        let sum = starts(0, &mut pointers[1..]);
        let rows = pointers.len() - 1;
        let parts = rayon::current_num_threads().min(1 + sum / TASK);
        let row_at =
            |part: usize| pointers[1..].partition_point(|&start| start < sum * part / parts);
        let mut cuts: Vec<usize> = (0..parts).map(row_at).collect();
        cuts.push(rows);
        let start = |&row: &usize| pointers.get(row + 1).copied().unwrap_or(sum);
        let starts = cuts.iter().map(start).collect();
        Ok(Self {
            columns: zeros("column indices", 0, sum)?,
            values: zeros("values", T::zero(), sum)?,
            pointers,
            cuts,
            starts,
            placed: 0,
        })
    }

    /// Places the next entries. They must be the ones that were counted: others are dropped, and
    /// make [`Scatter::finish`] fail.
    pub fn place(&mut self, entries: impl ExactSizeIterator<Item = Entry<T>> + Clone + Sync) {
        self.placed += entries.len();
        let mut parts = self.parts();
        let fill = |part: &mut Part<'_, T>| {
            for Entry { column, row, value } in entries.clone() {
                let Some(next) =
                    (row as usize).checked_sub(part.first).and_then(|row| part.next.get_mut(row))
                else {
                    continue;
                };
                let place = *next - part.base;
                if let (Some(to_column), Some(to_value)) =
                    (part.columns.get_mut(place), part.values.get_mut(place))
                {
                    (*to_column, *to_value) = (column, value);
                    *next += 1;
                }
            }
        };
        match &mut parts[..] {
            [part] => fill(part),
            parts => parts.par_iter_mut().with_max_len(1).for_each(fill),
        }
    }

    fn parts(&mut self) -> Vec<Part<'_, T>> {
        let Self { pointers, columns, values, cuts, starts, .. } = self;
        let (mut next, mut columns, mut values) =
            (&mut pointers[1..], &mut columns[..], &mut values[..]);
        let mut parts = Vec::with_capacity(cuts.len());
        for (cut, start) in cuts.windows(2).zip(starts.windows(2)) {
            let (rows, entries) = (cut[1] - cut[0], start[1] - start[0]);
            let (next_part, columns_part, values_part);
            (next_part, next) = next.split_at_mut(rows);
            (columns_part, columns) = columns.split_at_mut(entries);
            (values_part, values) = values.split_at_mut(entries);
            parts.push(Part {
                first: cut[0],
                base: start[0],
                next: next_part,
                columns: columns_part,
                values: values_part,
            });
        }
        parts
    }

    /// The matrix, once every entry is placed.
    pub fn finish(self, cols: usize) -> Result<Csr<'static, T>, ErrorKind> {
        let (expected, found) = (self.columns.len() as u64, self.placed as u64);
        if expected != found {
            return Err(ErrorKind::Count { what: "entries in the second pass", expected, found });
        }
        finish(cols, self.pointers, self.columns, self.values)
    }
}

/// A matrix from rows whose columns may be out of order and may repeat: they are sorted, and
/// entries with the same place are added up in the order they have.
pub(crate) fn finish<T: Scalar>(
    cols: usize,
    mut pointers: Vec<usize>,
    mut columns: Vec<u32>,
    mut values: Vec<T>,
) -> Result<Csr<'static, T>, ErrorKind> {
    let rows = pointers.len() - 1;
    let is_sorted =
        |row: usize| columns[pointers[row]..pointers[row + 1]].is_sorted_by(|a, b| a < b);
    if !(0..rows).into_par_iter().with_min_len(1024).all(is_sorted) {
        let lengths = sort_rows(&pointers, &mut columns, &mut values);
        close_gaps(&lengths, &mut pointers, &mut columns, &mut values);
    }
    Ok(Csr::new((rows, cols), pointers, columns, values)?)
}

/// Sorts each row and adds up what repeats; gives the number of entries that are left of each.
fn sort_rows<T: Scalar>(pointers: &[usize], columns: &mut [u32], values: &mut [T]) -> Vec<usize> {
    let mut lengths: Vec<usize> = pointers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (mut tasks, mut row) = (Vec::new(), 0);
    let (mut columns, mut values, mut left) = (columns, values, &mut lengths[..]);
    while !left.is_empty() {
        // As many rows as hold TASK entries, at least one.
        let full = pointers[row].saturating_add(TASK);
        let last = row + left.len();
        let end = (row + 1..=last).find(|&end| pointers[end] >= full).unwrap_or(last);
        let entries = pointers[end] - pointers[row];
        let (task_lengths, task_columns, task_values);
        (task_lengths, left) = left.split_at_mut(end - row);
        (task_columns, columns) = columns.split_at_mut(entries);
        (task_values, values) = values.split_at_mut(entries);
        tasks.push((task_lengths, task_columns, task_values));
        row = end;
    }
    tasks.into_par_iter().with_max_len(1).for_each(|(lengths, columns, values)| {
        let (mut start, mut scratch) = (0, Vec::new());
        for length in lengths {
            let range = start..start + *length;
            start = range.end;
            *length = sort_row(&mut columns[range.clone()], &mut values[range], &mut scratch);
        }
    });
    lengths
}

fn sort_row<T: Scalar>(
    columns: &mut [u32],
    values: &mut [T],
    scratch: &mut Vec<(u32, T)>,
) -> usize {
    if columns.is_sorted_by(|a, b| a < b) {
        return columns.len();
    }
    scratch.clear();
    scratch.extend(columns.iter().copied().zip(values.iter().copied()));
    // Stable: equal columns keep the order of the file, and so does their sum.
    scratch.sort_by_key(|&(column, _)| column);
    let mut kept = 0;
    for &(column, value) in &*scratch {
        if kept > 0 && columns[kept - 1] == column {
            values[kept - 1] += value;
        } else {
            (columns[kept], values[kept]) = (column, value);
            kept += 1;
        }
    }
    kept
}

/// Moves the rows together and corrects where they start.
fn close_gaps<T: Scalar>(
    lengths: &[usize],
    pointers: &mut [usize],
    columns: &mut Vec<u32>,
    values: &mut Vec<T>,
) {
    let mut to = 0;
    for (row, &length) in lengths.iter().enumerate() {
        let from = pointers[row];
        if from != to {
            columns.copy_within(from..from + length, to);
            values.copy_within(from..from + length, to);
        }
        pointers[row] = to;
        to += length;
    }
    if let Some(last) = pointers.last_mut() {
        *last = to;
    }
    if to < columns.len() {
        columns.truncate(to);
        columns.shrink_to_fit();
        values.truncate(to);
        values.shrink_to_fit();
    }
}
