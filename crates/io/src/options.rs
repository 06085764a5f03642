//! How a file is read.

use crate::Format;

/// What a file may ask for before it is taken for an attack.
///
/// Memory is only ever taken for what is really in a file, so the limits concern the few things
/// that a small file can make large.
///
/// # Example
/// ```
/// use favard_io::{Limits, ReadOptions};
/// // A matrix of 10⁹ rows, nearly all of them empty, is meant.
/// let limits = Limits { empty_rows: 2_000_000_000, ..Limits::default() };
/// let options = ReadOptions::new().limits(limits);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many times its own size a compressed file may become (default 200; text matrices
    /// reach 3 to 50, a gzip bomb about 1000).
    pub expansion: u64,
    /// Bytes that any compressed file may become, whatever its size (default 64 MiB).
    pub free_bytes: u64,
    /// Rows a sparse matrix may have beyond its entries, at 8 bytes each (default $2^{24}$, 128
    /// MiB).
    pub empty_rows: u64,
    /// Columns a sparse matrix may have beyond its entries (default $2^{24}$). They cost the file
    /// nothing and the matrix nothing, but every vector that a model makes has a number for each.
    pub empty_columns: u64,
    /// Bytes of one line of text (default 256 MiB).
    pub line_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            expansion: 200,
            free_bytes: 64 << 20,
            empty_rows: 1 << 24,
            empty_columns: 1 << 24,
            line_bytes: 256 << 20,
        }
    }
}

impl Limits {
    /// Bytes that a compressed file of `bytes` may become.
    pub(crate) fn expanded(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.expansion).max(self.free_bytes)
    }
}

/// Whether a text table has something: found out from its first lines, or said by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detect {
    /// From the first two lines.
    #[default]
    Auto,
    /// It has.
    Yes,
    /// It has not.
    No,
}

/// How a file is read; [`ReadOptions::new`] finds out everything by itself.
///
/// # Example
/// ```
/// use favard_io::{Detect, Format, ReadOptions, read_bytes};
/// // A first row that is all numbers is taken for data unless it is said to be the header.
/// let table = b"1990,1991\n0.5,0.25\n";
/// let options = ReadOptions::new().format(Format::Csv).header(Detect::Yes);
/// let loaded = read_bytes::<f64>("years.csv", table, &options)?;
/// assert_eq!(loaded.matrix.shape(), (1, 2));
/// assert_eq!(loaded.column_names.as_deref(), Some(&["1990".to_owned(), "1991".to_owned()][..]));
/// # Ok::<(), favard_io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    pub(crate) format: Option<Format>,
    pub(crate) header: Detect,
    pub(crate) row_names: Detect,
    pub(crate) separator: Option<u8>,
    pub(crate) columns: Option<usize>,
    pub(crate) zero_based: Detect,
    pub(crate) feature_ids: bool,
    pub(crate) limits: Limits,
}

impl ReadOptions {
    /// Everything found out from the file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The format, whatever the name says.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Whether the first line of a CSV or TSV file holds column names. Found out: it does when a
    /// field of it (the first excepted) is not a number.
    #[must_use]
    pub fn header(mut self, header: Detect) -> Self {
        self.header = header;
        self
    }

    /// Whether the first field of each line of a CSV or TSV file is a row name. Found out: it is
    /// when that of the first row is not a number, when the header leaves it empty (as pandas
    /// does), or when the header is one field shorter than the rows (as R does).
    #[must_use]
    pub fn row_names(mut self, row_names: Detect) -> Self {
        self.row_names = row_names;
        self
    }

    /// The byte between the fields of a CSV or TSV file. Found out: a tab for a name that ends in
    /// `.tsv`, else that of tab, semicolon and comma which the first line has.
    #[must_use]
    pub fn separator(mut self, separator: u8) -> Self {
        self.separator = Some(separator);
        self
    }

    /// The number of columns of a libsvm file, which does not state it. Found out: the largest
    /// index.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = Some(columns);
        self
    }

    /// Whether the indices of a libsvm file start at 0. Found out: they do when a 0 appears.
    #[must_use]
    pub fn zero_based(mut self, zero_based: Detect) -> Self {
        self.zero_based = zero_based;
        self
    }

    /// Names the columns of a 10x folder by the identifiers of the features (the first field of
    /// `features.tsv`, unique) instead of by their symbols (the second).
    #[must_use]
    pub fn feature_ids(mut self, feature_ids: bool) -> Self {
        self.feature_ids = feature_ids;
        self
    }

    /// What the file may ask for.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
