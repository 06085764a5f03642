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
use favard_operator::Scalar;

/// A caller's callback: shown every record, it may stop the run.
pub(crate) type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// The report of a stage that was not run.
pub(crate) fn nothing_done<T>(stop: Stop) -> Info<T> {
    Info { method: "none".to_string(), reason: "not run".to_string(), ..Info::new(stop) }
}

/// A power of two that brings numbers of this size close to one, where eighth powers of them are no
/// numbers of the precision; one elsewhere. The misfit of a product of two factors is of the fourth
/// degree in what is looked for, and its square is summed up. To multiply by it, and to divide, is exact.
pub(crate) fn unit<T: Scalar>(size: T) -> T {
    let most = T::max_value().as_f64().log2().floor() - 1.0;
    let exponent = size.as_f64().log2().round();
    if size == T::zero() || !size.is_finite() || 8.0 * exponent.abs() <= most {
        return T::one();
    }
    #[allow(clippy::cast_possible_truncation)] // 1022 at most
    T::of(2.0).powi(-(exponent.clamp(-most, most) as i32))
}

/// What a reason says of numbers that were multiplied by [`unit`].
pub(crate) fn multiplied<T: Scalar>(what: &str, factor: T) -> String {
    format!("; {what} were multiplied by 2^{}", factor.as_f64().log2())
}
