//! [`Watched`]: a tolerance on the residuals, the caller's callback, and the saves.

use std::ops::ControlFlow;

use favard_engine::observe::{Observer, Step, Tolerance};
use favard_engine::{Record, Result, Stop};
use favard_operator::Scalar;

use super::runs::{Current, Runs};

/// Shows every measured step to the callback, stops at the tolerance, and saves.
pub(super) struct Watched<'a, 'w, T: Scalar> {
    tolerance: Tolerance,
    /// Passes before the step that is observed next.
    passes: f64,
    runs: &'a mut Runs<'w, T>,
    /// Whether the tolerance is met.
    pub met: bool,
}

impl<'a, 'w, T: Scalar> Watched<'a, 'w, T> {
    pub fn new(tolerance: Tolerance, passes: f64, runs: &'a mut Runs<'w, T>) -> Self {
        Self { tolerance, passes, runs, met: false }
    }
}

impl<T: Scalar> Observer<T> for Watched<'_, '_, T> {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        // As in the engine's own history: the block before the step, and what it had cost.
        let passes = std::mem::replace(&mut self.passes, step.cost.passes);
        let mut asked = ControlFlow::Continue(());
        if let Some(measure) = step.measure {
            let residual = measure.residuals.iter().copied().fold(T::zero(), T::max);
            let ritz = measure.ritz.first().copied().unwrap_or(T::zero());
            asked = self.runs.show(&Record { tick: step.tick - 1, passes, ritz, residual });
        }
        let own = self.tolerance.observe(step)?;
        self.met = own.is_break();
        if self.met {
            return Ok(own);
        }
        if self.runs.is_due(asked.is_break()) {
            self.runs.save(&Current::Spectral(Box::new(step.checkpoint())))?;
        }
        Ok(asked)
    }

    fn wants_measure(&self, tick: u64) -> bool {
        Observer::<T>::wants_measure(&self.tolerance, tick)
    }
}
