//! [`Description`]: what a file holds, without loading it.

use std::path::PathBuf;

use serde::Serialize;

use crate::format::Format;
use crate::input::Source;

/// How a matrix is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Entries with their places.
    Sparse,
    /// All numbers.
    Dense,
}

/// What a file holds. Shape and entries are those that the header claims, where there is one: only
/// reading the file shows whether they are true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// The file, or the folder.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Bytes on disk (of a folder, of its matrix).
    pub file_bytes: u64,
    /// Rows of the matrix as [`read`](crate::read) gives it.
    pub rows: u64,
    /// Its columns.
    pub cols: u64,
    /// Stored entries; rows × columns of a dense matrix.
    pub entries: u64,
    /// Whether there may be fewer entries: a symmetric file does not say how many are on the
    /// diagonal.
    pub is_upper_bound: bool,
    /// Sparse or dense.
    pub layout: Layout,
    /// The numbers as the file has them: `real`, `integer`, `pattern`, `<f8`, `text`.
    pub dtype: String,
}

impl Description {
    pub(crate) fn new(
        source: &Source<'_>,
        (rows, cols): (u64, u64),
        entries: u64,
        layout: Layout,
        dtype: impl Into<String>,
    ) -> Self {
        Self {
            path: source.path().to_path_buf(),
            // Set by who chose the reader.
            format: Format::MatrixMarket,
            file_bytes: source.len(),
            rows,
            cols,
            entries,
            is_upper_bound: false,
            layout,
            dtype: dtype.into(),
        }
    }

    /// Bytes that the matrix takes in memory with numbers of `width` bytes (4 or 8): 4 more for
    /// each entry and 8 for each row of a sparse one.
    ///
    /// # Example
    /// ```
    /// use favard_io::{Format, ReadOptions, describe_bytes};
    /// let text = b"%%MatrixMarket matrix coordinate real general\n10 20 3\n";
    /// let options = ReadOptions::new().format(Format::MatrixMarket);
    /// let description = describe_bytes("a.mtx", text, &options)?;
    /// assert_eq!(description.memory(8), 3 * 12 + 11 * 8);
    /// # Ok::<(), favard_io::Error>(())
    /// ```
    #[must_use]
    pub fn memory(&self, width: u64) -> u64 {
        match self.layout {
            Layout::Dense => self.entries.saturating_mul(width),
            Layout::Sparse => self
                .entries
                .saturating_mul(width + 4)
                .saturating_add(self.rows.saturating_add(1).saturating_mul(8)),
        }
    }
}
