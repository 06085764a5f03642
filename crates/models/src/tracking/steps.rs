//! [`TrackingStep`] and the recurrence that carries it.

use std::sync::{Arc, Mutex, PoisonError};

use favard_engine::recurrence::{Progress, Recurrence, Triple};
use favard_engine::{Memory, Result};
use favard_operator::Scalar;
use serde::{Deserialize, Serialize};

/// What a batch with covariance $A_t$ does to the subspace.
///
/// # Example
/// ```
/// use favard_models::{SubspaceTracker, TrackingStep};
/// let tracker = SubspaceTracker::<f64>::new(100, 5)?.step(TrackingStep::Oja(0.01));
/// # Ok::<(), favard_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TrackingStep {
    /// $F \leftarrow A_t F$: what is older than $1 / (1 - \lambda_{k+1}/\lambda_k)$ batches is
    /// forgotten. For batches of many more rows than k.
    #[default]
    Power,
    /// $F \leftarrow F + \eta A_t F$: forgets after about
    /// $1 / (\eta (\lambda_k - \lambda_{k+1}))$ batches, and takes batches of any size. Less noise,
    /// more lag.
    Oja(f64),
}

impl TrackingStep {
    /// (a, b) of a A + b I.
    pub(super) fn weights(self) -> (f64, f64) {
        match self {
            Self::Power => (1.0, 0.0),
            Self::Oja(step) => (step, 1.0),
        }
    }
}

/// The coefficients of the coming step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub a: f64,
    pub b: f64,
    pub beta: f64,
}

impl Default for Settings {
    /// A power step.
    fn default() -> Self {
        Self { a: 1.0, b: 0.0, beta: 0.0 }
    }
}

/// $F_{t+1} = a A_t F_t + b F_t - \beta F_{t-1}$ with coefficients that the tracker sets between
/// steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Lever(Arc<Mutex<Settings>>);

impl Lever {
    pub fn set(&self, settings: Settings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    fn get(&self) -> Settings {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Scalar> Recurrence<T> for Lever {
    fn name(&self) -> &'static str {
        "tracking"
    }

    fn triple(&mut self, _: &Progress<'_, T>) -> Triple<T> {
        let Settings { a, b, beta } = self.get();
        Triple { a: T::of(a), b: T::of(b), c: T::of(beta) }
    }

    fn memory(&self) -> Memory<T> {
        let Settings { a, b, beta } = self.get();
        Memory::of("tracking").scalars([T::of(a), T::of(b), T::of(beta)])
    }

    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        memory.check_name("tracking")?;
        if let [a, b, beta] = memory.scalars[..] {
            self.set(Settings { a: a.as_f64(), b: b.as_f64(), beta: beta.as_f64() });
        }
        Ok(())
    }
}
