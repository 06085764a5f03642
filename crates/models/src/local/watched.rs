//! [`Watched`]: a tolerance on the residuals, and a caller's callback.

use std::ops::ControlFlow;

use favard_engine::observe::{Observer, Step, Tolerance};
use favard_engine::{Record, Result, Stop};
use favard_operator::Scalar;

use super::Watch;

/// Shows every measured step to the callback and stops at the tolerance.
pub(crate) struct Watched<'a, 'w, T> {
    tolerance: Tolerance,
    watch: &'a mut Watch<'w, T>,
    /// Passes before the step that is observed next.
    passes: f64,
}

impl<'a, 'w, T: Scalar> Watched<'a, 'w, T> {
    pub fn new(tolerance: Tolerance, watch: &'a mut Watch<'w, T>) -> Self {
        Self { tolerance, watch, passes: 0.0 }
    }
}

impl<T: Scalar> Observer<T> for Watched<'_, '_, T> {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        // As in the engine's own history: the block before the step, and what it had cost.
        let passes = std::mem::replace(&mut self.passes, step.cost.passes);
        if let Some(measure) = step.measure {
            let residual = measure.residuals.iter().copied().fold(T::zero(), T::max);
            let ritz = measure.ritz.first().copied().unwrap_or(T::zero());
            let record = Record { tick: step.tick - 1, passes, ritz, residual };
            if let ControlFlow::Break(stop) = (self.watch)(&record) {
                return Ok(ControlFlow::Break(stop));
            }
        }
        self.tolerance.observe(step)
    }

    fn wants_measure(&self, tick: u64) -> bool {
        Observer::<T>::wants_measure(&self.tolerance, tick)
    }
}
