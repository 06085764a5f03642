//! Tables of numbers in text.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::Scalar;
use ndarray::ArrayView2;

use super::number::push_number;
use super::pieces::write_pieces;
use super::write_atomic;
use crate::error::{Error, ErrorKind, Result};

/// A matrix with the names to be written with it.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a, T> {
    array: ArrayView2<'a, T>,
    row_names: Option<&'a [String]>,
    column_names: Option<&'a [String]>,
}

impl<'a, T: Scalar> Table<'a, T> {
    /// A table without names.
    #[must_use]
    pub fn new(array: ArrayView2<'a, T>) -> Self {
        Self { array, row_names: None, column_names: None }
    }

    /// One name for each row, or none.
    #[must_use]
    pub fn row_names(mut self, names: Option<&'a [String]>) -> Self {
        self.row_names = names;
        self
    }

    /// One name for each column, or none.
    #[must_use]
    pub fn column_names(mut self, names: Option<&'a [String]>) -> Self {
        self.column_names = names;
        self
    }

    fn check(&self, path: &Path) -> Result<()> {
        let (rows, cols) = self.array.dim();
        let lists =
            [("row names", self.row_names, rows), ("column names", self.column_names, cols)];
        for (what, names, expected) in lists {
            let found = names.map_or(expected, <[String]>::len) as u64;
            let expected = expected as u64;
            if found != expected {
                return Err(Error::new(path, ErrorKind::Count { what, expected, found }));
            }
        }
        Ok(())
    }

    fn write(&self, to: &mut dyn Write, separator: u8) -> io::Result<()> {
        let (rows, cols) = self.array.dim();
        let mut text = Vec::new();
        if let Some(names) = self.column_names {
            // The corner is empty, as pandas has it.
            let corner = self.row_names.map(|_| "");
            let fields = corner.into_iter().chain(names.iter().map(String::as_str));
            for (j, field) in fields.enumerate() {
                if j > 0 {
                    text.push(separator);
                }
                push_field(&mut text, field, separator)?;
            }
            text.push(b'\n');
            to.write_all(&text)?;
        }
        // A row without columns has its end alone.
        let width = cols.max(1);
        write_pieces(to, rows * width, &|range, text| {
            let (mut i, mut j) = (range.start / width, range.start % width);
            for _ in range {
                match self.row_names {
                    Some(names) if j == 0 => {
                        push_field(text, &names[i], separator)?;
                        text.push(separator);
                    }
                    _ if j > 0 => text.push(separator),
                    _ => {}
                }
                if cols > 0 {
                    push_number(text, self.array[[i, j]])?;
                }
                j += 1;
                if j == width {
                    text.push(b'\n');
                    (i, j) = (i + 1, 0);
                }
            }
            Ok(())
        })
    }
}

/// Writes a table with commas, names kept; see [`write_atomic`].
///
/// Each number is the shortest text that reads back as the same number. Names are quoted where they
/// have to be.
///
/// # Errors
/// What the system says; names that are too many, too few or have line breaks; numbers that are not
/// finite.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// use favard_io::{Table, write_csv};
/// let (cells, axes) = (["a".to_owned(), "b, c".to_owned()], ["PC1".to_owned()]);
/// let scores = ndarray::array![[0.5], [-2.0]];
/// let table = Table::new(scores.view()).row_names(Some(&cells)).column_names(Some(&axes));
/// write_csv(&path, &table)?;
/// assert_eq!(std::fs::read_to_string(&path)?, ",PC1\na,0.5\n\"b, c\",-2\n");
/// assert_eq!(favard_io::read::<f64>(&path)?.row_names.as_deref(), Some(&cells[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_csv<T: Scalar>(path: impl AsRef<Path>, table: &Table<'_, T>) -> Result<()> {
    table.check(path.as_ref())?;
    write_atomic(path, |to| table.write(to, b','))
}

/// Writes a table with tabs; see [`write_csv`].
///
/// # Errors
/// Those of [`write_csv`].
pub fn write_tsv<T: Scalar>(path: impl AsRef<Path>, table: &Table<'_, T>) -> Result<()> {
    table.check(path.as_ref())?;
    write_atomic(path, |to| table.write(to, b'\t'))
}

fn push_field(to: &mut Vec<u8>, field: &str, separator: u8) -> io::Result<()> {
    if field.contains(['\n', '\r']) {
        let message = format!("name `{}` has a line break", field.escape_default());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    // Blanks at the ends would be taken for the separator's.
    let is_plain = !field.contains([char::from(separator), '"']) && field.trim() == field;
    if is_plain {
        to.extend_from_slice(field.as_bytes());
        return Ok(());
    }
    write!(to, "\"{}\"", field.replace('"', "\"\""))
}
