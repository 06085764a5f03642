//! What can be wrong with a file.

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a file, and where.
///
/// It prints as one line: the file, the line and the column (or the byte, in a binary file), and
/// the [`ErrorKind`].
///
/// # Example
/// ```
/// use favard_io::{ErrorKind, Format, ReadOptions, read_bytes};
/// let text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 0.5\n";
/// let options = ReadOptions::new().format(Format::MatrixMarket);
/// let error = read_bytes::<f64>("data.mtx", text, &options).unwrap_err();
/// assert_eq!(error.to_string(), "data.mtx:3:3: column index: expected 1..=2, found 3");
/// assert!(matches!(error.kind(), ErrorKind::Range { high: 2, .. }));
/// ```
#[derive(Debug)]
pub struct Error {
    // Boxed: results are returned from inner functions and should stay small.
    inner: Box<(PathBuf, Position, ErrorKind)>,
}

/// The place inside a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The file as a whole.
    Whole,
    /// A place in a text, both counted from 1; the column counts bytes.
    Text {
        /// The line.
        line: u64,
        /// The byte of the line.
        column: u64,
    },
    /// A byte of a binary file (after decompression), counted from 0.
    Byte(u64),
}

impl Error {
    /// An error of a file as a whole.
    pub fn new(path: impl Into<PathBuf>, kind: impl Into<ErrorKind>) -> Self {
        Self::at(path, Position::Whole, kind)
    }

    /// An error at a place of a file.
    pub fn at(path: impl Into<PathBuf>, position: Position, kind: impl Into<ErrorKind>) -> Self {
        Self { inner: Box::new((path.into(), position, kind.into())) }
    }

    /// The file; for a part of an archive or of an HDF5 file, the file and the part's path in it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.0
    }

    /// The place in the file.
    #[must_use]
    pub fn position(&self) -> Position {
        self.inner.1
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.inner.2
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, position, kind) = &*self.inner;
        let place = match position {
            Position::Whole => String::new(),
            Position::Text { line, column } => format!(":{line}:{column}"),
            Position::Byte(byte) => format!(": byte {byte}"),
        };
        // One line, whatever the names and words of the file are.
        for character in format!("{}{place}: {kind}", path.display()).chars() {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(self.kind())
    }
}

/// The kinds of [`Error`], each with its numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused (no such file, no permission, no space left).
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is nothing in the file.
    #[error("the file is empty")]
    Empty,
    /// A folder where a file is needed, and not a 10x folder either.
    #[error("is a folder without a matrix.mtx or matrix.mtx.gz")]
    Directory,
    /// A pipe or device: reading may need two passes.
    #[error("is not a regular file; save it to a file first")]
    NotRegular,
    /// Neither the name nor the first bytes say what the file is.
    #[error("the format is not known from the name or the first bytes; name it explicitly")]
    UnknownFormat,
    /// Something else stands where a fixed word or structure has to be.
    #[error("{what}: expected {expected}, found `{found}`")]
    Expected {
        /// What was being read.
        what: &'static str,
        /// What has to be there.
        expected: &'static str,
        /// What is there, shortened.
        found: String,
    },
    /// A number is outside its range.
    #[error("{what}: expected {low}..={high}, found {found}")]
    Range {
        /// Which number.
        what: &'static str,
        /// The least it may be.
        low: u64,
        /// The most it may be.
        high: u64,
        /// What it is (longer numbers than 64 bits exist in hostile files).
        found: String,
    },
    /// There are more or fewer of something than stated.
    #[error("{what}: expected {expected}, found {found}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many were announced.
        expected: u64,
        /// How many there are; where reading stopped at the first one too many, that one.
        found: u64,
    },
    /// A value that is not a finite number of the precision asked for.
    #[error("{what}: `{found}` is not a finite number ({precision})")]
    NonFinite {
        /// Which value.
        what: &'static str,
        /// As it stands in the file.
        found: String,
        /// `f32` or `f64`: a number may fit in one and not in the other.
        precision: &'static str,
    },
    /// The file asks for more than a limit of [`Limits`](crate::Limits).
    #[error("{what}: {found} exceeds the limit {limit} (Limits::{field})")]
    Limit {
        /// Of what there is too much.
        what: &'static str,
        /// How much.
        found: u64,
        /// How much is allowed.
        limit: u64,
        /// The field of `Limits` that allows more.
        field: &'static str,
    },
    /// A variant of the format that is not read.
    #[error("{what}: `{found}` is not supported")]
    Unsupported {
        /// Of what.
        what: &'static str,
        /// The variant.
        found: String,
    },
    /// A name is not UTF-8.
    #[error("{what}: not UTF-8")]
    Encoding {
        /// What was being read.
        what: &'static str,
    },
    /// The memory for the matrix cannot be had.
    #[error("not enough memory: {bytes} bytes for {what}")]
    Memory {
        /// For what.
        what: &'static str,
        /// How many bytes.
        bytes: u64,
    },
    /// The archive or the compressed stream is damaged.
    #[error("{what}: {problem}")]
    Damaged {
        /// The container.
        what: &'static str,
        /// What its reader says.
        problem: String,
    },
    /// The lists do not form a matrix.
    #[error("{0}")]
    Matrix(#[from] favard_operator::Error),
    /// The program was built without this format.
    #[error("{format} files need the feature `{feature}`")]
    Feature {
        /// The format.
        format: &'static str,
        /// The cargo feature.
        feature: &'static str,
    },
}

/// At most 40 characters of what was found, for a message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(160)]);
    let mut short: String = text.chars().take(40).collect();
    if text.chars().nth(40).is_some() || bytes.len() > 160 {
        short.push('…');
    }
    short
}
