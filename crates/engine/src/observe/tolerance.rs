//! [`Tolerance`]: stop when the residuals are small.

use std::ops::ControlFlow;

use favard_operator::Scalar;

use super::{Observer, Step};
use crate::error::{Result, check};
use crate::info::Stop;

/// Stops with [`Stop::Converged`] when the first k residuals satisfy
/// $\lVert A v_j - \theta_j v_j \rVert \le \text{tol} \cdot \max_i |\theta_i|$, the maximum over all
/// columns of the block.
///
/// The residuals are those of the block one step earlier, which cost no further product. A block
/// wider than k has guard columns, whose residuals do not count.
///
/// # Example
/// ```
/// use favard_engine::{Engine, Stop, gauge::Norm, map::Exact, observe::Tolerance};
/// use favard_engine::recurrence::Power;
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.0, 0.5])?;
/// let mut engine =
///     Engine::new(Exact::new(op)?, Power, Block::column(&[1.0, 1.0]))?.with_gauge(Norm);
/// let info = engine.run(1000, &mut Tolerance::new(1e-10, 1)?)?;
/// assert_eq!(info.stop, Stop::Converged);
/// assert!(info.residuals[0] <= 1e-10 && info.iterations < 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    relative: f64,
    components: usize,
    every: u64,
}

impl Tolerance {
    /// Relative tolerance on the first `components` residuals, looked at after every step.
    ///
    /// # Errors
    /// Unless the tolerance is finite and at least 0, and there is a component: none would be a
    /// run that has converged before it begins.
    pub fn new(tolerance: f64, components: usize) -> Result<Self> {
        check("tolerance", tolerance, tolerance >= 0.0, "must be finite and at least 0")?;
        check("components", components as f64, components > 0, "must be at least 1")?;
        Ok(Self { relative: tolerance, components, every: 1 })
    }

    /// Looked at every `ticks` steps only: the others are not measured, and cheaper.
    #[must_use]
    pub fn every(self, ticks: u64) -> Self {
        Self { every: ticks.max(1), ..self }
    }
}

impl<T: Scalar> Observer<T> for Tolerance {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let Some(measure) = step.measure else {
            return Ok(ControlFlow::Continue(()));
        };
        let scale = measure.ritz.iter().fold(0.0_f64, |m, ritz| m.max(ritz.abs().as_f64()));
        let leading = measure.residuals.get(..self.components);
        let small = |residual: &T| residual.as_f64() <= self.relative * scale;
        Ok(match leading {
            Some(leading) if leading.iter().all(small) => ControlFlow::Break(Stop::Converged),
            _ => ControlFlow::Continue(()),
        })
    }

    fn wants_measure(&self, tick: u64) -> bool {
        tick.is_multiple_of(self.every)
    }
}
