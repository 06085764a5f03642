//! [`OjaMomentum`]: Oja's rule with momentum.

use favard_engine::gauge::AugmentedQr;
use favard_engine::recurrence;
use favard_operator::{Scalar, StochasticOperator};
use favard_theory::{Growth, Start, tan2};

use super::sampled::Sampled;
use super::tuning::{epsilon, gap, tune};
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// Oja's rule with momentum, $F_{t+1} = (I + \eta A_t) F_t - \beta F_{t-1}$.
///
/// Its noise ball is $\frac{\kappa}{s} \sqrt\eta / (2\Delta)^{3/2}$ with
/// $\Delta = \lambda_k - \lambda_{k+1}$: at the same ball it is at most twice as fast as Oja's, so
/// this is here for comparison and for large batches. What is not given comes from a sample:
/// $\beta = (1 + \eta\lambda_{k+1})^2/4$, the step from half of $\epsilon = \text{tol}^2$ for the
/// ball, the length from the other half for the noiseless error. A tolerance that would take more ticks
/// than the budget has gets the step that the budget allows, and a larger ball.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, OjaMomentum};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(4000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 3.0 * v); // variances 9, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let method = OjaMomentum::default().step(1e-5).beta((1.0 + 1e-5_f64).powi(2) / 4.0);
/// let found = Eigensolver::new(method, 1).solve(&op)?;
/// assert!(found.vectors.row(0)[0].abs() > 0.99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OjaMomentum {
    step: Option<f64>,
    beta: Option<f64>,
    batch: Option<usize>,
    steps: Option<u64>,
}

impl OjaMomentum {
    /// η.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self { step: Some(step), ..self }
    }

    /// β, best $(1 + \eta\lambda_{k+1})^2/4$.
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta: Some(beta), ..self }
    }

    /// Terms of a batch; 1 unless said otherwise.
    #[must_use]
    pub fn batch(self, terms: usize) -> Self {
        Self { batch: Some(terms), ..self }
    }

    /// Ticks of the run.
    #[must_use]
    pub fn steps(self, ticks: u64) -> Self {
        Self { steps: Some(ticks), ..self }
    }
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> Method<T, A> for OjaMomentum {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        // Before anything is spent on estimates.
        recurrence::Oja::new(T::of(self.step.unwrap_or(0.0)), T::of(self.beta.unwrap_or(0.0)))?;
        let mut sampled = Sampled::new(task.op.terms(), self.batch.unwrap_or(1) as u64);
        let mut planned = None;
        let (step, beta) = match (self.step, self.beta) {
            (Some(step), Some(beta)) => (step, beta),
            (step, beta) => {
                let tuned = tune(&mut task)?;
                let (known, epsilon) = (tuned.estimates, epsilon(task.options.tolerance));
                let gap = gap(&known)?;
                // (κ/s) √η/(2Δ)^{3/2} = ε/2
                let noise = known.kappa / sampled.batch as f64;
                let root = epsilon * (2.0 * gap).powf(1.5) / (2.0 * noise);
                // Noiseless, tan²θ falls by exp(−2√(2ηΔ)) a tick: with a smaller step than this one the
                // budget ends before tan²θ = ε/2.
                let log = (2.0 * tan2(known.cos2)? / epsilon).ln();
                let budget = task.options.passes * task.op.terms() as f64 / sampled.batch as f64;
                let least = (0.5 * log / budget).powi(2) / (2.0 * gap);
                let step = step.unwrap_or((root * root).max(least).min(1.0 / known.lambda1));
                // β = (1 + ηλ₂)²/4
                let (top, edge) = (1.0 + step * known.lambda1, 1.0 + step * known.lambda2);
                let ticks = Growth::optimal(top, edge)?.iterations(
                    Start::U,
                    tan2(known.cos2)?,
                    epsilon / 2.0,
                )?;
                planned = Some(ticks as f64);
                sampled.vectors = tuned.vectors;
                (step, beta.unwrap_or(edge * edge / 4.0))
            }
        };
        let recurrence = recurrence::Oja::new(T::of(step), T::of(beta))?;
        let gauge = |cols| Ok(AugmentedQr::new(cols));
        sampled.lasting(self.steps, planned).run(task, recurrence, gauge)
    }
}
