//! [`Memory`]: what one axis of the engine carries from step to step.

use favard_operator::{Block, Scalar};
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Result};
use crate::store;

/// The state of a map, recurrence, gauge or readout, as a checkpoint carries it.
///
/// Parameters belong in it as well as state: an axis that is restored compares them with its own,
/// so that a run is never resumed with another β or another seed by mistake.
///
/// # Example
/// ```
/// use favard_engine::Memory;
/// let memory = Memory::<f64>::of("momentum").scalars([0.25]);
/// assert!(memory.check_name("momentum").is_ok());
/// assert_eq!(
///     memory.check_name("power").unwrap_err().to_string(),
///     "checkpoint: kind is momentum in the file and power in the engine"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub struct Memory<T: Scalar> {
    /// The kind of axis that wrote it.
    pub name: String,
    /// Numbers.
    pub scalars: Vec<T>,
    /// Counters, seeds and flags.
    pub counters: Vec<u64>,
    /// Blocks.
    pub blocks: Vec<Block<T>>,
}

impl<T: Scalar> Memory<T> {
    /// Empty, of the given kind.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self { name: name.into(), scalars: Vec::new(), counters: Vec::new(), blocks: Vec::new() }
    }

    /// With these numbers.
    #[must_use]
    pub fn scalars(mut self, scalars: impl IntoIterator<Item = T>) -> Self {
        self.scalars.extend(scalars);
        self
    }

    /// With these counters.
    #[must_use]
    pub fn counters(mut self, counters: impl IntoIterator<Item = u64>) -> Self {
        self.counters.extend(counters);
        self
    }

    /// With these blocks.
    #[must_use]
    pub fn blocks(mut self, blocks: impl IntoIterator<Item = Block<T>>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// `Ok` when the memory is of this kind.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] with both names.
    pub fn check_name(&self, name: &str) -> Result<()> {
        if self.name == name {
            return Ok(());
        }
        Err(foreign("kind", name, &self.name))
    }

    /// `Ok` when the memory equals `own` in kind, numbers and counters: for axes whose whole memory
    /// is their parameters.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] with the first difference.
    pub fn check_same(&self, own: &Self) -> Result<()> {
        self.check_name(&own.name)?;
        if self.scalars != own.scalars {
            return Err(foreign("parameters", &own.scalars, &self.scalars));
        }
        if self.counters != own.counters {
            return Err(foreign("counters", &own.counters, &self.counters));
        }
        Ok(())
    }
}

/// One number that tells these from others, for parameters too large to be kept whole: FNV-1a over
/// the bits.
pub(crate) fn digest(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = numbers.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(store::FNV_START, store::fnv)
}

/// The digest of a block: its shape and its entries.
pub(crate) fn digest_block<T: Scalar>(block: &Block<T>) -> u64 {
    let (rows, cols) = block.shape();
    let entries = (0..rows).flat_map(|i| block.row(i)).map(|entry| entry.as_f64().to_bits());
    digest([rows as u64, cols as u64].into_iter().chain(entries))
}

/// A [`ErrorKind::Foreign`] error.
pub(crate) fn foreign(
    what: &'static str,
    expected: impl std::fmt::Debug,
    found: impl std::fmt::Debug,
) -> crate::Error {
    let text = |value: &dyn std::fmt::Debug| format!("{value:?}").trim_matches('"').to_string();
    ErrorKind::Foreign { what, expected: text(&expected), found: text(&found) }.into()
}
