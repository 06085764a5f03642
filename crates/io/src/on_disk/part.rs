//! [`Part`]: some rows of a file in memory, and where they come from.

use std::mem::swap;
use std::ops::Range;

use favard_operator::{Csr, ErrorKind as Kind, Scalar};

use super::OnDisk;
use crate::error::{Error, ErrorKind, Result};

/// Bytes that reading takes beside the part, at most: numbers as the file has them, and as they are
/// converted.
pub(super) const SCRATCH: usize = 1 << 23;

/// The columns and values of a matrix stored by rows, which can be read from any place on.
pub(super) trait Lists<T>: Send + Sync {
    /// Appends the columns and values of some entries, checked to be columns and finite.
    fn read(&self, entries: Range<usize>, part: &mut Part<T>) -> Result<()>;
}

/// Some rows: buffers that are filled again and again.
#[derive(Debug)]
pub(super) struct Part<T> {
    pub pointers: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { pointers: Vec::new(), columns: Vec::new(), values: Vec::new() }
    }
}

impl<T> Part<T> {
    /// No rows, and room for so many with so many entries.
    fn clear(&mut self, rows: usize, entries: usize) -> Result<(), ErrorKind> {
        clear("row pointers", &mut self.pointers, rows + 1)?;
        clear("column indices", &mut self.columns, entries)?;
        clear("values", &mut self.values, entries)?;
        self.pointers.push(0);
        Ok(())
    }
}

/// An empty list with room for so many elements and no more, or an error.
fn clear<V>(what: &'static str, list: &mut Vec<V>, count: usize) -> Result<(), ErrorKind> {
    let bytes = (count as u64).saturating_mul(size_of::<V>() as u64);
    list.clear();
    list.try_reserve_exact(count).map_err(|_| ErrorKind::Memory { what, bytes })
}

/// An error of the file as one of an operator.
pub(super) fn external(error: Error) -> favard_operator::Error {
    favard_operator::Error::external(error)
}

impl<T: Scalar> OnDisk<T> {
    fn take(&self) -> Part<T> {
        // A lock that a panic has poisoned guards nothing but buffers.
        let mut free = self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        free.pop().unwrap_or_default()
    }

    fn give(&self, part: Part<T>) {
        let mut free = self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if free.len() < 2 {
            free.push(part);
        }
    }

    /// Reads rows that follow each other.
    fn fill(&self, rows: Range<usize>, part: &mut Part<T>) -> Result<()> {
        let pointers = &self.pointers[rows.start..=rows.end];
        let (first, last) = (pointers[0], pointers[pointers.len() - 1]);
        part.clear(rows.len(), last - first).map_err(|kind| Error::new(&self.path, kind))?;
        part.pointers.extend(pointers[1..].iter().map(|pointer| pointer - first));
        self.lists.read(first..last, part)
    }

    /// The rows of a part as a matrix, checked once more: `row` tells where one of them is in the file.
    fn matrix<'p>(&self, part: &'p Part<T>, row: impl Fn(usize) -> usize) -> Result<Csr<'p, T>> {
        let shape = (part.pointers.len() - 1, self.cols);
        Csr::new(shape, &part.pointers[..], &part.columns[..], &part.values[..]).map_err(|error| {
            let kind = match *error.kind() {
                Kind::Unsorted { row: at, column, next } => {
                    Kind::Unsorted { row: row(at), column, next }.into()
                }
                _ => error,
            };
            Error::new(&self.path, kind)
        })
    }

    /// Runs `f(rows, their matrix)` on one part after the other, while the next one is read.
    pub(super) fn each(
        &self,
        mut f: impl FnMut(Range<usize>, &Csr<'_, T>) -> favard_operator::Result<()> + Send,
    ) -> favard_operator::Result<()> {
        let (mut this, mut next) = (self.take(), self.take());
        self.fill(self.parts[0].clone(), &mut this).map_err(external)?;
        for (number, rows) in self.parts.iter().enumerate() {
            let (done, read) = rayon::join(
                || {
                    let matrix = self.matrix(&this, |row| rows.start + row).map_err(external)?;
                    f(rows.clone(), &matrix)
                },
                || match self.parts.get(number + 1) {
                    Some(rows) => self.fill(rows.clone(), &mut next),
                    None => Ok(()),
                },
            );
            done?;
            read.map_err(external)?;
            swap(&mut this, &mut next);
        }
        self.give(this);
        self.give(next);
        Ok(())
    }

    /// Runs `f(positions in the list, their matrix)` on some rows in that order, repeats allowed, at
    /// least once and never on more entries than a part has. The rows exist.
    pub(super) fn picked(
        &self,
        rows: &[usize],
        mut f: impl FnMut(Range<usize>, &Csr<'_, T>) -> favard_operator::Result<()>,
    ) -> favard_operator::Result<()> {
        let range = |row: usize| self.pointers[row]..self.pointers[row + 1];
        let (mut part, most, mut from) = (self.take(), self.most(), 0);
        loop {
            let (mut end, mut entries) = (from, 0);
            while end < rows.len() && (end == from || entries + range(rows[end]).len() <= most) {
                entries += range(rows[end]).len();
                end += 1;
            }
            let picked = &rows[from..end];
            let cleared = part.clear(picked.len(), entries);
            cleared.map_err(|kind| external(Error::new(&self.path, kind)))?;
            for &row in picked {
                self.lists.read(range(row), &mut part).map_err(external)?;
                part.pointers.push(part.columns.len());
            }
            f(from..end, &self.matrix(&part, |row| picked[row]).map_err(external)?)?;
            if end == rows.len() {
                break;
            }
            from = end;
        }
        self.give(part);
        Ok(())
    }

    /// A number of one row; NaN when it cannot be read.
    pub(super) fn one(&self, row: usize, f: impl Fn(&Csr<'_, T>) -> T) -> T {
        let mut value = T::nan();
        let read = self.picked(&[row], |_, a| {
            value = f(a);
            Ok(())
        });
        read.map_or(T::nan(), |()| value)
    }
}
