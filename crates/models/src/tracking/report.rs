//! [`Tracked`]: what a batch said, and what was chosen.

use std::fmt;

use favard_engine::Measure;
use favard_operator::Scalar;
use serde::{Deserialize, Serialize};

use super::choice::{Judge, TrackingMomentum, Weighing};

/// The state of a [`SubspaceTracker`](super::SubspaceTracker) after a batch. Its `Display` says in a
/// sentence whether momentum is used, and why.
///
/// # Example
/// ```
/// use favard_models::{SubspaceTracker, TrackingMomentum};
/// use favard_operator::Block;
/// let mut tracker = SubspaceTracker::<f64>::new(5, 1)?.momentum(TrackingMomentum::Never);
/// let report = tracker.update(Block::gaussian(50, 5, 1).as_ref())?;
/// assert_eq!((report.batches, report.momentum), (1, false));
/// assert_eq!(report.to_string(), "no momentum: asked for");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tracked<T> {
    /// Batches used.
    pub batches: u64,
    /// The k largest Ritz values of the batch's covariance on the block before it has seen the
    /// batch: the variances of the batch that it explains.
    pub ritz: Vec<T>,
    /// Their residuals $\lVert A_t v_j - \theta_j v_j \rVert$: lag and noise together.
    pub residuals: Vec<T>,
    /// Whether the next batch is used with momentum.
    pub momentum: bool,
    /// Its β.
    pub beta: f64,
    /// Lag against noise; `None` before two windows have passed.
    pub weighing: Option<Weighing>,
    forced: bool,
}

impl<T> Default for Tracked<T> {
    fn default() -> Self {
        Self {
            batches: 0,
            ritz: Vec::new(),
            residuals: Vec::new(),
            momentum: false,
            beta: 0.0,
            weighing: None,
            forced: false,
        }
    }
}

impl<T: Scalar> Tracked<T> {
    pub(super) fn fill(&mut self, batches: u64, measure: &Measure<T>, count: usize, judge: &Judge) {
        let leading = |values: &[T]| values.len().min(count);
        self.batches = batches;
        self.ritz.clear();
        self.ritz.extend_from_slice(&measure.ritz[..leading(&measure.ritz)]);
        self.residuals.clear();
        self.residuals.extend_from_slice(&measure.residuals[..leading(&measure.residuals)]);
        self.momentum = judge.is_on();
        self.beta = judge.settings().beta;
        self.weighing = judge.weighing();
        self.forced = judge.forced() != TrackingMomentum::Auto;
    }
}

impl<T> fmt::Display for Tracked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.momentum { "momentum: " } else { "no momentum: " })?;
        match (self.forced, self.weighing) {
            (true, _) => f.write_str("asked for"),
            (false, None) => f.write_str("the drift has not been measured yet"),
            (false, Some(w)) => write!(
                f,
                "lag² {:.1e} against a noise ball of {:.1e}; predicted error {:.1e} with momentum, \
                 {:.1e} without",
                w.lag2, w.ball, w.momentum, w.plain
            ),
        }
    }
}
