//! Tables of numbers in text.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::Scalar;
use ndarray::ArrayView2;

use super::number::{check_finite, write_number};
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

    fn write(&self, to: &mut dyn Write, separator: char) -> io::Result<()> {
        if let Some(names) = self.column_names {
            // The corner is empty, as pandas has it.
            let corner = self.row_names.map(|_| "");
            let mut fields = corner.into_iter().chain(names.iter().map(String::as_str));
            if let Some(first) = fields.next() {
                write_field(to, first, separator)?;
            }
            for field in fields {
                write!(to, "{separator}")?;
                write_field(to, field, separator)?;
            }
            writeln!(to)?;
        }
        for (i, row) in self.array.rows().into_iter().enumerate() {
            if let Some(names) = self.row_names {
                write_field(to, &names[i], separator)?;
                write!(to, "{separator}")?;
            }
            for (j, &value) in row.iter().enumerate() {
                if j > 0 {
                    write!(to, "{separator}")?;
                }
                check_finite(value)?;
                write_number(to, value)?;
            }
            writeln!(to)?;
        }
        Ok(())
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
    write_atomic(path, |to| table.write(to, ','))
}

/// Writes a table with tabs; see [`write_csv`].
///
/// # Errors
/// Those of [`write_csv`].
pub fn write_tsv<T: Scalar>(path: impl AsRef<Path>, table: &Table<'_, T>) -> Result<()> {
    table.check(path.as_ref())?;
    write_atomic(path, |to| table.write(to, '\t'))
}

fn write_field(to: &mut dyn Write, field: &str, separator: char) -> io::Result<()> {
    if field.contains(['\n', '\r']) {
        let message = format!("name `{}` has a line break", field.escape_default());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    // Blanks at the ends would be taken for the separator's.
    let is_plain = !field.contains([separator, '"']) && field.trim() == field;
    if is_plain {
        return to.write_all(field.as_bytes());
    }
    write!(to, "\"{}\"", field.replace('"', "\"\""))
}
