//! [`Panel`]: some columns of a matrix that is stored by rows.

use std::ops::Range;

use super::cut::Cut;
use crate::{Column, Csr, Scalar};

/// Columns, transposed a panel after the other.
pub(super) struct Panel<'a, 'b, T: Scalar, I: Column> {
    a: &'a Csr<'b, T, I>,
    /// The columns that are still to come.
    rest: Range<usize>,
    /// The first entry of each row that belongs to them.
    next: Vec<usize>,
    /// The first column of the panel, and where each of its columns ends.
    first: usize,
    ends: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<T>,
}

impl<'a, 'b, T: Scalar, I: Column> Panel<'a, 'b, T, I> {
    /// Of these columns.
    pub fn new(a: &'a Csr<'b, T, I>, columns: Range<usize>) -> Self {
        let start = |row: usize| {
            let before = a.row(row).0.partition_point(|column| column.at() < columns.start);
            a.pointers()[row] + before
        };
        let next = (0..a.shape().0).map(start).collect();
        let (ends, rows, values) = (Vec::new(), Vec::new(), Vec::new());
        Self { a, first: columns.start, rest: columns, next, ends, rows, values }
    }

    /// The columns of the next panel; `None` behind the last.
    pub fn advance(&mut self, cut: &Cut<'_>) -> Option<Range<usize>> {
        if self.rest.is_empty() {
            return None;
        }
        let columns = self.rest.start..cut.panel_end(&self.rest);
        (self.first, self.rest.start) = (columns.start, columns.end);
        // Where each column starts; each entry moves its column's on, so that it is its end at last.
        self.ends.clear();
        let mut entries = 0;
        for column in columns.clone() {
            self.ends.push(entries);
            entries += cut.length(column);
        }
        if self.rows.len() < entries {
            self.rows.resize(entries, 0);
            self.values.resize(entries, T::zero());
        }
        let (from, values) = (self.a.columns(), self.a.values());
        for (row, next) in self.next.iter_mut().enumerate() {
            let end = self.a.pointers()[row + 1];
            while let Some(column) = from[*next..end].first()
                && column.at() < columns.end
            {
                let place = &mut self.ends[column.at() - columns.start];
                (self.rows[*place], self.values[*place]) = (row, values[*next]);
                *place += 1;
                *next += 1;
            }
        }
        Some(columns)
    }

    /// The entries of a column of the panel, each with its row.
    pub fn line(&self, column: usize) -> impl Iterator<Item = (usize, T)> {
        let number = column - self.first;
        let from = if number == 0 { 0 } else { self.ends[number - 1] };
        let range = from..self.ends[number];
        self.rows[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}
