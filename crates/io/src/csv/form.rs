//! [`Form`]: what a table looks like.

use super::fields::Fields;
use super::is_blank;
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
        let separator = options.separator.unwrap_or_else(|| guess(source, head.line()));
        let first = fields(&head, separator)?;
        let first_start = head.line_start;
        let after_first = head.next_start;
        let second = if next_line(&mut head)? { Some(fields(&head, separator)?) } else { None };
        // The header of R has no field above the row names.
        let is_shorter = second.as_ref().is_some_and(|second| second.len() == first.len() + 1);
        let is_corner_empty = first[0].is_empty() && first.len() > 1;
        let is_word = |field: &String| !is_number(field.as_bytes());
        let has_header = match options.header {
            Detect::Yes => true,
            Detect::No => false,
            Detect::Auto if first.len() == 1 => is_shorter || is_word(&first[0]),
            Detect::Auto => is_shorter || is_corner_empty || first[1..].iter().any(is_word),
        };
        let row = if has_header { second } else { Some(first.clone()) };
        let fields = row.as_ref().map_or(first.len(), Vec::len);
        let has_row_names = match options.row_names {
            Detect::Yes => true,
            Detect::No => false,
            Detect::Auto => {
                fields > 1
                    && ((has_header && (is_shorter || is_corner_empty))
                        || row.is_some_and(|row| is_word(&row[0])))
            }
        };
        let cols = fields - usize::from(has_row_names);
        let column_names = has_header.then(|| {
            let corner = usize::from(has_row_names && first.len() == fields);
            first[corner..].to_vec()
        });
        if let Some(names) = column_names.as_ref().filter(|names| names.len() != cols) {
            let (what, expected, found) = ("column names", cols as u64, names.len() as u64);
            return Err(source.fault(crate::input::Fault {
                at: first_start,
                kind: ErrorKind::Count { what, expected, found },
            }));
        }
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

/// The separator that a first line has, unless the name says it.
fn guess(source: &Source<'_>, line: &[u8]) -> u8 {
    let has = |byte: u8| line.contains(&byte);
    match &*extension(source.path()) {
        "tsv" | "tab" => b'\t',
        _ if has(b'\t') => b'\t',
        _ if has(b',') => b',',
        _ if has(b';') => b';',
        _ if has(b' ') => b' ',
        _ => b',',
    }
}

fn fields(head: &Head<'_>, separator: u8) -> Result<Vec<String>> {
    // A tab at the end of a line is an empty field; blanks are not.
    let mut fields = Fields::new(head.line(), separator);
    let mut list = Vec::new();
    while fields.has_next() {
        list.push(fields.name("field").map_err(|fault| head.fault(fault))?);
    }
    Ok(list)
}
