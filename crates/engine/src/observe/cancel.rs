//! [`Cancel`]: stop from another thread.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use favard_operator::Scalar;

use super::{Observer, Step};
use crate::error::Result;
use crate::info::Stop;

/// Stops with [`Stop::Cancelled`] after the step in which another thread asked for it.
///
/// # Example
/// ```
/// use favard_engine::observe::Cancel;
/// let cancel = Cancel::default();
/// let handle = cancel.clone(); // give it to a signal handler or another thread
/// handle.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<T: Scalar> Observer<T> for Cancel {
    fn observe(&mut self, _: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let over = self.is_cancelled();
        Ok(if over { ControlFlow::Break(Stop::Cancelled) } else { ControlFlow::Continue(()) })
    }
}
