//! [`Stagnation`]: stop when the residual no longer falls.

use std::ops::ControlFlow;

use favard_operator::Scalar;

use super::{Observer, Step};
use crate::error::{ErrorKind, Result};
use crate::info::Stop;

/// Stops with [`Stop::Stagnated`] when the sum of the residuals has found no new minimum within a
/// number of measured steps: the noise ball or rounding is reached.
///
/// # Example
/// ```
/// use favard_engine::{Engine, Stop, gauge::Norm, map::Exact, observe::Stagnation};
/// use favard_engine::recurrence::Power;
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.0, 0.5])?;
/// let mut engine =
///     Engine::new(Exact::new(op)?, Power, Block::column(&[1.0, 1.0]))?.with_gauge(Norm);
/// let info = engine.run(10_000, &mut Stagnation::after(20)?)?;
/// assert_eq!(info.stop, Stop::Stagnated);
/// assert!(info.residuals[0] < 4.0 * f64::EPSILON);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stagnation {
    patience: u64,
    waited: u64,
    least: f64,
}

impl Stagnation {
    /// Patience of this many measured steps.
    ///
    /// # Errors
    /// When it is zero.
    pub fn after(patience: u64) -> Result<Self> {
        if patience == 0 {
            let (name, need) = ("patience", "must be at least one measured step");
            return Err(ErrorKind::Parameter { name, value: 0.0, need }.into());
        }
        Ok(Self { patience, waited: 0, least: f64::INFINITY })
    }
}

impl<T: Scalar> Observer<T> for Stagnation {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        if let Some(measure) = step.measure {
            let total: f64 = measure.residuals.iter().map(|r| r.as_f64()).sum();
            if total < self.least {
                (self.least, self.waited) = (total, 0);
            } else {
                self.waited += 1;
            }
        }
        let over = self.waited >= self.patience;
        Ok(if over { ControlFlow::Break(Stop::Stagnated) } else { ControlFlow::Continue(()) })
    }

    fn wants_measure(&self, _: u64) -> bool {
        true
    }
}
