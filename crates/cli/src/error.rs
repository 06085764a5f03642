//! [`Error`]: what can go wrong in the program.

use std::io;

use favard_io::ErrorKind;

/// The result of everything fallible in the program.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// It prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written: the file, the line and the column.
    #[error("{}", told(.0))]
    File(#[from] favard_io::Error),
    /// The data of a file does not allow what was asked for.
    #[error("{name}: {source}")]
    Model {
        /// The file.
        name: String,
        /// What a model says.
        source: favard_models::Error,
    },
    /// Parameters without a plan.
    #[error("no plan: {0}")]
    Theory(#[from] favard_theory::Error),
    /// An argument is out of its range.
    #[error("{name}: {problem}")]
    Argument {
        /// Which.
        name: String,
        /// What is wrong with it, with the numbers.
        problem: String,
    },
    /// The output of the program cannot be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    /// The system refused something.
    #[error("{0}")]
    System(String),
}

impl Error {
    /// Names the file in an error of a model.
    pub fn of<E: Into<favard_models::Error>>(name: &str) -> impl FnOnce(E) -> Self {
        let name = name.to_string();
        |source| Self::Model { name, source: source.into() }
    }

    /// An argument that is out of its range.
    pub fn argument(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Argument { name: name.into(), problem: problem.into() }
    }
}

/// What is wrong with a file, with the program's options in place of the library's names.
fn told(error: &favard_io::Error) -> String {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Limit { field, .. } => {
            let option = format!("(--limit {}=N allows more)", field.replace('_', "-"));
            text.replace(&format!("(Limits::{field})"), &option)
        }
        ErrorKind::UnknownFormat => text.replace("name it explicitly", "say it with --format NAME"),
        _ => text,
    }
}
