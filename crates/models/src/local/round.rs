//! [`Round`]: where a descent stands.

use favard_engine::Record;
use favard_operator::{Block, Scalar};
use serde::{Deserialize, Serialize};

use super::Curvature;
use super::gradient::Best;

/// Why a round ended, when it is not over for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Verdict {
    /// It goes on, or it ended for the reason in the run's own report.
    Open,
    /// The residual grew: back to the start of the round with a smaller step.
    Diverged,
    /// The residual fell far enough for the curvature to be worth another look.
    Refresh,
}

/// A round of a descent and what the rounds before it have left: with the state of the engine, all
/// that is needed to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(crate) struct Round<T: Scalar> {
    /// Rounds before this one.
    pub(super) number: usize,
    /// Where it starts, in the coordinates of the problem, and what share of the step it takes.
    pub(super) at: Block<T>,
    pub(super) share: f64,
    /// What the problem needs to know of its coordinates.
    pub(super) coordinates: Vec<T>,
    /// The curvature, whether the problem has better coordinates elsewhere, and how often they were
    /// looked for.
    pub(super) ends: Curvature,
    pub(super) moves: bool,
    pub(super) looks: u32,
    /// Steps and products of earlier rounds, and the records of all.
    pub(super) ticks: u64,
    pub(super) applications: u64,
    pub(super) history: Vec<Record<T>>,
    /// The first residual of the round, and the least so far with the steps since.
    pub(super) first: Option<f64>,
    pub(super) least: (f64, u64),
    pub(super) verdict: Verdict,
    /// Its best point, in a round that is saved.
    pub(super) best: Best<T>,
}

impl<T: Scalar> Round<T> {
    /// The first one.
    pub(super) fn new(at: Block<T>, moves: bool, ends: Curvature, coordinates: Vec<T>) -> Self {
        Self {
            number: 0,
            at,
            share: 1.0,
            coordinates,
            ends,
            moves,
            looks: 0,
            ticks: 0,
            applications: ends.products,
            history: Vec::new(),
            first: None,
            least: (f64::INFINITY, 0),
            verdict: Verdict::Open,
            best: Best::default(),
        }
    }

    /// The next one.
    pub(super) fn renew(&mut self) {
        self.number += 1;
        (self.first, self.least, self.verdict) = (None, (f64::INFINITY, 0), Verdict::Open);
        self.best = Best::default();
    }
}
