//! Models on the favard engine.
//!
//! A model never loops over a recurrence by hand: it composes a map, a recurrence, a gauge and a
//! readout, and reads the result. The first one here answers the question that comes before all
//! others, *how hard is this problem?*: [`estimate`] measures the top of the spectrum and the
//! sampling noise of a stochastic operator, in the form that the planners of `favard-theory` take.

mod error;
mod estimate;

pub use error::{Error, ErrorKind, Result};
pub use estimate::{Estimate, Effort, estimate};
