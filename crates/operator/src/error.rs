//! What can go wrong in an operator.

use std::error::Error as StdError;

/// The result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an operator, with the numbers that explain it in its [`ErrorKind`].
///
/// # Example
/// ```
/// use favard_operator::{Error, ErrorKind};
/// let error = Error::from(ErrorKind::Shape { what: "rows", expected: 784, found: 783 });
/// assert_eq!(error.to_string(), "rows: expected 784, found 783");
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error {
    // Boxed: a result is returned from every product, and should fit in a register pair.
    kind: Box<ErrorKind>,
}

impl Error {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Wraps the failure of a user's own operator (a lost file, a Python exception).
    pub fn external(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ErrorKind::External(source.into()).into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind: Box::new(kind) }
    }
}

/// The kinds of [`Error`], each with its numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// One dimension is not what it has to be.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Which dimension of which argument.
        what: &'static str,
        /// What it has to be.
        expected: usize,
        /// What it is.
        found: usize,
    },
    /// Two operators cannot be combined.
    #[error(
        "{what}: the left operand is {} × {}, the right one {} × {}",
        left.0, left.1, right.0, right.1
    )]
    Mismatch {
        /// The combination that was asked for.
        what: &'static str,
        /// Shape of the left operand.
        left: (usize, usize),
        /// Shape of the right operand.
        right: (usize, usize),
    },
    /// A square operator is needed.
    #[error("{what}: needs a square operator, found {rows} × {cols}")]
    NotSquare {
        /// What needs it.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// A value is NaN or infinite.
    #[error("{what}: value {value} at row {row}, column {column} is not finite")]
    NonFinite {
        /// Where the value was found.
        what: &'static str,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// NaN or an infinity.
        value: f64,
    },
    /// Something that needs at least one element has none.
    #[error("{what}: is empty ({rows} × {cols})")]
    Empty {
        /// What is empty.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// An index points outside.
    #[error("{what}: index {index} at position {position} is not below {bound}")]
    Index {
        /// Which list of indices.
        what: &'static str,
        /// Where in the list (or in which row).
        position: usize,
        /// The index.
        index: u64,
        /// The first value that is too large.
        bound: u64,
    },
    /// The column indices of a sparse row do not increase.
    #[error("sparse row {row}: column {next} follows column {column}; columns must increase")]
    Unsorted {
        /// The row.
        row: usize,
        /// The earlier column.
        column: usize,
        /// The column stored after it.
        next: usize,
    },
    /// The row pointers of a sparse matrix are not a non-decreasing list from 0 to the number of entries.
    #[error("sparse row pointers: entry {position} is {found}, expected {expected}")]
    Pointers {
        /// Which row pointer.
        position: usize,
        /// What it must be, or the least it must be.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// A weight is negative, not finite, or all of them are zero.
    #[error("weight {index}: {value} {need}")]
    Weight {
        /// Which weight.
        index: usize,
        /// Its value.
        value: f64,
        /// What it has to be.
        need: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{name}: {value} {need}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it has to be.
        need: &'static str,
    },
    /// A user's closure panicked.
    #[error("{what} panicked: {message}")]
    Panicked {
        /// Which closure.
        what: &'static str,
        /// The panic's message.
        message: String,
    },
    /// A user's operator failed.
    #[error("{0}")]
    External(#[source] Box<dyn StdError + Send + Sync>),
}

/// `Ok` when `found` is `expected`, else a [`ErrorKind::Shape`] error.
///
/// # Errors
/// When the two differ.
pub fn check_dim(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(ErrorKind::Shape { what, expected, found }.into()) }
}
