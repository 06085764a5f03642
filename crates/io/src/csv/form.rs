//! [`Form`]: what a table looks like.

use super::fields::Fields;
use super::is_blank;
use crate::csr::reserve;
use crate::error::{ErrorKind, Result};
use crate::format::extension;
use crate::input::{Head, Source};
use crate::options::{Detect, ReadOptions};
use crate::text::is_number;

/// How a table is to be read.
#[derive(Debug)]
pub(super) struct Form {
    pub separator: u8,
    pub has_row_names: bool,
    pub column_names: Option<Vec<String>>,
    /// Numbers in a row.
    pub cols: usize,
    /// Where the first row starts.
    pub start: u64,
}

impl Form {
    /// Looks at the first two lines that are not blank.
    pub fn find(source: &Source<'_>, options: &ReadOptions) -> Result<Self> {
        let mut head = Head::new(source);
        if !next_line(&mut head)? {
            return Err(source.error(ErrorKind::Empty));
        }
        check_line_end(&head)?;
        let separator = options.separator.unwrap_or_else(|| guess(source, head.line()));
        let first = Line::look(&head, separator)?;
        let first_start = head.line_start;
        let after_first = head.next_start;
        let second = if next_line(&mut head)? { Some(Line::look(&head, separator)?) } else { None };
        // The header of R has no field above the row names.
        let is_shorter = second.is_some_and(|second| second.fields == first.fields + 1);
        let is_corner_empty = first.corner == Corner::Empty && first.fields > 1;
        let has_header = match options.header {
            Detect::Yes => true,
            Detect::No => false,
            Detect::Auto if first.fields == 1 => is_shorter || first.corner != Corner::Number,
            Detect::Auto => is_shorter || is_corner_empty || first.has_word,
        };
        let row = if has_header { second } else { Some(first) };
        let fields = row.map_or(first.fields, |row| row.fields);
        let has_row_names = match options.row_names {
            Detect::Yes => true,
            Detect::No => false,
            Detect::Auto => {
                fields > 1
                    && ((has_header && (is_shorter || is_corner_empty))
                        || row.is_some_and(|row| row.corner == Corner::Word))
            }
        };
        let cols = fields - usize::from(has_row_names);
        let corner = usize::from(has_row_names && first.fields == fields);
        let found = first.fields - corner;
        if has_header && found != cols {
            let (what, expected, found) = ("column names", cols as u64, found as u64);
            return Err(source.fault(crate::input::Fault {
                at: first_start,
                kind: ErrorKind::Count { what, expected, found },
            }));
        }
        let column_names =
            if has_header { Some(names(source, separator, corner, cols)?) } else { None };
        let start = if has_header { after_first } else { first_start };
        Ok(Self { separator, has_row_names, column_names, cols, start })
    }
}

fn next_line(head: &mut Head<'_>) -> Result<bool> {
    while head.advance()? {
        if !is_blank(head.line()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `Ok` when the line ends where a newline is: a return inside of it ends the lines of an old Mac, and
/// the whole file would be one of names.
fn check_line_end(head: &Head<'_>) -> Result<()> {
    match memchr::memchr(b'\r', head.line()) {
        None => Ok(()),
        Some(at) => {
            let found = "\\r without \\n".to_owned();
            Err(head.error(at, ErrorKind::Unsupported { what: "end of a line", found }))
        }
    }
}

/// The separator that a first line has outside of quotes, unless the name says it.
fn guess(source: &Source<'_>, line: &[u8]) -> u8 {
    // A doubled quote leaves the quotes and enters them again.
    let has =
        |byte: u8| line.split(|&byte| byte == b'"').step_by(2).any(|part| part.contains(&byte));
    match &*extension(source.path()) {
        "tsv" | "tab" => b'\t',
        _ if has(b'\t') => b'\t',
        _ if has(b',') => b',',
        _ if has(b';') => b';',
        _ if has(b' ') => b' ',
        _ => b',',
    }
}

/// What the first field of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Corner {
    Number,
    Empty,
    /// It says that a number is missing: it may be a name, and does not show that it is.
    Missing,
    Word,
}

impl Corner {
    fn of(field: &[u8]) -> Self {
        match field {
            b"" => Self::Empty,
            _ if is_number(field) => Self::Number,
            _ if is_missing(field) => Self::Missing,
            _ => Self::Word,
        }
    }
}

/// What is seen of a line. Its fields are not kept: a line of many short ones would take many times
/// its own size.
#[derive(Debug, Clone, Copy)]
struct Line {
    fields: usize,
    corner: Corner,
    /// Another field is no number.
    has_word: bool,
}

impl Line {
    fn look(head: &Head<'_>, separator: u8) -> Result<Self> {
        // A tab at the end of a line is an empty field; blanks are not.
        let mut fields = Fields::new(head.line(), separator);
        let (mut count, mut corner, mut has_word) = (0, Corner::Empty, false);
        while let Some(field) = fields.text().map_err(|fault| head.fault(fault))? {
            if std::str::from_utf8(&field).is_err() {
                let kind = ErrorKind::Encoding { what: "field" };
                return Err(head.error(fields.start(), kind));
            }
            if count == 0 {
                corner = Corner::of(&field);
            } else {
                has_word |= !is_number(&field);
            }
            count += 1;
        }
        Ok(Self { fields: count, corner, has_word })
    }
}

/// Whether a field is what pandas, R and databases write where there is no number.
fn is_missing(field: &[u8]) -> bool {
    let marks = ["NA", "<NA>", "N/A", "#N/A", "NULL", "None", "?", ".", "-"];
    marks.iter().any(|mark| field.eq_ignore_ascii_case(mark.as_bytes()))
}

/// The fields of the first line behind the corner.
fn names(source: &Source<'_>, separator: u8, corner: usize, count: usize) -> Result<Vec<String>> {
    let mut head = Head::new(source);
    next_line(&mut head)?;
    let bytes = name_bytes(count, head.line().len());
    check_names(source, bytes).map_err(|kind| head.error(0, kind))?;
    let mut fields = Fields::new(head.line(), separator);
    let mut list = Vec::new();
    reserve("column names", &mut list, count).map_err(|kind| source.error(kind))?;
    for field in 0..corner + count {
        let name = fields.name("field").map_err(|fault| head.fault(fault))?;
        if field >= corner {
            list.push(name);
        }
    }
    Ok(list)
}

/// Bytes that so many names take which have so many bytes together.
pub(super) fn name_bytes(count: usize, text: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<String>() as u64).saturating_add(text as u64)
}

/// `Ok` when the names of a packed file take no more memory than it may become: two bytes of a
/// text are a name, which takes 24.
pub(super) fn check_names(source: &Source<'_>, found: u64) -> Result<(), ErrorKind> {
    let limit = source.limits().expanded(source.len());
    if source.is_gzip() && found > limit {
        let (what, field) = ("bytes of the names", "expansion");
        return Err(ErrorKind::Limit { what, found, limit, field });
    }
    Ok(())
}
