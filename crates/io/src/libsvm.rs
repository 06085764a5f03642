//! libsvm files, also called svmlight: `label index:value index:value … # comment`.

use std::ops::ControlFlow;

use favard_operator::Scalar;

use crate::csr::{finish, reserve};
use crate::describe::{Description, Layout};
use crate::error::{ErrorKind, Result};
use crate::input::{Fault, Piece, Source, parse_lines};
use crate::loaded::{Loaded, Matrix};
use crate::options::{Detect, ReadOptions};
use crate::read::{check_columns, check_rows};
use crate::text::{byte, digits, end_of_line, expected, line_end, number, skip_blanks};

/// The rows of some lines.
#[derive(Debug)]
struct Rows<T> {
    labels: Vec<T>,
    /// Entries of each row.
    lengths: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    least: u32,
    most: u32,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        let (labels, values) = (Vec::new(), Vec::new());
        Self { labels, lengths: Vec::new(), columns: Vec::new(), values, least: u32::MAX, most: 0 }
    }
}

/// The least and the largest index that may stand in the file.
struct Bounds {
    low: u64,
    high: u64,
}

impl Bounds {
    fn new(options: &ReadOptions) -> Self {
        let columns = options.columns.map_or(u64::from(u32::MAX), |columns| columns as u64);
        match options.zero_based {
            Detect::Yes => Self { low: 0, high: columns.saturating_sub(1) },
            Detect::No => Self { low: 1, high: columns },
            Detect::Auto => Self { low: 0, high: columns },
        }
    }
}

/// Reads labels and rows.
pub(crate) fn read<T: Scalar>(source: &Source<'_>, options: &ReadOptions) -> Result<Loaded<T>> {
    let bounds = Bounds::new(options);
    let mut all = Rows::<T>::default();
    let mut pointers = vec![0_usize];
    let absorb = |piece: &mut Piece<Rows<T>>| {
        let rows = &piece.parsed;
        let full = |kind| Fault::new(0, kind);
        reserve("row pointers", &mut pointers, rows.lengths.len()).map_err(full)?;
        reserve("labels", &mut all.labels, rows.labels.len()).map_err(full)?;
        reserve("column indices", &mut all.columns, rows.columns.len()).map_err(full)?;
        reserve("values", &mut all.values, rows.values.len()).map_err(full)?;
        let mut end = all.columns.len();
        pointers.extend(rows.lengths.iter().map(|length| {
            end += length;
            end
        }));
        all.labels.extend_from_slice(&rows.labels);
        all.columns.extend_from_slice(&rows.columns);
        all.values.extend_from_slice(&rows.values);
        (all.least, all.most) = (all.least.min(rows.least), all.most.max(rows.most));
        // A row without entries costs the file two bytes and the memory sixteen.
        let (found, entries) = (all.labels.len() as u64, all.columns.len() as u64);
        check_rows(source.limits(), found, entries).map_err(full)?;
        Ok(ControlFlow::Continue(()))
    };
    let parse = |text: &[u8], rows: &mut Rows<T>| parse(&bounds, text, rows);
    let _ = parse_lines(source, start(source)?, parse, absorb)?;
    let (offset, cols) = columns(source, options, all.least, all.most)?;
    let Rows { labels, mut columns, mut values, .. } = all;
    // Who states the columns means them.
    if options.columns.is_none() {
        check_columns(source.limits(), cols as u64, columns.len() as u64)
            .map_err(|kind| source.error(kind))?;
    }
    if offset > 0 {
        columns.iter_mut().for_each(|column| *column -= offset);
    }
    columns.shrink_to_fit();
    values.shrink_to_fit();
    let csr = finish(cols, pointers, columns, values).map_err(|kind| source.error(kind))?;
    Ok(Loaded { labels: Some(labels), ..Loaded::unnamed(Matrix::Sparse(csr)) })
}

