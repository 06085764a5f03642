//! [`Oja`]: Oja's rule.

use favard_engine::gauge::PeriodicQr;
use favard_engine::recurrence;
use favard_operator::{Scalar, StochasticOperator};
use favard_theory::planner::Estimates;
use favard_theory::tan2;

use super::sampled::Sampled;
use super::tuning::{epsilon, gap, tune};
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// Oja's rule, $F_{t+1} = F_t + \eta A_t F_t$ with a small batch, one term unless said otherwise.
///
/// The step trades speed for noise: the error ends in a ball of
/// $\sin^2\theta \approx \frac{\kappa}{s} \frac{\eta}{2\Delta}$ with
/// $\Delta = \lambda_k - \lambda_{k+1}$. Without a given step that ball is half of what the
/// tolerance asks for, $\epsilon = \text{tol}^2$ (and $\eta\lambda_k \le 1$), and the run lasts until
/// the rest has shrunk to the other half, $t = \ln(2 \tan^2\theta_0 / \epsilon) / (2\eta\Delta)$, or
/// until the budget is used up; κ and Δ are measured on a sample. With a given step it lasts for one
/// pass.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, Oja};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(4000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 3.0 * v); // variances 9, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let found = Eigensolver::new(Oja::default().step(1e-3), 1).solve(&op)?;
/// assert!(found.vectors.row(0)[0].abs() > 0.99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Oja, "A simplified neuron model as a principal component analyzer", 1982.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Oja {
    step: Option<f64>,
    batch: Option<usize>,
    steps: Option<u64>,
}

impl Oja {
    /// η.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self { step: Some(step), ..self }
    }

    /// The step that is used unless one is given,
    /// $\eta = \min(\epsilon \Delta s / \kappa, 1/\lambda_k)$ with $\epsilon = \text{tol}^2$,
    /// $\lambda_k$ and $\lambda_{k+1}$ being the two eigenvalues of the estimates.
    ///
    /// # Errors
    /// When there is no gap between them.
    ///
    /// # Example
    /// ```
    /// use favard_models::solvers::Oja;
    /// use favard_theory::planner::Estimates;
    /// let known = Estimates { kappa: 8.0, ..Estimates::from_spectrum(&[1.0, 0.9])? };
    /// let step = Oja::step_for(&known, 4, 0.1)?;
    /// assert!((step - 0.01 * 0.1 * 4.0 / 8.0).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step_for(known: &Estimates, batch: u64, tolerance: f64) -> Result<f64> {
        // κη/(2Δs) = ε/2
        let ball = epsilon(tolerance) * gap(known)? * batch as f64 / known.kappa;
        Ok(ball.min(1.0 / known.lambda1))
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

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> Method<T, A> for Oja {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let mut sampled = Sampled::new(task.op.terms(), self.batch.unwrap_or(1) as u64);
        let (mut step, mut planned) = (self.step.unwrap_or(0.0), None);
        if self.step.is_none() {
            let tuned = tune(&mut task)?;
            let (known, tolerance) = (tuned.estimates, task.options.tolerance);
            let (epsilon, gap) = (epsilon(tolerance), gap(&known)?);
            step = Self::step_for(&known, sampled.batch, tolerance)?;
            planned = Some((2.0 * tan2(known.cos2)? / epsilon).ln() / (2.0 * step * gap));
            sampled.vectors = tuned.vectors;
        }
        let recurrence = recurrence::Oja::new(T::of(step), T::zero())?;
        let gauge = |cols| Ok(PeriodicQr::new(cols, 1)?);
        sampled.lasting(self.steps, planned).run(task, recurrence, gauge)
    }
}
