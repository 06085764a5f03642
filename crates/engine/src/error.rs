//! What can go wrong in the engine.

use std::io;
use std::path::PathBuf;

/// The result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine, with the numbers that explain it in its [`ErrorKind`].
///
/// # Example
/// ```
/// use favard_engine::{ErrorKind, recurrence::{Momentum, Start}};
/// let error = Momentum::<f64>::new(-1.0, Start::U).unwrap_err();
/// assert_eq!(error.to_string(), "beta: -1 must be finite and at least 0");
/// assert!(matches!(error.kind(), ErrorKind::Parameter { name: "beta", .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error {
    // Boxed: a result is returned from every step, and should fit in a register pair.
    kind: Box<ErrorKind>,
}

impl Error {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self { kind: Box::new(kind.into()) }
    }
}

/// The kinds of [`Error`], each with its numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An operator failed.
    #[error(transparent)]
    Operator(#[from] favard_operator::Error),
    /// An operator failed in the middle of a run.
    #[error("tick {tick}: {source}")]
    Step {
        /// The step that failed; the engine is still at the state before it.
        tick: u64,
        /// What the operator said.
        source: favard_operator::Error,
    },
    /// The iterate is NaN or infinite.
    #[error("tick {tick}: row {row}, column {column} of the iterate is not finite")]
    NonFinite {
        /// The step that made it so.
        tick: u64,
        /// The first row with such an entry.
        row: usize,
        /// Its column.
        column: usize,
    },
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
    /// The start block cannot be used.
    #[error("start block: {rows} × {cols} {need}")]
    Start {
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
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
    /// The small eigenproblem of a Rayleigh–Ritz step did not converge.
    #[error("tick {tick}: the {cols} × {cols} eigenproblem of the Ritz values did not converge")]
    Ritz {
        /// The step.
        tick: u64,
        /// The size of the problem.
        cols: usize,
    },
    /// The engine lost its state in an earlier failed step.
    #[error("the run broke at tick {tick}; restore a checkpoint or start again")]
    Broken {
        /// The step that failed.
        tick: u64,
    },
    /// A checkpoint belongs to another run.
    #[error("checkpoint: {what} is {found} in the file and {expected} in the engine")]
    Foreign {
        /// What differs.
        what: &'static str,
        /// What the engine has.
        expected: String,
        /// What the checkpoint has.
        found: String,
    },
    /// A checkpoint cannot be read.
    #[error("checkpoint {path}: {problem}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// `Ok` when `value` is finite and at least zero.
pub(crate) fn check_non_negative(name: &'static str, value: f64) -> Result<()> {
    check(name, value, value >= 0.0, "must be finite and at least 0")
}

/// `Ok` when `value` is finite and `good`.
pub(crate) fn check(name: &'static str, value: f64, good: bool, need: &'static str) -> Result<()> {
    if value.is_finite() && good {
        Ok(())
    } else {
        Err(ErrorKind::Parameter { name, value, need }.into())
    }
}
