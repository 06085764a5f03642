//! The entries of a sparse Matrix Market file.

use std::ops::ControlFlow;

use favard_operator::{Csr, Scalar};

use super::header::{Field, Header, Symmetry};
use crate::csr::{self, Scatter, zeros};
use crate::error::{ErrorKind, Result};
use crate::input::{Fault, Piece, Source, parse_lines};
use crate::read::{check_columns, check_rows};
use crate::text::{byte, digits, end_of_line, expected, line_end, number, skip_blanks};

/// The entries of some lines, rows and columns counted from 0.
#[derive(Debug, Default)]
struct Entries<T> {
    /// Lines with an entry: mirrored entries are not counted.
    stated: u64,
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<T>,
}

/// What the lines are read with.
struct Plan<'s> {
    source: &'s Source<'s>,
    header: &'s Header,
    is_transposed: bool,
    rows: usize,
    cols: usize,
    /// The stated entries, or fewer where the file cannot hold so many.
    possible: usize,
}

/// Reads the matrix, or its transpose.
///
/// Entries that come in the order of the rows are appended as they are read. Otherwise the file is
/// read twice: the entries of each row are counted, then put in their places. In both cases the
/// matrix itself is all that is held, besides the few lines that are being parsed.
pub(super) fn read<T: Scalar>(
    source: &Source<'_>,
    header: &Header,
    is_transposed: bool,
) -> Result<Csr<'static, T>> {
    let plan = Plan::new(source, header, is_transposed)?;
    if header.symmetry == Symmetry::General
        && let Some(csr) = plan.append()?
    {
        return Ok(csr);
    }
    plan.scatter()
}

impl<'s> Plan<'s> {
    fn new(source: &'s Source<'s>, header: &'s Header, is_transposed: bool) -> Result<Self> {
        let Header { rows, cols, .. } = *header;
        let (rows, cols) = if is_transposed { (cols, rows) } else { (rows, cols) };
        // Two digits and a blank, and with a value another digit and a blank.
        let shortest = if header.field == Field::Pattern { 4 } else { 6 };
        let possible = header.entries.min(source.most_bytes() / shortest + 1);
        let fail = |kind| source.error(kind);
        check_rows(source.limits(), rows, possible).map_err(fail)?;
        check_columns(source.limits(), cols, possible).map_err(fail)?;
        let [rows, cols, possible] =
            [rows, cols, possible].map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        Ok(Self { source, header, is_transposed, rows, cols, possible })
    }

