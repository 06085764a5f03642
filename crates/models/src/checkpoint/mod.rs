//! [`Checkpoints`]: runs that are saved as they go, and taken up to the bit.

mod fingerprint;
mod keeper;

pub(crate) use fingerprint::{hash, hash_numbers};
pub(crate) use keeper::Keeper;

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a run is saved, how often, and which saved run it takes up.
///
/// A run that was interrupted at any step and is taken up gives the same bits as an unbroken one:
/// the same vectors, values, residuals, history and counts, at any number of threads. The state is
/// taken between two steps, and only when a save is due; a run without checkpoints pays nothing.
///
/// It is saved every so often, and once more when a budget, a deadline or the caller's own callback
/// ends the run before it has converged. The file is that of [`store`](favard_engine::store): a
/// save in the middle of which the process is killed leaves the old file. A run that has converged
/// leaves its last save behind, which is of no further use.
///
/// A file carries a fingerprint of its problem: shape, work, a sum over the data where there is one,
/// method, components, seed, and so on. To take it up with another problem is an error,
/// [`ErrorKind::Foreign`](crate::ErrorKind::Foreign), that says what differs, and how. The budget
/// may be another one, and so may the tolerance, unless the method has planned its steps from it
/// (those that sample rows).
///
/// # Cost
/// A save takes two copies of the state in memory while it is written, and the time to write it:
/// for block Lanczos the basis, for all others a few blocks.
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use favard_engine::{Record, Stop};
/// use favard_models::{Checkpoints, Pca, Solver};
/// use favard_operator::{Block, Dense};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run.favard");
/// let entry = |i, j| ((i * 31 + j * 17) % 101 + (i * j) % 13) as f64 / (1.0 + j as f64);
/// let rows = Block::from_fn(300, 60, entry);
/// let x = Dense::new(rows.view())?;
/// let pca = Pca::new(2).solver(Solver::Dynamic).tolerance(1e-9);
///
/// // Somebody stops the run at its first step …
/// let mut watch = |_: &Record<f64>| ControlFlow::Break(Stop::Cancelled);
/// let saved = Checkpoints::new().save(&path);
/// pca.on(&x).watch(&mut watch).checkpoints(&saved).run()?;
/// // … and it is taken up.
/// let resumed = pca.on(&x).checkpoints(&Checkpoints::new().resume(&path)).run()?;
/// assert_eq!(resumed, pca.fit(&x)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoints {
    to: Option<PathBuf>,
    every: Every,
    from: Option<PathBuf>,
}

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Every {
    Time(Duration),
    Steps(u64),
}

impl Default for Every {
    fn default() -> Self {
        Self::Time(Duration::from_mins(1))
    }
}

impl Checkpoints {
    /// Nothing is saved, nothing taken up.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The run is saved to this file, every minute unless said otherwise.
    #[must_use]
    pub fn save(self, path: impl Into<PathBuf>) -> Self {
        Self { to: Some(path.into()), ..self }
    }

    /// It is saved at the first step that ends this long after the last save, or after the start;
    /// with zero, after every step.
    #[must_use]
    pub fn every(self, time: Duration) -> Self {
        Self { every: Every::Time(time), ..self }
    }

    /// It is saved after every so many steps, at least one.
    #[must_use]
    pub fn every_steps(self, steps: u64) -> Self {
        Self { every: Every::Steps(steps.max(1)), ..self }
    }

    /// The run that was saved to this file is taken up. It may be the file that is saved to.
    #[must_use]
    pub fn resume(self, path: impl Into<PathBuf>) -> Self {
        Self { from: Some(path.into()), ..self }
    }

    /// The file that is saved to.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.to.as_deref()
    }
}
