//! Watching a run, and stopping it.
//!
//! An [`Observer`] is shown every step and answers with a [`ControlFlow`]: go on, or stop and why.
//! Tuples of observers are observers; the first that wants to stop decides. Closures are too.
//!
//! | observer | stops |
//! |---|---|
//! | [`Tolerance`] | when the leading residuals are small |
//! | [`MaxPasses`] | when the data has been passed over so often |
//! | [`Deadline`] | at a time |
//! | [`Stagnation`] | when the residual has stopped falling |
//! | [`Cancel`] | when another thread says so |
//! | [`Checkpointer`] | never: it writes the state to a file every so often |
//! | [`Unwatched`] | never |

mod cancel;
mod checkpointer;
mod deadline;
mod max_passes;
mod stagnation;
mod tolerance;

pub use cancel::Cancel;
pub use checkpointer::Checkpointer;
pub use deadline::Deadline;
pub use max_passes::MaxPasses;
pub use stagnation::Stagnation;
pub use tolerance::Tolerance;

use std::fmt;
use std::ops::ControlFlow;

use favard_operator::{Block, Scalar};

use crate::checkpoint::Checkpoint;
use crate::error::Result;
use crate::info::{Measure, Stop};
use crate::map::Cost;

/// A step as an observer sees it.
pub struct Step<'a, T: Scalar> {
    /// Steps done, this one included.
    pub tick: u64,
    /// What the map has used so far.
    pub cost: Cost,
    /// Ritz values and residuals of the block before this step, if it was measured.
    pub measure: Option<&'a Measure<T>>,
    /// $F_t$ after this step, in the engine's gauge.
    pub block: &'a Block<T>,
    /// The readout's answer after this step.
    pub answer: &'a Block<T>,
    pub(crate) snapshot: &'a dyn Fn() -> Checkpoint<T>,
}

impl<T: Scalar> Step<'_, T> {
    /// The state of the run after this step.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint<T> {
        (self.snapshot)()
    }
}

impl<T: Scalar> fmt::Debug for Step<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Step");
        out.field("tick", &self.tick).field("cost", &self.cost).field("measure", &self.measure);
        out.finish_non_exhaustive()
    }
}

/// Watches the steps of a run.
///
/// # Example
/// A closure that prints and stops after three steps:
/// ```
/// use std::ops::ControlFlow;
/// use favard_engine::{Engine, Stop, map::Exact, observe::Step, recurrence::Power};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[0.5]])?;
/// let mut engine = Engine::new(Exact::new(op)?, Power, Block::column(&[1.0]))?;
/// let mut watch = |step: &Step<'_, f64>| {
///     println!("{}: {}", step.tick, step.block.row(0)[0]);
///     if step.tick < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Requested) }
/// };
/// let info = engine.run(1000, &mut watch)?;
/// assert_eq!((info.stop, info.iterations), (Stop::Requested, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer<T: Scalar> {
    /// Sees a step; breaking stops the run with that reason.
    ///
    /// # Errors
    /// When it cannot do its work (a checkpoint that cannot be written); the run then ends with it,
    /// and the engine keeps its state.
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>>;

    /// Whether it wants Ritz values and residuals of the block at this tick.
    fn wants_measure(&self, tick: u64) -> bool {
        let _ = tick;
        false
    }
}

/// Watches nothing: the run ends at its limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unwatched;

impl<T: Scalar> Observer<T> for Unwatched {
    fn observe(&mut self, _: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        Ok(ControlFlow::Continue(()))
    }
}

impl<T: Scalar, F: FnMut(&Step<'_, T>) -> ControlFlow<Stop>> Observer<T> for F {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        Ok(self(step))
    }
}

impl<T: Scalar> Observer<T> for Vec<Box<dyn Observer<T> + '_>> {
    fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
        let mut flow = ControlFlow::Continue(());
        for observer in self.iter_mut() {
            // All of them see the step; the first that stops gives the reason.
            let answer = observer.observe(step)?;
            flow = if flow.is_break() { flow } else { answer };
        }
        Ok(flow)
    }

    fn wants_measure(&self, tick: u64) -> bool {
        self.iter().any(|observer| observer.wants_measure(tick))
    }
}

macro_rules! tuple {
    ($($name:ident),*) => {
        impl<T: Scalar, $($name: Observer<T>),*> Observer<T> for ($($name,)*) {
            fn observe(&mut self, step: &Step<'_, T>) -> Result<ControlFlow<Stop>> {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                let mut flow = ControlFlow::Continue(());
                $(
                    let answer = $name.observe(step)?;
                    flow = if flow.is_break() { flow } else { answer };
                )*
                Ok(flow)
            }

            fn wants_measure(&self, tick: u64) -> bool {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                false $(|| $name.wants_measure(tick))*
            }
        }
    };
}
tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
