//! [`State`]: a run of an engine between two steps, with what its solver knows.

use std::borrow::Cow;

use favard_engine::{Checkpoint, Record};
use favard_operator::Scalar;
use serde::{Deserialize, Serialize};

/// What a checkpoint carries: the engine's own, what the stop rule has seen, and what the method
/// has found out and done before this run of the engine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct State<'a, T: Scalar> {
    pub engine: Checkpoint<T>,
    /// The least residual so far, and measured steps since it, at the level of rounding.
    pub least: f64,
    pub waited: u32,
    pub history: Cow<'a, [Record<T>]>,
    /// Products and passes used before the run.
    pub before: (u64, f64),
    pub carried: Cow<'a, Carried<T>>,
}

/// What a method carries from one run of an engine to the next.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct Carried<T: Scalar> {
    /// $\lambda_k$, $\lambda_{k+1}$, the second moment and the spread of the noise, from a sample.
    pub tuned: Option<[f64; 4]>,
    /// What the run was planned with: names and numbers.
    pub planned: Vec<(String, u64)>,
    /// Ticks and records of earlier engines.
    pub ticks: u64,
    pub history: Vec<Record<T>>,
    /// How often the tolerance has been halved.
    pub halvings: i32,
}
