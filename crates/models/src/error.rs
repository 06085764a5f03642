//! What can go wrong in a model.

/// The result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a model, with the numbers that explain it in its [`ErrorKind`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error {
    // Boxed: a result should fit in a register pair.
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

/// The kinds of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An operator failed.
    #[error(transparent)]
    Operator(#[from] favard_operator::Error),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] favard_engine::Error),
    /// The theory found no parameters for the problem (no gap, say).
    #[error(transparent)]
    Theory(#[from] favard_theory::Error),
    /// A name that nothing has.
    #[error("{what}: {name} is none of {known}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
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
}
