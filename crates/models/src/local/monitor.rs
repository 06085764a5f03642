//! [`Monitor`]: the observer of a round of descent.

use std::ops::ControlFlow;

use favard_engine::observe::{Observer, Step};
use favard_engine::{Record, Result, Stop};
use favard_operator::Scalar;

use super::Reading;
use super::gradient::Seen;
use super::round::{Round, Verdict};
use super::runs::{Current, Runs};

/// A round has diverged when its residual is this many times that of its start. The transient of
/// the heavy ball, $(1 + t(1 - \sqrt\beta)) \beta^{t/2}$, stays below 2.
const DIVERGED: f64 = 4.0;

/// A new minimum is one that is lower by this factor.
const LOWER: f64 = 0.999;

/// Judges the readings of a round, keeps its records, and saves it.
pub(super) struct Monitor<'a, 'w, T: Scalar> {
    pub seen: &'a Seen<T>,
    pub runs: &'a mut Runs<'w, T>,
    pub round: &'a mut Round<T>,
    pub tolerance: f64,
    pub patience: u64,
    /// Below this share of its first residual the round asks for a refresh.
    pub refresh: Option<f64>,
    /// The last tick of the round that the budget allows.
    pub limit: u64,
}

impl<T: Scalar> Monitor<'_, '_, T> {
    /// What follows from a reading.
    fn judge(&mut self, Reading { residual, slope }: Reading) -> (ControlFlow<Stop>, Verdict) {
        let round = &mut *self.round;
        let first = *round.first.get_or_insert(residual);
        if residual <= self.tolerance || slope <= self.tolerance {
            return (ControlFlow::Break(Stop::Converged), Verdict::Open);
        }
        if !residual.is_finite() || residual > DIVERGED * first {
            return (ControlFlow::Break(Stop::Stagnated), Verdict::Diverged);
        }
        if self.refresh.is_some_and(|share| residual <= share * first) {
            return (ControlFlow::Break(Stop::Iterations), Verdict::Refresh);
        }
        let (least, waited) = round.least;
        round.least = if residual < LOWER * least { (residual, 0) } else { (least, waited + 1) };
        if round.least.1 >= self.patience {
            return (ControlFlow::Break(Stop::Stagnated), Verdict::Open);
        }
        (ControlFlow::Continue(()), Verdict::Open)
    }
}

impl<T: Scalar> Observer<T> for Monitor<'_, '_, T> {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let reading = self.seen.reading.get();
        let record = Record {
            tick: self.round.ticks + step.tick,
            passes: self.round.applications as f64 + step.cost.passes,
            ritz: T::of(self.round.ends.high),
            residual: T::of(reading.residual),
        };
        self.round.history.push(record);
        let asked = self.runs.show(&record);
        let (own, verdict) = self.judge(reading);
        if own.is_break() && verdict == Verdict::Open {
            return Ok(own);
        }
        // Another round may follow, and the caller or the budget may keep it from doing so: a saved
        // round carries its verdict.
        self.round.verdict = verdict;
        if self.runs.is_due(asked.is_break() || step.tick >= self.limit) {
            let round = Round { best: self.seen.best.borrow().clone(), ..self.round.clone() };
            let state = Box::new((step.checkpoint(), round));
            self.runs.save(&Current::Descent(state))?;
        }
        if asked.is_break() {
            self.round.verdict = Verdict::Open;
            return Ok(asked);
        }
        Ok(own)
    }
}
