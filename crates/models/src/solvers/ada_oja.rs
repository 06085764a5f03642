//! [`AdaOja`]: Oja's rule with an adaptive step.

use favard_engine::gauge::PeriodicQr;
use favard_engine::recurrence;
use favard_operator::{Scalar, StochasticOperator};

use super::sampled::Sampled;
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// Oja's rule with the step $\eta_t = \eta_0 / \sqrt{\sum_{s \le t} \lVert A_s Q_s \rVert_F^2}$ of
/// Henriksen and Ward: nothing to tune, nothing to estimate. The streaming baseline.
///
/// One pass over the terms in batches of ten unless said otherwise. The step falls like
/// $1/\sqrt t$, and the error with it: $\sin^2\theta \approx \frac{\kappa}{s}\frac{\eta_t}{2\Delta}$.
///
/// # Example
/// ```
/// use favard_models::solvers::{AdaOja, Eigensolver};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(4000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 3.0 * v); // variances 9, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let found = Eigensolver::new(AdaOja::default(), 1).solve(&op)?;
/// assert!(found.vectors.row(0)[0].abs() > 0.99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Henriksen, Ward, "AdaOja: Adaptive learning rates for streaming PCA", 2019.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaOja {
    scale: f64,
    batch: usize,
    steps: Option<u64>,
}

impl Default for AdaOja {
    fn default() -> Self {
        Self { scale: 1.0, batch: 10, steps: None }
    }
}

impl AdaOja {
    /// $\eta_0$; 1 unless said otherwise.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale, ..self }
    }

    /// Terms of a batch; 10 unless said otherwise.
    #[must_use]
    pub fn batch(self, terms: usize) -> Self {
        Self { batch: terms, ..self }
    }

    /// Ticks of the run; one pass over the terms unless said otherwise.
    #[must_use]
    pub fn steps(self, ticks: u64) -> Self {
        Self { steps: Some(ticks), ..self }
    }
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> Method<T, A> for AdaOja {
    fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let sampled = Sampled::new(task.op.terms(), self.batch as u64).lasting(self.steps, None);
        let recurrence = recurrence::AdaOja::new(T::of(self.scale))?;
        sampled.run(task, recurrence, |cols| Ok(PeriodicQr::new(cols, 1)?))
    }
}
