//! [`Groups`]: entries in any order, kept by groups of rows until there are no more.
//!
//! Two things are wanted of a file that is not in the order of the rows: to parse it once, since
//! that is what takes time, and to hold little more than the matrix. So the entries are kept as they
//! are parsed, 16 bytes each in f64 where the matrix takes 12, in lists for up to 128 groups of
//! neighbouring rows. At the end the groups become their part of the matrix one by one, and the
//! lists of a group are given back to the system before the next one takes its memory: the peak is
//! 4/3 of the matrix, and the groups that are in work, one for each thread. A group is also what
//! makes this fast: its part of the matrix is small enough to stay in the cache while entries are
//! put in their places. A group that holds much more than its share (some files have nearly all
//! their entries in few rows) is cut into finer groups first.

use std::ops::Range;

use favard_operator::{Csr, Scalar};
use rayon::prelude::*;

use crate::csr::{Entry, finish, reserve, zeros};
use crate::error::ErrorKind;

/// Groups that rows are cut into, at most.
const GROUPS: usize = 128;

/// A group with more than this part of all entries is cut once more.
const SHARE: usize = 16;

/// Neighbouring rows, and their entries in the order they came in.
#[derive(Debug)]
struct Group<T> {
    rows: Range<usize>,
    lists: Vec<Vec<Entry<T>>>,
}

impl<T> Group<T> {
    fn count(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }
}

/// Entries by groups of 2^shift rows.
#[derive(Debug)]
pub(crate) struct Groups<T> {
    rows: Range<usize>,
    shift: u32,
    /// Entries in one list.
    size: usize,
    list: Vec<Group<T>>,
}

/// A group and its place in the matrix.
struct Part<'a, T> {
    group: Group<T>,
    /// Where its entries start.
    base: usize,
    /// For each row, where it ends.
    ends: &'a mut [usize],
    columns: &'a mut [u32],
    values: &'a mut [T],
}

impl<T: Scalar> Groups<T> {
    /// No entries yet, of about `expected` in these rows.
    pub fn new(rows: Range<usize>, expected: usize) -> Self {
        let shift = rows.len().div_ceil(GROUPS).next_power_of_two().trailing_zeros();
        // Small beside the whole; and many small ones would never be given back to the system.
        let size = (expected / (2 * GROUPS)).clamp(1 << 10, 1 << 22);
        let group = |first: usize| {
            let rows = first..rows.end.min(first + (1 << shift));
            Group { rows, lists: Vec::new() }
        };
        let list = rows.clone().step_by(1 << shift).map(group).collect();
        Self { rows, shift, size, list }
    }

    /// Adds entries, all of them in the rows.
    pub fn extend(&mut self, entries: &[Entry<T>]) -> Result<(), ErrorKind> {
        for &entry in entries {
            let group = (entry.row as usize - self.rows.start) >> self.shift;
            let lists = &mut self.list[group].lists;
            match lists.last_mut() {
                Some(list) if list.len() < list.capacity() => list.push(entry),
                _ => {
                    let mut list = Vec::new();
                    reserve("entries of a group of rows", &mut list, self.size)?;
                    list.push(entry);
                    lists.push(list);
                }
            }
        }
        Ok(())
    }

    /// The matrix. The rows must start at 0.
    pub fn finish(self, cols: usize) -> Result<Csr<'static, T>, ErrorKind> {
        let total: usize = self.list.iter().map(Group::count).sum();
        let mut pointers = zeros("row pointers", 0_usize, self.rows.len() + 1)?;
        let mut columns = zeros("column indices", 0_u32, total)?;
        let mut values = zeros("values", T::zero(), total)?;
        let mut groups = Vec::with_capacity(self.list.len());
        self.cut((total / SHARE).max(1 << 16), &mut groups)?;
        let (mut base, mut ends) = (0, &mut pointers[1..]);
        let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
        let mut parts = Vec::with_capacity(groups.len());
        for group in groups {
            let (rows, count) = (group.rows.len(), group.count());
            let (part_ends, part_columns, part_values);
            (part_ends, ends) = ends.split_at_mut(rows);
            (part_columns, columns_left) = columns_left.split_at_mut(count);
            (part_values, values_left) = values_left.split_at_mut(count);
            let (ends, columns, values) = (part_ends, part_columns, part_values);
            parts.push(Part { group, base, ends, columns, values });
            base += count;
        }
        parts.into_par_iter().with_max_len(1).for_each(Part::fill);
        finish(cols, pointers, columns, values)
    }

    /// Groups of at most so many entries, or of one row.
    fn cut(self, most: usize, to: &mut Vec<Group<T>>) -> Result<(), ErrorKind> {
        for group in self.list {
            let count = group.count();
            if count <= most || group.rows.len() == 1 {
                to.push(group);
                continue;
            }
            let mut finer = Self::new(group.rows, count);
            for list in group.lists {
                finer.extend(&list)?;
            }
            finer.cut(most, to)?;
        }
        Ok(())
    }
}

impl<T: Scalar> Part<'_, T> {
    /// Puts the entries of each row one behind the other, in the order they came in.
    fn fill(self) {
        let Self { group, base, ends, columns, values } = self;
        let first = group.rows.start;
        for entry in group.lists.iter().flatten() {
            ends[entry.row as usize - first] += 1;
        }
        // Where the next entry of each row goes: at last, where the row ends.
        let mut sum = 0;
        for end in &mut *ends {
            sum += std::mem::replace(end, sum);
        }
        for entry in group.lists.iter().flatten() {
            let next = &mut ends[entry.row as usize - first];
            (columns[*next], values[*next]) = (entry.column, entry.value);
            *next += 1;
        }
        ends.iter_mut().for_each(|end| *end += base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the rows: nearly all entries in a few of them, which are cut out of their groups; one
    /// row; more rows than entries. The matrix is that of a stable sort, in which entries with the
    /// same place are added in the order they came in: 0.1 + 0.2 + 0.3 ≠ 0.3 + 0.2 + 0.1.
    #[test]
    fn groups_are_a_stable_sort() {
        let total = 200_000_u32;
        for (rows, skew) in [(1_000_000, 12), (1_000_000, 0), (300, 5), (3, 0), (1, 0)] {
            let entries: Vec<Entry<f64>> = (0..total)
                .map(|i| {
                    let mixed = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                    // One entry in 16 is anywhere, the others in the last rows.
                    let rare = if i % 16 == 0 { 0 } else { skew };
                    let row =
                        rows - 1 - u32::try_from(mixed % u64::from(rows)).unwrap() / (1 << rare);
                    Entry { row, column: i % 97, value: f64::from(i) / 10.0 }
                })
                .collect();
            let mut groups = Groups::new(0..rows as usize, entries.len());
            entries.chunks(777).for_each(|part| groups.extend(part).unwrap());
            let csr = groups.finish(97).unwrap();
            let mut sorted = entries.clone();
            sorted.sort_by_key(Entry::place);
            let mut wanted: Vec<(u64, f64)> = Vec::new();
            for entry in &sorted {
                match wanted.last_mut() {
                    Some((place, sum)) if *place == entry.place() => *sum += entry.value,
                    _ => wanted.push((entry.place(), entry.value)),
                }
            }
            let mut found = Vec::new();
            for row in 0..rows {
                let (columns, values) = csr.row(row as usize);
                found.extend(
                    columns
                        .iter()
                        .zip(values)
                        .map(|(&column, &value)| (Entry { column, row, value }.place(), value)),
                );
            }
            assert!(found == wanted, "{rows} rows, skew {skew}");
        }
    }
}
