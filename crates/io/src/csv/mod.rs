//! Tables of numbers in text.

mod fields;
mod form;

use std::ops::ControlFlow;

use favard_operator::Scalar;
use ndarray::Array2;

use crate::csr::reserve;
use crate::describe::{Description, Layout};
use crate::error::{ErrorKind, Result};
use crate::input::{Fault, Piece, Source, parse_lines};
use crate::loaded::{Loaded, Matrix};
use crate::options::ReadOptions;
use crate::text::{byte, line_end};
use fields::Fields;
use form::{Form, check_names, name_bytes};

/// The rows of some lines.
#[derive(Debug, Default)]
struct Rows<T> {
    count: usize,
    values: Vec<T>,
    names: Vec<String>,
}

/// Reads a table.
pub(crate) fn read<T: Scalar>(source: &Source<'_>, options: &ReadOptions) -> Result<Loaded<T>> {
    let form = Form::find(source, options)?;
    let (mut rows, mut values, mut names) = (0, Vec::<T>::new(), Vec::new());
    let mut name_total = 0_u64;
    let absorb = |piece: &mut Piece<Rows<T>>| {
        let parsed = &mut piece.parsed;
        reserve("values", &mut values, parsed.values.len()).map_err(|kind| Fault::new(0, kind))?;
        name_total += name_bytes(parsed.names.len(), parsed.names.iter().map(String::len).sum());
        check_names(source, name_total).map_err(|kind| Fault::new(0, kind))?;
        reserve("names", &mut names, parsed.names.len()).map_err(|kind| Fault::new(0, kind))?;
        rows += parsed.count;
        values.extend_from_slice(&parsed.values);
        names.append(&mut parsed.names);
        Ok(ControlFlow::Continue(()))
    };
    let parse = |text: &[u8], to: &mut Rows<T>| parse(&form, text, to);
    let _ = parse_lines(source, form.start, parse, absorb)?;
    values.shrink_to_fit();
    let wrong = |_| {
        let found = format!("{rows} × {}", form.cols);
        source.error(ErrorKind::Unsupported { what: "shape", found })
    };
    let array = Array2::from_shape_vec((rows, form.cols), values).map_err(wrong)?;
    Ok(Loaded {
        matrix: Matrix::Dense(array),
        row_names: form.has_row_names.then_some(names),
        column_names: form.column_names,
        labels: None,
    })
}

/// Counts the lines.
pub(crate) fn describe(source: &Source<'_>, options: &ReadOptions) -> Result<Description> {
    let form = Form::find(source, options)?;
    let mut rows = 0_u64;
    let count = |text: &[u8], to: &mut u64| {
        let mut at = 0;
        *to = 0;
        while at < text.len() {
            let end = line_end(text, at);
            *to += u64::from(!row_of(&form, &text[at..end]).is_empty());
            at = end + 1;
        }
        Ok(())
    };
    let absorb = |piece: &mut Piece<u64>| {
        rows += piece.parsed;
        Ok(ControlFlow::Continue(()))
    };
    let _ = parse_lines(source, form.start, count, absorb)?;
    let (cols, entries) = (form.cols as u64, rows.saturating_mul(form.cols as u64));
    Ok(Description::new(source, (rows, cols), entries, Layout::Dense, "text"))
}

fn parse<T: Scalar>(form: &Form, text: &[u8], to: &mut Rows<T>) -> Result<(), Fault> {
    to.count = 0;
    to.values.clear();
    to.names.clear();
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = row_of(form, &text[at..end]);
        if !line.is_empty() {
            parse_row(form, line, to)
                .map_err(|fault| Fault { at: at as u64 + fault.at, kind: fault.kind })?;
        }
        at = end + 1;
    }
    Ok(())
}

/// A line without the blanks at its end; empty when it is no row. One of tabs is a row where tabs separate:
/// all of its numbers are missing, as in one of commas.
fn row_of<'a>(form: &Form, line: &'a [u8]) -> &'a [u8] {
    let row = line.trim_ascii_end();
    if row.is_empty() && form.separator == b'\t' && line.contains(&b'\t') { line } else { row }
}

fn parse_row<T: Scalar>(form: &Form, line: &[u8], to: &mut Rows<T>) -> Result<(), Fault> {
    let mut fields = Fields::new(line, form.separator);
    if form.has_row_names {
        to.names.push(fields.name("row name")?);
    }
    let from = to.values.len();
    while let Some(value) = fields.number()? {
        if to.values.len() - from == form.cols {
            let found = form.cols as u64 + 1 + count_rest(&mut fields);
            let (what, expected) = ("values of the row", form.cols as u64);
            return Err(Fault::new(fields.start(), ErrorKind::Count { what, expected, found }));
        }
        to.values.push(value);
    }
    let found = (to.values.len() - from) as u64;
    if found < form.cols as u64 {
        let (what, expected) = ("values of the row", form.cols as u64);
        return Err(Fault::new(line.len(), ErrorKind::Count { what, expected, found }));
    }
    to.count += 1;
    Ok(())
}

fn count_rest(fields: &mut Fields<'_>) -> u64 {
    let start = fields.start();
    let mut count = 0;
    while fields.skip() {
        count += 1;
    }
    fields.set_start(start);
    count
}

/// Whether only blanks are left.
fn is_blank(line: &[u8]) -> bool {
    (0..line.len()).all(|at| matches!(byte(line, at), b' ' | b'\t' | b'\r'))
}
