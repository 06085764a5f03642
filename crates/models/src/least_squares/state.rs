//! What a checkpoint of a least-squares run carries beside the state of its method.

use std::borrow::Cow;

use favard_engine::Record;
use favard_engine::store::Stored;
use favard_operator::{Block, Scalar};
use serde::{Deserialize, Serialize};

use super::spectrum::Ends;
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result};

/// The kind of file that the runs are saved to.
pub(super) const LEAST_SQUARES: &str = "least squares";

/// The method whose state follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Cg,
    Lsmr,
    Descent,
    Sampled,
}

/// What was found out before the method that was saved began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prelude {
    pub ends: Option<Ends>,
    pub reason: String,
}

/// What the monitor knows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(crate) struct Known<'a, T: Scalar> {
    pub norm: T,
    pub scaled_norm: T,
    pub history: Cow<'a, [Record<T>]>,
    pub ticks: u64,
    pub applications: u64,
    pub passes: f64,
    pub certificates: Cow<'a, [T]>,
}

/// A run that is taken up.
pub(crate) struct Kept<T: Scalar> {
    pub phase: Phase,
    pub prelude: Prelude,
    pub known: Known<'static, T>,
    /// The state of the method.
    pub stored: Stored,
}

impl<T: Scalar> Kept<T> {
    /// What a keeper has.
    pub fn of(keeper: &mut Keeper) -> Result<Option<Self>> {
        let Some(mut stored) = keeper.take_stored()? else {
            return Ok(None);
        };
        let (phase, prelude, known) = stored.read()?;
        Ok(Some(Self { phase, prelude, known, stored }))
    }

    /// `Ok` when the state is of this method.
    pub fn check(&self, phase: Phase) -> Result<()> {
        if self.phase == phase {
            return Ok(());
        }
        Err(ErrorKind::Damaged { problem: "the state is that of another method" }.into())
    }
}

/// `Ok` when blocks from a file have the shape that the problem needs.
pub(super) fn check_shapes<T: Scalar>(
    blocks: &[&Block<T>],
    shape: (usize, usize),
    lists: &[usize],
) -> Result<()> {
    let same = blocks.iter().all(|block| block.shape() == shape);
    if same && lists.iter().all(|&length| length == shape.1) {
        return Ok(());
    }
    Err(ErrorKind::Damaged { problem: "a vector of the state has another length" }.into())
}
