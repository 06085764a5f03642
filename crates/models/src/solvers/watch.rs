//! Observers of the solvers: the caller's callback, and the solver's own reasons to stop.

use std::borrow::Cow;
use std::ops::ControlFlow;

use favard_engine::map::Cost;
use favard_engine::observe::{Observer, Step};
use favard_engine::{Measure, Record, Result, Stop};
use favard_operator::Scalar;

use super::state::{Carried, State};
use crate::checkpoint::Keeper;

/// The record of a measured step: the largest of the leading residuals.
fn record<T: Scalar>(
    step: &Step<'_, T>,
    measure: &Measure<T>,
    components: usize,
    before: f64,
) -> Record<T> {
    let leading = measure.residuals.iter().take(components);
    Record {
        tick: step.tick - 1,
        passes: before + step.cost.passes,
        ritz: measure.ritz.first().copied().unwrap_or(T::zero()),
        residual: leading.fold(T::zero(), |m, &r| m.max(r)),
    }
}

/// Who looks on.
pub(crate) enum Eye<'a, T: Scalar> {
    /// A callback over the records.
    Records(&'a mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>),
    /// An observer of the steps.
    Steps(&'a mut dyn Observer<T>),
}

/// When the residuals of a run mean something; what [`Task::residuals`](super::Task::residuals) is
/// told.
///
/// # Example
/// ```
/// use favard_models::solvers::Residuals;
/// let epochs_of_ten = Residuals::AtAnchors(10); // ticks 0, 10, 20, …
/// # let _ = epochs_of_ten;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residuals {
    /// At every tick: the map is exact.
    Exact,
    /// At the first tick of every epoch of this many: an anchor's image is exact.
    AtAnchors(u64),
    /// At every tick but the first of every so many, at which the recurrence may set its state
    /// back: what was measured there is gone.
    Between(u64),
    /// Never: the map samples. Every so many ticks they are measured for the record, with noise.
    Noisy(u64),
}

impl Residuals {
    /// Whether the measure of a tick is worth a record.
    fn are_looked_at(self, tick: u64) -> bool {
        match self {
            Self::Exact => true,
            Self::Between(every) => !tick.is_multiple_of(every.max(1)),
            Self::AtAnchors(every) | Self::Noisy(every) => tick.is_multiple_of(every.max(1)),
        }
    }
}

/// Ends a run when the residuals are small, at the level of rounding, or the budget is used up;
/// keeps the history of the leading residuals; shows every step to the caller's observer.
pub(super) struct Limits<'a, 'b, T: Scalar> {
    pub components: usize,
    pub tolerance: f64,
    pub passes: f64,
    /// Products and passes used before the run.
    pub before: (u64, f64),
    pub residuals: Residuals,
    /// Relative residuals below this are rounding.
    pub rounding: f64,
    pub least: f64,
    pub waited: u32,
    pub history: Vec<Record<T>>,
    pub eye: &'a mut Eye<'b, T>,
    pub keeper: &'a mut Keeper,
    /// For the keeper.
    pub carried: &'a Carried<T>,
}

/// Measured steps without a new minimum, once at the level of rounding, before a run is over.
const PATIENCE: u32 = 10;

impl<T: Scalar> Limits<'_, '_, T> {
    /// Whether the budget is used up: one pass is left for the last product.
    pub fn is_spent(&self, cost: Cost) -> bool {
        self.before.1 + cost.passes + 1.0 >= self.passes
    }

    /// Takes up what an earlier run had seen.
    pub fn restore(&mut self, least: f64, waited: u32, history: &[Record<T>]) {
        (self.least, self.waited) = (least, waited);
        self.history.extend_from_slice(history);
    }

    /// Saves the run when that is due, and when it ends for a reason that is not its own.
    fn keep(&mut self, step: &Step<'_, T>, flow: ControlFlow<Stop>) -> Result<()> {
        let outside = match flow {
            ControlFlow::Continue(()) => false,
            // These runs are over: taken up, they would make a step too many.
            ControlFlow::Break(Stop::Converged | Stop::Stagnated) => return Ok(()),
            ControlFlow::Break(_) => self.keeper.saves(),
        };
        if !(self.keeper.is_due() || outside) {
            return Ok(());
        }
        self.keeper.save::<T>(&State {
            engine: step.checkpoint(),
            least: self.least,
            waited: self.waited,
            history: Cow::Borrowed(&self.history),
            before: self.before,
            carried: Cow::Borrowed(self.carried),
        })
    }

    fn judge(&mut self, record: &Record<T>, measure: &Measure<T>) -> ControlFlow<Stop> {
        let scale = measure.ritz.iter().fold(0.0_f64, |m, ritz| m.max(ritz.abs().as_f64()));
        let residual = record.residual.as_f64();
        // A block that the operator has made dependent has fewer pairs: the last product decides.
        if residual <= self.tolerance * scale {
            return ControlFlow::Break(Stop::Converged);
        }
        if residual < self.least {
            (self.least, self.waited) = (residual, 0);
        } else if residual <= self.rounding * scale {
            self.waited += 1;
        }
        if self.waited >= PATIENCE {
            return ControlFlow::Break(Stop::Stagnated);
        }
        ControlFlow::Continue(())
    }
}

impl<T: Scalar> Observer<T> for Limits<'_, '_, T> {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let mut flow = ControlFlow::Continue(());
        let looked_at = self.residuals.are_looked_at(step.tick - 1);
        if let Some(measure) = step.measure.filter(|_| looked_at) {
            let record = record(step, measure, self.components, self.before.1);
            self.history.push(record);
            if !matches!(self.residuals, Residuals::Noisy(_)) && self.tolerance > 0.0 {
                flow = self.judge(&record, measure);
            }
            if let Eye::Records(watch) = self.eye {
                let seen = watch(&record);
                flow = if flow.is_break() { flow } else { seen };
            }
        }
        if let Eye::Steps(observer) = self.eye {
            let seen = observer.observe(step)?;
            flow = if flow.is_break() { flow } else { seen };
        }
        if flow.is_continue() && self.is_spent(step.cost) {
            flow = ControlFlow::Break(Stop::Passes);
        }
        self.keep(step, flow)?;
        Ok(flow)
    }

    fn wants_measure(&self, tick: u64) -> bool {
        let wanted = self.tolerance > 0.0 || matches!(self.eye, Eye::Records(_));
        let asked = match &self.eye {
            Eye::Records(_) => false,
            Eye::Steps(observer) => observer.wants_measure(tick),
        };
        (wanted && self.residuals.are_looked_at(tick)) || asked
    }
}