/// Reads the file once, keeping nothing.
pub(crate) fn describe(source: &Source<'_>, options: &ReadOptions) -> Result<Description> {
    let bounds = Bounds::new(options);
    let (mut rows, mut entries, mut least, mut most) = (0, 0, u32::MAX, 0);
    let absorb = |piece: &mut Piece<Rows<f64>>| {
        let part = &piece.parsed;
        (rows, entries) = (rows + part.lengths.len() as u64, entries + part.columns.len() as u64);
        (least, most) = (least.min(part.least), most.max(part.most));
        Ok(ControlFlow::Continue(()))
    };
    let parse = |text: &[u8], rows: &mut Rows<f64>| parse(&bounds, text, rows);
    let _ = parse_lines(source, start(source)?, parse, absorb)?;
    let (_, cols) = columns(source, options, least, most)?;
    Ok(Description::new(source, (rows, cols as u64), entries, Layout::Sparse, "text"))
}

/// Behind the byte order mark, if there is one.
fn start(source: &Source<'_>) -> Result<u64> {
    let mut head = crate::input::Head::new(source);
    head.advance()?;
    Ok(head.line_start)
}

/// What to subtract from the indices, and the number of columns.
fn columns(
    source: &Source<'_>,
    options: &ReadOptions,
    least: u32,
    most: u32,
) -> Result<(u32, usize)> {
    let is_zero_based = match options.zero_based {
        Detect::Yes => true,
        Detect::No => false,
        Detect::Auto => least == 0,
    };
    let is_empty = least > most;
    let needed = if is_empty { 0 } else { most as usize + usize::from(is_zero_based) };
    let cols = options.columns.unwrap_or(needed);
    if cols < needed {
        let (what, found) = ("column index", most.to_string());
        let high = (cols as u64).saturating_sub(1);
        return Err(source.error(ErrorKind::Range { what, low: 0, high, found }));
    }
    Ok((u32::from(!is_zero_based), cols))
}

fn parse<T: Scalar>(bounds: &Bounds, text: &[u8], rows: &mut Rows<T>) -> Result<(), Fault> {
    rows.labels.clear();
    rows.lengths.clear();
    rows.columns.clear();
    rows.values.clear();
    (rows.least, rows.most) = (u32::MAX, 0);
    let mut at = 0;
    while at < text.len() {
        at = skip_blanks(text, at);
        match byte(text, at) {
            b'\n' | b'\r' => at = end_of_line(text, at)?,
            b'#' => at = line_end(text, at) + 1,
            _ => at = parse_row(bounds, text, at, rows)?,
        }
    }
    Ok(())
}

fn parse_row<T: Scalar>(
    bounds: &Bounds,
    text: &[u8],
    at: usize,
    rows: &mut Rows<T>,
) -> Result<usize, Fault> {
    let (label, mut at) = number(text, at)?;
    if !byte(text, at).is_ascii_whitespace() {
        return Err(expected("label", "a number", text, at));
    }
    let before = rows.columns.len();
    let end = loop {
        at = skip_blanks(text, at);
        match byte(text, at) {
            b'\n' | b'\r' => break end_of_line(text, at)?,
            b'#' => break line_end(text, at) + 1,
            b'q' if text[at..].starts_with(b"qid:") => {
                at = digits(text, at + 4).1;
                continue;
            }
            _ => {}
        }
        let (index, colon) = digits(text, at);
        if colon == at || byte(text, colon) != b':' {
            return Err(expected("entry", "index:value", text, at));
        }
        let column =
            u32::try_from(index).ok().filter(|_| (bounds.low..=bounds.high).contains(&index));
        let Some(column) = column else {
            let (what, found) = ("column index", crate::error::shown(&text[at..colon]));
            let (low, high) = (bounds.low, bounds.high);
            return Err(Fault::new(at, ErrorKind::Range { what, low, high, found }));
        };
        let (value, end) = number(text, colon + 1)?;
        if !byte(text, end).is_ascii_whitespace() {
            return Err(expected("value", "a number", text, colon + 1));
        }
        (rows.least, rows.most) = (rows.least.min(column), rows.most.max(column));
        rows.columns.push(column);
        rows.values.push(value);
        at = end;
    };
    rows.labels.push(label);
    rows.lengths.push(rows.columns.len() - before);
    Ok(end)
}
