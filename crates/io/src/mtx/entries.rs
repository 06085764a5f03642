//! [`Entries`]: what is made of some lines of a sparse file.

use favard_operator::Scalar;

use super::header::{Field, Header, Symmetry};
use super::line::{WINDOW, line};
use crate::csr::Entry;
use crate::error::{ErrorKind, Result, shown};
use crate::input::Fault;
use crate::text::{
    Lanes, Task, byte, digits, dispatch, end_of_line, expected, line_end, number, skip_blanks,
};

/// The entries of some lines, rows and columns counted from 0, mirrored ones included.
#[derive(Debug)]
pub(super) struct Entries<T> {
    pub list: Vec<Entry<T>>,
    /// Lines with an entry: mirrored entries are not counted.
    pub stated: u64,
    pub order: Order,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self { list: Vec::new(), stated: 0, order: Order::Increasing }
    }
}

/// How entries follow each other, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// By rows, and by columns in each row, none twice.
    Increasing,
    /// By rows.
    ByRows,
    /// Not by rows.
    Other,
}

impl Order {
    /// The order of a list.
    pub fn of<T>(list: &[Entry<T>]) -> Self {
        // Without a way out of the loops, they are compiled to vector code.
        let pairs = || list.iter().zip(list.get(1..).unwrap_or_default());
        if pairs().fold(true, |so_far, (a, b)| so_far & (a.place() < b.place())) {
            Self::Increasing
        } else if pairs().fold(true, |so_far, (a, b)| so_far & (a.row <= b.row)) {
            Self::ByRows
        } else {
            Self::Other
        }
    }
}

/// Reads the lines of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'h> {
    pub header: &'h Header,
    pub is_transposed: bool,
}

struct Lines<'r, 't, T, const HAS_VALUE: bool> {
    reader: Reader<'r>,
    text: &'t [u8],
    entries: &'t mut Entries<T>,
}

impl<T: Scalar, const HAS_VALUE: bool> Task for Lines<'_, '_, T, HAS_VALUE> {
    type Output = Result<(), Fault>;

    // What carries the instruction set into the loop.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Result<(), Fault> {
        let Self { reader, text, entries } = self;
        let Header { rows, cols, .. } = *reader.header;
        let mut at = 0;
        while let Some(window) = text.get(at..).and_then(<[u8]>::first_chunk::<WINDOW>) {
            if let Some(line) = line::<L, HAS_VALUE>(lanes, window) {
                let [row, col] = [line.row, line.col].map(|index| u64::from(index).wrapping_sub(1));
                let value = T::of(line.value);
                if (row < rows) & (col < cols) & value.is_finite()
                    && reader.push(entries, row, col, value)
                {
                    at += line.length;
                    continue;
                }
            }
            at = reader.slow_line::<T, HAS_VALUE>(text, at, entries)?;
        }
        while at < text.len() {
            at = reader.slow_line::<T, HAS_VALUE>(text, at, entries)?;
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Overwrites the entries with those of whole lines.
    pub fn parse<T: Scalar>(
        self,
        text: &[u8],
        entries: &mut Entries<T>,
    ) -> Result<(), Fault> {
        entries.list.clear();
        entries.stated = 0;
        if self.header.field == Field::Pattern {
            dispatch(Lines::<T, false> { reader: self, text, entries })?;
        } else {
            dispatch(Lines::<T, true> { reader: self, text, entries })?;
        }
        entries.order = Order::of(&entries.list);
        Ok(())
    }

    /// Any line: blank, a comment, an entry in whatever form, or the fault that is in it. Gives the
    /// start of the next one.
    #[inline(never)]
    fn slow_line<T: Scalar, const HAS_VALUE: bool>(
        self,
        text: &[u8],
        at: usize,
        entries: &mut Entries<T>,
    ) -> Result<usize, Fault> {
        let Header { rows, cols, .. } = *self.header;
        let start = skip_blanks(text, at);
        let (row, end) = digits(text, start);
        if end == start {
            return no_entry(text, start);
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
        let (value, end) = if HAS_VALUE { value(text, end)? } else { (T::one(), end) };
        let next = end_of_line(text, end)?;
        if self.push(entries, row - 1, col - 1, value) {
            Ok(next)
        } else {
            Err(expected("skew-symmetric matrix", "no diagonal", text, start))
        }
    }

    /// Appends an entry, and the mirrored one where there is one; `false` for one that a
    /// skew-symmetric matrix cannot have.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn push<T: Scalar>(self, entries: &mut Entries<T>, row: u64, col: u64, value: T) -> bool {
        // Below the rows and columns, of which there are at most 2^32.
        #[allow(clippy::cast_possible_truncation)]
        let (row, col) = (row as u32, col as u32);
        let (row, column) = if self.is_transposed { (col, row) } else { (row, col) };
        let symmetry = self.header.symmetry;
        if symmetry != Symmetry::General {
            let is_skew = symmetry == Symmetry::Skew;
            if row != column {
                let value = if is_skew { -value } else { value };
                entries.list.push(Entry { row: column, column: row, value });
            } else if is_skew && value != T::zero() {
                return false;
            }
        }
        entries.list.push(Entry { row, column, value });
        entries.stated += 1;
        true
    }
}

fn value<T: Scalar>(text: &[u8], at: usize) -> Result<(T, usize), Fault> {
    let from = skip_blanks(text, at);
    if from == at {
        return Err(expected("value", "a blank and a number", text, at));
    }
    number(text, from)
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
    let found = shown(&text[at..end]);
    Fault::new(at, ErrorKind::Range { what, low: 1, high, found })
}

/// Where the line of the entry with that number (from 0) starts.
pub(super) fn line_of_entry(text: &[u8], number: u64) -> usize {
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
