//! [`OnDisk`]: a matrix that stays in its file.

#[cfg(feature = "h5ad")]
mod h5ad;
mod npz;
mod operator;
mod part;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use favard_operator::Scalar;

use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::input::Source;
use crate::options::ReadOptions;
use crate::read::format;
use part::{Lists, Part};

/// Entries of a part unless said otherwise: 48 MiB of `f64` with their columns.
const PART: usize = 1 << 22;

/// A sparse matrix that stays in its file: every product reads the file once, a part of the rows
/// after the other, the next while this one is multiplied.
///
/// It is an operator like any other: centred, scaled, for `Pca`, for your own solver. Files whose
/// rows can be reached by place are those of SciPy (`scipy.sparse.save_npz(.., compressed=False)`, or
/// [`write_npz_stored`](crate::write_npz_stored)), stored by rows, and AnnData files whose X is stored
/// by rows, packed or not; others are converted first.
///
/// # Memory
/// Two parts and the row pointers, [`memory`](Self::memory) bytes, whatever the file's size.
///
/// # Cost
/// A product reads $(4 + 8)$ bytes an entry (those of the file's own types), then does the work of
/// [`Csr`](favard_operator::Csr) on the part. What is read is checked each time. A solver that takes few
/// passes takes few readings: block Lanczos 10 to 30. Batches of rows are read row by row.
///
/// # Bits
/// The same at any number of threads. They differ from those of the matrix in memory by rounding: sums
/// are taken part by part.
///
/// # Errors of products
/// A file that cannot be read any more, or was changed into no matrix, is an
/// [`External`](favard_operator::ErrorKind::External) error of the product with an
/// [`Error`](crate::Error) inside. `row_norm_squared` and `entry`, which have no way to fail, give NaN.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.npz");
/// use favard_io::OnDisk;
/// use favard_operator::{BlockRef, Csr, Gram, LinearOperator};
/// let a = Csr::new((3, 2), vec![0, 1, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?;
/// favard_io::write_npz_stored(&path, &a)?;
/// let x = OnDisk::<f64>::open(&path)?;
/// let y = Gram::new(&x).multiply(BlockRef::column(&[1.0, 1.0]))?;
/// assert_eq!(y, Gram::new(&a).multiply(BlockRef::column(&[1.0, 1.0]))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OnDisk<T: Scalar> {
    path: PathBuf,
    lists: Box<dyn Lists<T>>,
    pointers: Vec<usize>,
    cols: usize,
    /// Rows of each part; at least one part, which is empty where there are no rows.
    parts: Vec<Range<usize>>,
    /// Parts that nobody uses.
    free: Mutex<Vec<Part<T>>>,
    /// One name for each row, where the file has them.
    pub row_names: Option<Vec<String>>,
    /// One name for each column, where the file has them.
    pub column_names: Option<Vec<String>>,
}

/// What a file says of its matrix.
struct Opened<T> {
    lists: Box<dyn Lists<T>>,
    pointers: Vec<usize>,
    cols: usize,
    row_names: Option<Vec<String>>,
    column_names: Option<Vec<String>>,
}

impl<T: Scalar> OnDisk<T> {
    /// Opens a file: its headers and row pointers are read and checked, the entries are not.
    ///
    /// # Errors
    /// Those of [`read`](crate::read()), as far as they are met; a file of another format, packed, or
    /// not stored by rows is [`Unsupported`](ErrorKind::Unsupported).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &ReadOptions::new())
    }

    /// The same, as the options say.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        let source = Source::open(path, options.limits)?;
        let opened = match format(&source, options)? {
            Format::Npz => npz::open(source)?,
            #[cfg(feature = "h5ad")]
            Format::H5ad => h5ad::open(source)?,
            other => {
                let (what, found) = ("format of a matrix on disk", format!("{other:?}"));
                return Err(source.error(ErrorKind::Unsupported { what, found }));
            }
        };
        let Opened { lists, pointers, cols, row_names, column_names } = opened;
        let (path, free) = (path.to_path_buf(), Mutex::new(Vec::new()));
        let parts = cut(&pointers, PART);
        Ok(Self { path, lists, pointers, cols, parts, free, row_names, column_names })
    }

    /// Parts of at most so many entries, but no less than a row: what is held at a time.
    #[must_use]
    pub fn with_part_entries(mut self, entries: usize) -> Self {
        self.parts = cut(&self.pointers, entries.max(1));
        self
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.pointers.len() - 1, self.cols)
    }

    /// Stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.pointers.last().copied().unwrap_or(0)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Entries of the largest part.
    fn most(&self) -> usize {
        let entries = |rows: &Range<usize>| self.pointers[rows.end] - self.pointers[rows.start];
        self.parts.iter().map(entries).max().unwrap_or(0)
    }

    /// Bytes that it holds at most: the row pointers, two parts, and what is read at a time.
    #[must_use]
    pub fn memory(&self) -> usize {
        let rows = self.parts.iter().map(|rows| rows.len() + 1).max().unwrap_or(0);
        let part = self.most() * (size_of::<u32>() + size_of::<T>()) + rows * size_of::<usize>();
        self.pointers.len() * size_of::<usize>() + 2 * part + part::SCRATCH
    }
}

/// Rows in parts of at most so many entries, at least one row each.
fn cut(pointers: &[usize], entries: usize) -> Vec<Range<usize>> {
    let rows = pointers.len() - 1;
    let (mut parts, mut from) = (Vec::new(), 0);
    while from < rows {
        let full = pointers[from].saturating_add(entries);
        let end = from + pointers[from..].partition_point(|&pointer| pointer <= full) - 1;
        let end = end.clamp(from + 1, rows);
        parts.push(from..end);
        from = end;
    }
    if parts.is_empty() {
        parts.push(0..0);
    }
    parts
}

impl<T: Scalar> fmt::Debug for OnDisk<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDisk")
            .field("path", &self.path)
            .field("shape", &self.shape())
            .field("entries", &self.entries())
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    /// Every row is in one part, in order; none has more entries than asked for unless it is one row.
    #[test]
    fn parts_are_rows_in_order() {
        let pointers = [0, 3, 3, 10, 11, 12, 12];
        for entries in 1..=13 {
            let parts = cut(&pointers, entries);
            let rows: Vec<usize> = parts.iter().cloned().flatten().collect();
            assert_eq!(rows, [0, 1, 2, 3, 4, 5]);
            for part in parts {
                let found = pointers[part.end] - pointers[part.start];
                assert!(found <= entries || part.len() == 1, "{entries}: {part:?} has {found}");
            }
        }
        assert_eq!(cut(&[0], 5).first(), Some(&(0..0)));
        assert_eq!(cut(&[0, 0, 0], 5).first(), Some(&(0..2)));
    }
}
