//! [`Checkpoint`]: a run on disk.

use std::path::Path;

use favard_operator::{Block, Scalar};
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::error::Result;
use crate::gauge::Gauge;
use crate::info::Record;
use crate::map::{Cost, StepMap};
use crate::memory::{Memory, foreign};
use crate::readout::Readout;
use crate::recurrence::Recurrence;
use crate::store::{self, Stored};

/// Whose states the files are.
const KIND: &str = "engine";

/// Everything a run needs to go on: a resumed run gives the same bits as an unbroken one.
///
/// It is a serde type: any format will do that keeps floating-point numbers exactly.
/// [`save`](Self::save) and [`load`](Self::load) use the compact binary one of [`store`], with a
/// checksum, and replace the file atomically.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::Norm, map::Exact, recurrence::Power};
/// use favard_operator::{Block, Diagonal};
/// let engine = || -> Result<_, Box<dyn std::error::Error>> {
///     let op = Diagonal::new(vec![1.0, 0.9, 0.5])?;
///     Ok(Engine::new(Exact::new(op)?, Power, Block::column(&[1.0; 3]))?.with_gauge(Norm))
/// };
/// let mut unbroken = engine()?;
/// for _ in 0..4 {
///     unbroken.advance()?;
/// }
/// let checkpoint = unbroken.checkpoint();
/// let mut resumed = engine()?;
/// resumed.resume(checkpoint)?;
/// unbroken.advance()?;
/// resumed.advance()?;
/// assert_eq!(unbroken.block(), resumed.block());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub struct Checkpoint<T: Scalar> {
    tick: u64,
    phase: u64,
    cur: Block<T>,
    prev: Block<T>,
    map: Memory<T>,
    recurrence: Memory<T>,
    gauge: Memory<T>,
    readout: Memory<T>,
    applications: u64,
    passes: f64,
    history: Vec<Record<T>>,
}

impl<T: Scalar> Checkpoint<T> {
    /// Steps done.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// $F_t$.
    #[must_use]
    pub fn block(&self) -> &Block<T> {
        &self.cur
    }

    /// Writes the checkpoint to a temporary file beside `path` and renames it: whatever happens,
    /// `path` is the old file or the new one, never half a file.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        store::save::<T>(path, KIND, self)
    }

    /// Reads a checkpoint back.
    ///
    /// # Errors
    /// When the file cannot be read, is not a checkpoint, or is damaged.
    pub fn load(path: &Path) -> Result<Self> {
        Stored::open::<T>(path, KIND)?.read()
    }
}

impl<T, M, R, G, O> Engine<T, M, R, G, O>
where
    T: Scalar,
    M: StepMap<T>,
    R: Recurrence<T>,
    G: Gauge<T>,
    O: Readout<T>,
{
    /// The state of the run.
    pub fn checkpoint(&self) -> Checkpoint<T> {
        let Cost { applications, passes } = self.map.cost();
        Checkpoint {
            tick: self.tick,
            phase: self.phase,
            cur: self.cur.clone(),
            prev: self.prev.clone(),
            map: self.map.memory(),
            recurrence: self.recurrence.memory(),
            gauge: self.gauge.memory(),
            readout: self.readout.memory(),
            applications,
            passes,
            history: self.history.clone(),
        }
    }

    /// Brings a checkpoint of this run to its present pair, tick and cost, without an allocation: for
    /// a caller that may have to go back by a step. What the axes remember, and the history, stay as
    /// they were when it was made.
    ///
    /// # Errors
    /// When it is of a block of another shape.
    pub fn refresh(&self, checkpoint: &mut Checkpoint<T>) -> Result<()> {
        let Cost { applications, passes } = self.map.cost();
        checkpoint.cur.assign(self.cur.as_ref())?;
        checkpoint.prev.assign(self.prev.as_ref())?;
        (checkpoint.tick, checkpoint.phase) = (self.tick, self.phase);
        (checkpoint.applications, checkpoint.passes) = (applications, passes);
        Ok(())
    }

    /// Takes up an earlier run: the engine must have been made with the same map, recurrence, gauge
    /// and readout.
    ///
    /// # Errors
    /// [`Foreign`](crate::ErrorKind::Foreign) when they are of another kind, have other parameters or another
    /// shape; the engine should then not be used.
    pub fn resume(&mut self, checkpoint: Checkpoint<T>) -> Result<()> {
        let Checkpoint { tick, phase, cur, prev, .. } = checkpoint;
        for block in [&cur, &prev] {
            if block.shape() != self.cur.shape() {
                return Err(foreign("shape of the block", self.cur.shape(), block.shape()));
            }
        }
        let gauge = self.gauge.memory();
        if checkpoint.gauge.name != gauge.name {
            return Err(foreign("gauge", gauge.name, checkpoint.gauge.name));
        }
        checkpoint.gauge.check_same(&gauge)?;
        let cost = Cost { applications: checkpoint.applications, passes: checkpoint.passes };
        self.map.restore(checkpoint.map, tick, cost)?;
        self.recurrence.restore(checkpoint.recurrence)?;
        self.readout.restore(checkpoint.readout)?;
        (self.tick, self.phase, self.cur, self.prev) = (tick, phase, cur, prev);
        self.history = checkpoint.history;
        self.revive();
        Ok(())
    }
}
