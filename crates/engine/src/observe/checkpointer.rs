//! [`Checkpointer`]: the state on disk every so often.

use std::ops::ControlFlow;
use std::path::PathBuf;

use favard_operator::Scalar;

use super::{Observer, Step};
use crate::error::{ErrorKind, Result};
use crate::info::Stop;

/// Saves a [`Checkpoint`](crate::Checkpoint) to a file every so many steps, replacing the file
/// atomically.
///
/// # Example
/// ```
/// use favard_engine::observe::Checkpointer;
/// let saver = Checkpointer::new("run.favard", 100)?; // every hundred steps
/// # Ok::<(), favard_engine::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpointer {
    path: PathBuf,
    every: u64,
}

impl Checkpointer {
    /// To this file, every `every` steps.
    ///
    /// # Errors
    /// When `every` is zero.
    pub fn new(path: impl Into<PathBuf>, every: u64) -> Result<Self> {
        if every == 0 {
            let (name, need) = ("every", "must be at least one step");
            return Err(ErrorKind::Parameter { name, value: 0.0, need }.into());
        }
        Ok(Self { path: path.into(), every })
    }
}

impl<T: Scalar> Observer<T> for Checkpointer {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        if step.tick.is_multiple_of(self.every) {
            step.checkpoint().save(&self.path)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}
