//! [`turned`]: the transpose of a matrix of few long rows, by all threads.

use rayon::prelude::*;

use crate::hints::prefer_large_pages;
use crate::tasks::for_each_group;
use crate::{Column, Csr, Scalar};

/// Entries that are worth a task, and tasks at most.
const TASK: usize = 1 << 18;
const TASKS: usize = 16;

/// Entries of a panel, which are written in no order and stay in a second-level cache, and of each row
/// in it, at least.
const PANEL: usize = 1 << 15;
const PANEL_ROW: usize = 32;

/// The columns of a matrix, each with its entries, in the order of the rows.
///
/// Tasks take a range of columns each, and in it a panel after the other: an entry is read once to be counted and once
/// to be put in its place. 9 million entries in 1,000 × 1,500,000 take 40 ms on two threads; row after row into lists as
/// large as all columns ([`Csr::transposed`]) 130 on one.
pub(crate) fn turned<T: Scalar, I: Column>(a: &Csr<'_, T, I>) -> Csr<'static, T> {
    let ((rows, cols), entries) = (a.shape(), a.entries());
    let tasks = 1 << (entries / TASK).clamp(1, TASKS).ilog2();
    let step = cols.div_ceil(tasks).max(1);
    // Where the columns of each task begin in each row, and where those of the last end.
    let cut = |row: usize| {
        let (columns, from) = (a.row(row).0, a.pointers()[row]);
        let at = move |task: usize| from + columns.partition_point(|c| c.at() < task * step);
        (0..=tasks).map(at).collect::<Vec<usize>>()
    };
    let cuts: Vec<Vec<usize>> = (0..rows).into_par_iter().map(cut).collect();

    let mut pointers = vec![0_usize; cols + 1];
    for_each_group(&mut pointers[1..], step, &|task, counts| {
        for cut in &cuts {
            let columns = &a.columns()[cut[task]..cut[task + 1]];
            columns.iter().for_each(|column| counts[column.at() - task * step] += 1);
        }
    });
    let mut sum = 0;
    for pointer in &mut pointers {
        sum += *pointer;
        *pointer = sum;
    }

    let (mut columns, mut values) = (vec![0_u32; entries], vec![T::zero(); entries]);
    prefer_large_pages(&mut columns);
    prefer_large_pages(&mut values);
    let mut parts = Vec::with_capacity(tasks);
    let (mut numbers, mut numbers_values) = (&mut columns[..], &mut values[..]);
    for task in 0..tasks {
        let range = (task * step).min(cols)..((task + 1) * step).min(cols);
        let own = pointers[range.end] - pointers[range.start];
        let (part, rest) = numbers.split_at_mut(own);
        let (part_values, rest_values) = numbers_values.split_at_mut(own);
        (numbers, numbers_values) = (rest, rest_values);
        parts.push((task, range, part, part_values));
    }
    parts.into_par_iter().with_max_len(1).for_each(|(task, range, part, part_values)| {
        let next = cuts.iter().map(|cut| cut[task]).collect();
        let ends = cuts.iter().map(|cut| cut[task + 1]).collect();
        let place = Place { a, pointers: &pointers, next, ends };
        place.fill(range, part, part_values);
    });
    Csr::from_trusted((cols, rows), pointers, columns, values, a)
}

/// Bytes of the transpose of a matrix of few rows, and of what making it takes beside, at most.
pub(crate) fn turned_bytes<T: Scalar, I: Column>(a: &Csr<'_, T, I>) -> usize {
    let ((rows, cols), entries, word) = (a.shape(), a.entries(), size_of::<usize>());
    // The cuts of each row; for each task at work its two ends of the rows, and the places of a panel.
    let tasks = rayon::current_num_threads().min(TASKS);
    let panel = 2 * PANEL.max(PANEL_ROW * rows).min(cols);
    let scratch = rows * word * (TASKS + 8) + tasks * word * (2 * rows + panel);
    entries * (size_of::<u32>() + size_of::<T>()) + cols * word + scratch
}

/// The columns of a task being put in place.
struct Place<'a, 'm, T: Scalar, I: Column> {
    a: &'a Csr<'m, T, I>,
    pointers: &'a [usize],
    /// The first entry of each row that is still to come, and the end.
    next: Vec<usize>,
    ends: Vec<usize>,
}

impl<T: Scalar, I: Column> Place<'_, '_, T, I> {
    fn fill(mut self, range: std::ops::Range<usize>, rows: &mut [u32], values: &mut [T]) {
        let (most, base) = (PANEL.max(PANEL_ROW * self.next.len()), self.pointers[range.start]);
        let (from, from_values) = (self.a.columns(), self.a.values());
        let mut places: Vec<usize> = Vec::new();
        let mut first = range.start;
        while first < range.end {
            let bound = self.pointers[first] + most;
            let length = self.pointers[first + 1..=range.end].partition_point(|&end| end <= bound);
            // Empty columns are no entries, but places.
            let end = first + length.clamp(1, most);
            places.clear();
            places.extend(self.pointers[first..end].iter().map(|pointer| pointer - base));
            for (row, (next, &last)) in self.next.iter_mut().zip(&self.ends).enumerate() {
                while *next < last && from[*next].at() < end {
                    let place = &mut places[from[*next].at() - first];
                    #[allow(clippy::cast_possible_truncation)] // checked by `Csr::turned`
                    (rows[*place] = row as u32);
                    values[*place] = from_values[*next];
                    *place += 1;
                    *next += 1;
                }
            }
            first = end;
        }
    }
}
