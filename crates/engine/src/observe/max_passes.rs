//! [`MaxPasses`]: stop after so many passes over the data.

use std::ops::ControlFlow;

use favard_operator::Scalar;

use super::{Observer, Step};
use crate::error::Result;
use crate::info::Stop;

/// Stops with [`Stop::Passes`] once the map has used this many passes over the data.
///
/// # Example
/// ```
/// use favard_engine::observe::MaxPasses;
/// let budget = MaxPasses(2.5); // two and a half times through the rows
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxPasses(pub f64);

impl<T: Scalar> Observer<T> for MaxPasses {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        // A budget that is NaN stops at once: it is no licence to go on for ever.
        let within = step.cost.passes < self.0;
        Ok(if within { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Passes) })
    }
}
