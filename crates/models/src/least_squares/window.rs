//! [`Window`]: the steps over which the batches' residuals are averaged.

use favard_engine::map::Cost;
use favard_engine::recurrence::Recurrence;
use favard_engine::{Advance, Engine, Stop};
use favard_operator::Scalar;
use serde::{Deserialize, Serialize};

use super::state::check_shapes;
use super::stochastic::Estimated;
use crate::error::Result;

/// The sums of a window that has begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct Window<T: Scalar> {
    /// Of the batches' estimates of ‖A x − b‖², one a right-hand side.
    sums: Vec<T>,
    ticks: usize,
    /// Products and passes before its first step.
    before: (u64, f64),
}

impl<T: Scalar> Window<T> {
    pub fn new(cols: usize) -> Self {
        Self { sums: vec![T::zero(); cols], ticks: 0, before: (0, 0.0) }
    }

    /// Forgets the steps of the last one.
    pub fn clear(&mut self) {
        self.sums.fill(T::zero());
        self.ticks = 0;
    }

    /// Takes up a window of an earlier run.
    pub fn restore(&mut self, other: Self) -> Result<()> {
        check_shapes::<T>(&[], (0, self.sums.len()), &[other.sums.len()])?;
        *self = other;
        Ok(())
    }

    /// Steps up to `size` of them, or until they have taken `limit` passes; at least one. Returns
    /// why the engine went no further, when it did not.
    pub fn fill<M: Estimated<T>, R: Recurrence<T>>(
        &mut self,
        engine: &mut Engine<T, M, R>,
        size: usize,
        limit: f64,
    ) -> Result<Option<Stop>> {
        if self.ticks == 0 {
            let Cost { applications, passes } = engine.map().cost();
            self.before = (applications, passes);
        }
        let goes_on = |cost: Cost, before: f64| cost.passes - before < limit;
        while self.ticks < size && (self.ticks == 0 || goes_on(engine.map().cost(), self.before.1))
        {
            if let Advance::Ended(stop) = engine.advance()? {
                return Ok(Some(stop));
            }
            if let Some(estimates) = engine.map().estimates() {
                self.sums.iter_mut().zip(estimates).for_each(|(sum, &square)| *sum += square);
            }
            self.ticks += 1;
        }
        Ok(None)
    }

    /// Products and passes since the first step.
    pub fn cost(&self, now: Cost) -> (u64, f64) {
        (now.applications - self.before.0, now.passes - self.before.1)
    }

    /// ‖r‖ / ‖b‖ of each right-hand side, from the means.
    pub fn residuals(&self, sizes: &[T], shares: &mut [T]) {
        let share = T::of_count(self.ticks).recip();
        for ((out, &sum), &size) in shares.iter_mut().zip(&self.sums).zip(sizes) {
            let residual = (sum * share).sqrt();
            let zero = residual == T::zero();
            *out = if zero { residual } else { residual / size };
        }
    }
}
