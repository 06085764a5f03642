//! The locally linear stage that completion and phase retrieval share.
//!
//! Near a solution $x^*$ of $\min f$ the error of the heavy ball obeys
//!
//! $$ e_{t+1} = ((1 + \beta) I - \eta H) e_t - \beta e_{t-1}, \qquad H = \nabla^2 f(x^*), $$
//!
//! which is $F_{t+1} = A F_t - \beta F_{t-1}$ with $A = (1 + \beta) I - \eta H$. The step and β come
//! from the ends of the spectrum of H ([`Curvature`]); what is not linear, far from the solution, is
//! caught by the safeguards of [`Descent`].

mod curvature;
mod descent;
mod gradient;
mod monitor;
mod round;
mod runs;
mod watched;

pub(crate) use curvature::Curvature;
pub(crate) use descent::{Descent, Problem};
pub(crate) use gradient::Reading;
pub(crate) use runs::Runs;
use watched::Watched;

use std::ops::ControlFlow;

use favard_engine::{Info, Record, Stop};

/// A caller's callback: shown every record, it may stop the run.
pub(crate) type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// The report of a stage that was not run.
pub(crate) fn nothing_done<T>(stop: Stop) -> Info<T> {
    Info { method: "none".to_string(), reason: "not run".to_string(), ..Info::new(stop) }
}
