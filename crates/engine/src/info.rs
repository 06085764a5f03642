//! [`Info`]: what a run reports.

use serde::{Deserialize, Serialize};

use crate::Certificate;

/// Why a run stopped. Running out of budget is one of the reasons, never an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Stop {
    /// The residuals met the tolerance.
    Converged,
    /// The limit on iterations was reached.
    Iterations,
    /// The limit on passes over the data was reached.
    Passes,
    /// The deadline passed.
    Deadline,
    /// The residual stopped falling.
    Stagnated,
    /// Another thread asked for it.
    Cancelled,
    /// An observer of the caller's asked for it.
    Requested,
    /// The stream ended.
    Exhausted,
    /// The iterate became zero: the start block lies in the null space of the operator.
    Breakdown,
}

/// Ritz values and residuals of the iterate at one tick, with respect to the map of that tick.
///
/// For an exact map the residuals are $\lVert A v_j - \theta_j v_j \rVert$ over the Ritz pairs of
/// the block, in descending order of $\theta$; for a sampled map they contain its noise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measure<T> {
    /// $\theta_1 \ge \theta_2 \ge \dots$; as many as the block has independent columns.
    pub ritz: Vec<T>,
    /// $\lVert A v_j - \theta_j v_j \rVert$.
    pub residuals: Vec<T>,
}

/// One line of a run's history.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Record<T> {
    /// The tick at which the block was measured.
    pub tick: u64,
    /// Passes over the data before that tick's product.
    pub passes: f64,
    /// The largest Ritz value.
    pub ritz: T,
    /// The largest residual.
    pub residual: T,
}

/// What a run reports: what it was and why, why it stopped, what it cost, how it went, and what is
/// proved about the result.
///
/// # Example
/// ```
/// use favard_engine::{Engine, Stop, map::Exact, observe::Unwatched, recurrence::Power};
/// use favard_operator::{Block, Dense};
/// use ndarray::array;
///
/// let op = Dense::new(array![[2.0, 0.0], [0.0, 1.0]])?;
/// let mut engine = Engine::new(Exact::new(op)?, Power, Block::column(&[1.0, 1.0]))?;
/// let info = engine.run(5, &mut Unwatched)?;
/// assert_eq!((info.stop, info.iterations, info.applications), (Stop::Iterations, 5, 5));
/// assert_eq!(info.method, "exact map, power, gauge none, readout last");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Info<T> {
    /// The method: a solver's name, or the four axes of an engine.
    pub method: String,
    /// Why that method.
    pub reason: String,
    /// Why the run stopped.
    pub stop: Stop,
    /// Ticks done since the engine was made, also before a checkpoint.
    pub iterations: u64,
    /// Block products with the operator or with a batch of it.
    pub applications: u64,
    /// Passes over the data: a batch of s of N terms counts s/N.
    pub passes: f64,
    /// The seed of the map's sampling, if it samples.
    pub seed: Option<u64>,
    /// Largest Ritz value and residual at each measured tick.
    pub history: Vec<Record<T>>,
    /// The Ritz values measured last.
    pub ritz: Vec<T>,
    /// The residuals measured last.
    pub residuals: Vec<T>,
    /// What is proved about the eigenpairs that the run found, component by component: nothing, for
    /// no component, where a run is not one for eigenpairs or their residuals were not recomputed.
    pub certificate: Certificate,
}

impl<T> Info<T> {
    /// A run that has done nothing: no cost, no history.
    #[must_use]
    pub fn new(stop: Stop) -> Self {
        Self {
            method: String::new(),
            reason: "asked for".to_string(),
            stop,
            iterations: 0,
            applications: 0,
            passes: 0.0,
            seed: None,
            history: Vec::new(),
            ritz: Vec::new(),
            residuals: Vec::new(),
            certificate: Certificate::default(),
        }
    }
}
