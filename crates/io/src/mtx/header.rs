//! The first lines of a Matrix Market file.

use crate::error::{ErrorKind, Result};
use crate::input::{Head, Source};
use crate::text::{digits, end_of_line, expected, skip_blanks, word};

/// How every Matrix Market file starts.
pub(crate) const BANNER: &[u8] = b"%%MatrixMarket";

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    /// No values: each entry is a one.
    Pattern,
}

impl Field {
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::Pattern => "pattern",
        }
    }
}

/// Which entries stand for two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The header of a file.
#[derive(Debug)]
pub(super) struct Header {
    pub is_coordinate: bool,
    pub field: Field,
    pub symmetry: Symmetry,
    pub rows: u64,
    pub cols: u64,
    /// Stated entries; of an array, values.
    pub entries: u64,
    /// Where the body starts.
    pub start: u64,
}

impl Header {
    pub fn read(source: &Source<'_>) -> Result<Self> {
        let mut head = Head::new(source);
        head.advance()?;
        let (is_coordinate, field, symmetry) = banner(&head)?;
        loop {
            if !head.advance()? {
                return Err(head.fault(expected("size line", "rows and columns", b"", 0)));
            }
            let at = skip_blanks(head.line(), 0);
            if at < head.line().len() && head.line()[at] != b'%' {
                break;
            }
        }
        let (rows, at) = size(&head, "rows", 0)?;
        let (cols, at) = size(&head, "columns", at)?;
        let (stated, at) = if is_coordinate { size(&head, "entries", at)? } else { (0, at) };
        end_of_line(head.line(), at).map_err(|fault| head.fault(fault))?;
        if symmetry != Symmetry::General && rows != cols {
            let what = "columns of a symmetric matrix";
            return Err(head.error(0, ErrorKind::Count { what, expected: rows, found: cols }));
        }
        let triangle = |edge: u64| rows.saturating_mul(edge) / 2;
        let entries = match symmetry {
            _ if is_coordinate => stated,
            Symmetry::General => rows.saturating_mul(cols),
            Symmetry::Symmetric => triangle(rows.saturating_add(1)),
            Symmetry::Skew => triangle(rows.saturating_sub(1)),
        };
        let start = head.next_start;
        Ok(Self { is_coordinate, field, symmetry, rows, cols, entries, start })
    }
}

/// `%%MatrixMarket matrix coordinate real general`, in any case.
fn banner(head: &Head<'_>) -> Result<(bool, Field, Symmetry)> {
    let line = head.line();
    let mut at = 0;
    let mut next = || {
        at = skip_blanks(line, at);
        let (start, found) = (at, word(line, at));
        at += found.len();
        (start, found.to_ascii_lowercase())
    };
    let wrong = |start: usize, what, wanted| head.fault(expected(what, wanted, line, start));
    let unsupported = |start: usize, what, found: &[u8]| {
        head.error(start, ErrorKind::Unsupported { what, found: crate::error::shown(found) })
    };
    let (start, found) = next();
    if found != BANNER.to_ascii_lowercase() {
        return Err(wrong(start, "first line", "%%MatrixMarket"));
    }
    let (start, found) = next();
    if found != b"matrix" {
        return Err(wrong(start, "object", "matrix"));
    }
    let (start, found) = next();
    let is_coordinate = match &found[..] {
        b"coordinate" => true,
        b"array" => false,
        _ => return Err(wrong(start, "format", "coordinate or array")),
    };
    let (start, found) = next();
    let field = match &found[..] {
        b"real" | b"double" => Field::Real,
        b"integer" | b"unsigned-integer" => Field::Integer,
        b"pattern" if is_coordinate => Field::Pattern,
        b"complex" => return Err(unsupported(start, "field", &found)),
        _ => return Err(wrong(start, "field", "real, integer or pattern")),
    };
    let (start, found) = next();
    let symmetry = match &found[..] {
        b"general" => Symmetry::General,
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" => Symmetry::Skew,
        b"hermitian" => return Err(unsupported(start, "symmetry", &found)),
        _ => return Err(wrong(start, "symmetry", "general, symmetric or skew-symmetric")),
    };
    Ok((is_coordinate, field, symmetry))
}

/// A number of the size line and where it ends.
fn size(head: &Head<'_>, what: &'static str, at: usize) -> Result<(u64, usize)> {
    let from = skip_blanks(head.line(), at);
    let (value, end) = digits(head.line(), from);
    if end == from {
        return Err(head.fault(expected(what, "a whole number", head.line(), from)));
    }
    Ok((value, end))
}
