//! What the measuring programs share: where their files lie, the Python peers' environment and
//! process, raw arrays on disk.

mod folder;
mod help;
pub mod raw;
mod venv;
mod worker;

pub use folder::folder;
pub use help::help;
pub use venv::Venv;
pub use worker::Worker;

/// A bench stops at the first thing that it cannot do and says what it was.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
