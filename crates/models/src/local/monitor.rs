//! [`Monitor`]: the observer of a round of descent.

use std::cell::Cell;
use std::ops::ControlFlow;

use favard_engine::observe::{Observer, Step};
use favard_engine::{Record, Result, Stop};
use favard_operator::Scalar;

use super::{Reading, Watch};

/// A round has diverged when its residual is this many times that of its start. The transient of
/// the heavy ball, $(1 + t(1 - \sqrt\beta)) \beta^{t/2}$, stays below 2.
const DIVERGED: f64 = 4.0;

/// A new minimum is one that is lower by this factor.
const LOWER: f64 = 0.999;

/// Why a round ended, when it is not over for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It goes on, or it ended for the reason in the run's own report.
    Open,
    /// The residual grew: back to the start of the round with a smaller step.
    Diverged,
    /// The residual fell far enough for the curvature to be worth another look.
    Refresh,
}

/// Judges the readings of a round and keeps its records.
pub(super) struct Monitor<'a, 'w, T> {
    pub reading: &'a Cell<Reading>,
    pub watch: &'a mut Watch<'w, T>,
    pub history: &'a mut Vec<Record<T>>,
    /// Ticks and passes of earlier rounds.
    pub before: (u64, f64),
    /// The largest curvature, for the records.
    pub high: f64,
    pub tolerance: f64,
    pub patience: u64,
    /// Below this share of its first residual the round asks for a refresh.
    pub refresh: Option<f64>,
    /// The first residual of the round, and the least so far with the steps since.
    pub first: Option<f64>,
    pub least: (f64, u64),
    pub verdict: Verdict,
}

impl<T: Scalar> Observer<T> for Monitor<'_, '_, T> {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let Reading { residual, slope } = self.reading.get();
        let record = Record {
            tick: self.before.0 + step.tick,
            passes: self.before.1 + step.cost.passes,
            ritz: T::of(self.high),
            residual: T::of(residual),
        };
        self.history.push(record);
        if let ControlFlow::Break(stop) = (self.watch)(&record) {
            return Ok(ControlFlow::Break(stop));
        }
        let first = *self.first.get_or_insert(residual);
        if residual <= self.tolerance || slope <= self.tolerance {
            return Ok(ControlFlow::Break(Stop::Converged));
        }
        if !residual.is_finite() || residual > DIVERGED * first {
            self.verdict = Verdict::Diverged;
            return Ok(ControlFlow::Break(Stop::Stagnated));
        }
        if self.refresh.is_some_and(|share| residual <= share * first) {
            self.verdict = Verdict::Refresh;
            return Ok(ControlFlow::Break(Stop::Iterations));
        }
        let (least, waited) = self.least;
        self.least = if residual < LOWER * least { (residual, 0) } else { (least, waited + 1) };
        if self.least.1 >= self.patience {
            return Ok(ControlFlow::Break(Stop::Stagnated));
        }
        Ok(ControlFlow::Continue(()))
    }
}