    /// The matrix of a file whose rows do not decrease; `None` for any other.
    fn append<T: Scalar>(&self) -> Result<Option<Csr<'static, T>>> {
        let fail = |kind| self.source.error(kind);
        let mut pointers = zeros("row pointers", 0_usize, self.rows + 1).map_err(fail)?;
        let (mut columns, mut values) = (Vec::<u32>::new(), Vec::<T>::new());
        if !self.source.is_gzip() {
            csr::reserve("column indices", &mut columns, self.possible).map_err(fail)?;
            csr::reserve("values", &mut values, self.possible).map_err(fail)?;
        }
        let (mut last, mut stated) = (0, 0);
        let absorb = |piece: &mut Piece<Entries<T>>| {
            self.count(piece, &mut stated)?;
            let entries = &piece.parsed;
            for &row in &entries.rows {
                if row < last {
                    return Ok(ControlFlow::Break(()));
                }
                last = row;
                pointers[row as usize + 1] += 1;
            }
            let full = |kind| Fault::new(0, kind);
            csr::reserve("column indices", &mut columns, entries.rows.len()).map_err(full)?;
            csr::reserve("values", &mut values, entries.rows.len()).map_err(full)?;
            columns.extend_from_slice(&entries.columns);
            values.extend_from_slice(&entries.values);
            Ok(ControlFlow::Continue(()))
        };
        let parse = |text: &[u8], entries: &mut Entries<T>| self.parse(text, entries);
        if parse_lines(self.source, self.header.start, parse, absorb)?.is_break() {
            return Ok(None);
        }
        self.check_total(stated)?;
        csr::add_up(&mut pointers);
        columns.shrink_to_fit();
        values.shrink_to_fit();
        csr::finish(self.cols, pointers, columns, values).map(Some).map_err(fail)
    }

    /// The matrix of any file, in two passes.
    fn scatter<T: Scalar>(&self) -> Result<Csr<'static, T>> {
        let fail = |kind| self.source.error(kind);
        let mut pointers = zeros("row pointers", 0_usize, self.rows + 1).map_err(fail)?;
        let mut stated = 0;
        let absorb = |piece: &mut Piece<Entries<T>>| {
            self.count(piece, &mut stated)?;
            for &row in &piece.parsed.rows {
                pointers[row as usize + 1] += 1;
            }
            Ok(ControlFlow::Continue(()))
        };
        let parse = |text: &[u8], entries: &mut Entries<T>| self.parse_rows(text, entries);
        let _ = parse_lines(self.source, self.header.start, parse, absorb)?;
        self.check_total(stated)?;
        let mut scatter = Scatter::new(pointers).map_err(fail)?;
        let absorb = |piece: &mut Piece<Entries<T>>| {
            let Entries { rows, columns, values, .. } = &piece.parsed;
            scatter.place(rows, columns, values);
            Ok(ControlFlow::Continue(()))
        };
        let parse = |text: &[u8], entries: &mut Entries<T>| self.parse(text, entries);
        let _ = parse_lines(self.source, self.header.start, parse, absorb)?;
        scatter.finish(self.cols).map_err(fail)
    }

    /// Counts stated entries; a fault where the first one too many stands.
    fn count<T>(&self, piece: &Piece<Entries<T>>, stated: &mut u64) -> Result<(), Fault> {
        let (before, expected) = (*stated, self.header.entries);
        *stated += piece.parsed.stated;
        if *stated <= expected {
            return Ok(());
        }
        let at = line_of_entry(piece.text(), expected - before);
        Err(Fault::new(at, ErrorKind::Count { what: "entries", expected, found: expected + 1 }))
    }

    /// `Ok` when the file holds what it stated; else a fault at its end.
    fn check_total(&self, found: u64) -> Result<()> {
        let expected = self.header.entries;
        if found == expected {
            return Ok(());
        }
        let kind = ErrorKind::Count { what: "entries", expected, found };
        Err(self.source.fault(Fault { at: u64::MAX, kind }))
    }

    fn parse<T: Scalar>(&self, text: &[u8], entries: &mut Entries<T>) -> Result<(), Fault> {
        match self.header.field {
            Field::Pattern => self.scan(text, entries, |_, at| Ok((T::one(), at))),
            _ => self.scan(text, entries, |text, at| {
                let from = skip_blanks(text, at);
                if from == at {
                    return Err(expected("value", "a blank and a number", text, at));
                }
                number(text, from)
            }),
        }
    }

    /// Only the rows: what comes behind the indices is checked in the other pass.
    fn parse_rows<T: Scalar>(&self, text: &[u8], entries: &mut Entries<T>) -> Result<(), Fault> {
        self.scan(text, entries, |text, at| Ok((T::zero(), line_end(text, at))))
    }

    #[inline]
    fn scan<T: Scalar>(
        &self,
        text: &[u8],
        entries: &mut Entries<T>,
        value: impl Fn(&[u8], usize) -> Result<(T, usize), Fault>,
    ) -> Result<(), Fault> {
        let Header { rows, cols, symmetry, .. } = *self.header;
        let Entries { rows: to_rows, columns: to_columns, values: to_values, stated } = entries;
        to_rows.clear();
        to_columns.clear();
        to_values.clear();
        *stated = 0;
        let mut at = 0;
        while at < text.len() {
            let start = skip_blanks(text, at);
            let (row, end) = digits(text, start);
            if end == start {
                at = no_entry(text, start)?;
                continue;
            }
            if row.wrapping_sub(1) >= rows {
                return Err(outside("row index", rows, text, start));
            }
            let from = skip_blanks(text, end);
            let (col, end) = digits(text, from);
            if end == from {
                return Err(expected("column index", "a whole number", text, from));
            }
            if col.wrapping_sub(1) >= cols {
                return Err(outside("column index", cols, text, from));
            }
            let (value, end) = value(text, end)?;
            at = end_of_line(text, end)?;
            *stated += 1;
            // Both are at most 2^32, and lose 1.
            #[allow(clippy::cast_possible_truncation)]
            let (row, col) = ((row - 1) as u32, (col - 1) as u32);
            let (row, col) = if self.is_transposed { (col, row) } else { (row, col) };
            to_rows.push(row);
            to_columns.push(col);
            to_values.push(value);
            if symmetry == Symmetry::General {
                continue;
            }
            if row != col {
                to_rows.push(col);
                to_columns.push(row);
                to_values.push(if symmetry == Symmetry::Skew { -value } else { value });
            } else if symmetry == Symmetry::Skew && value != T::zero() {
                return Err(expected("skew-symmetric matrix", "no diagonal", text, start));
            }
        }
        Ok(())
    }
}

/// The next line, when this one is blank or a comment.
fn no_entry(text: &[u8], at: usize) -> Result<usize, Fault> {
    match byte(text, at) {
        b'\n' | b'\r' => end_of_line(text, at),
        b'%' => Ok(line_end(text, at) + 1),
        _ => Err(expected("row index", "a whole number", text, at)),
    }
}

#[cold]
fn outside(what: &'static str, high: u64, text: &[u8], at: usize) -> Fault {
    let end = digits(text, at).1;
    let found = crate::error::shown(&text[at..end]);
    Fault::new(at, ErrorKind::Range { what, low: 1, high, found })
}

/// Where the line of the entry with that number (from 0) starts.
fn line_of_entry(text: &[u8], number: u64) -> usize {
    let (mut at, mut left) = (0, number);
    while at < text.len() {
        let start = skip_blanks(text, at);
        if byte(text, start).is_ascii_digit() {
            if left == 0 {
                return start;
            }
            left -= 1;
        }
        at = line_end(text, at) + 1;
    }
    at
}
