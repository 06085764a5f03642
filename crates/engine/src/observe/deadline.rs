//! [`Deadline`]: stop at a time.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use favard_operator::Scalar;

use super::{Observer, Step};
use crate::error::Result;
use crate::info::Stop;

/// Stops with [`Stop::Deadline`] after the first step that ends past the deadline. A step is never
/// interrupted, so the overrun is at most one step.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use favard_engine::observe::Deadline;
/// let deadline = Deadline::after(Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// At a moment.
    #[must_use]
    pub fn at(moment: Instant) -> Self {
        Self(Some(moment))
    }

    /// This long from now; a time too long for the clock is no deadline.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }
}

impl<T: Scalar> Observer<T> for Deadline {
    fn observe(&mut self, _: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let over = self.0.is_some_and(|moment| Instant::now() >= moment);
        Ok(if over { ControlFlow::Break(Stop::Deadline) } else { ControlFlow::Continue(()) })
    }
}
