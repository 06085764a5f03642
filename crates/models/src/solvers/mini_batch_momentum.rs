//! [`MiniBatchMomentum`]: the power iteration with momentum on batches.

use favard_engine::gauge::AugmentedQr;
use favard_engine::recurrence::{Momentum, Start};
use favard_operator::{Scalar, StochasticOperator};

use super::sampled::Sampled;
use super::tuning::{Rule, count, mini_batch, tune};
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// Mini-batch Power+M, Algorithm 1 of the paper: $F_{t+1} = A_t F_t - \beta F_{t-1}$ with a fresh
/// batch a tick.
///
/// The error ends in a ball of $\sin^2\theta \approx C/s$; momentum reaches it in
/// $O(1/\sqrt\Delta)$ ticks instead of $O(1/\Delta)$, and the ball is $1/\sqrt{2\Delta}$ times that
/// of the power iteration: fewer, larger batches. What is not given comes from the [`Rule`]:
/// $\beta = \lambda_{k+1}^2/4$, the batch $2C/\epsilon$ with $\epsilon = \text{tol}^2$, the ticks
/// until the noiseless error is ε/2, all measured on a sample of the terms. A batch that would be
/// larger than the data is all of the data, and the run then exact. With β and the batch given, a
/// run lasts for one pass.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, MiniBatchMomentum};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(20_000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 1.5 * v); // variances 2.25, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let method = MiniBatchMomentum::default().beta(0.25).batch(500);
/// let found = Eigensolver::new(method, 1).solve(&op)?;
/// assert!(found.vectors.row(0)[0].abs() > 0.98);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MiniBatchMomentum {
    beta: Option<f64>,
    batch: Option<usize>,
    steps: Option<u64>,
    rule: Rule,
}

impl MiniBatchMomentum {
    /// β, best $\lambda_{k+1}^2/4$; 0 is the mini-batch power iteration.
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta: Some(beta), ..self }
    }

    /// Terms of a batch.
    #[must_use]
    pub fn batch(self, terms: usize) -> Self {
        Self { batch: Some(terms), ..self }
    }

    /// Ticks of the run.
    #[must_use]
    pub fn steps(self, ticks: u64) -> Self {
        Self { steps: Some(ticks), ..self }
    }

    /// Where the other parameters come from; practical formulas unless said otherwise.
    #[must_use]
    pub fn rule(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> Method<T, A> for MiniBatchMomentum {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        // Before anything is spent on estimates.
        Momentum::new(T::of(self.beta.unwrap_or(0.0)), Start::U)?;
        let terms = task.op.terms();
        let (beta, sampled) = match (self.beta, self.batch) {
            (Some(beta), Some(batch)) => {
                (beta, Sampled::new(terms, batch as u64).lasting(self.steps, None))
            }
            (beta, batch) => {
                let tuned = tune(&mut task)?;
                let recipe = mini_batch(&tuned.estimates, task.options.tolerance, self.rule)?;
                let batch = batch.map_or_else(|| count(recipe.batch.value), |terms| terms as u64);
                let planned = Some(recipe.iterations.value);
                let mut sampled = Sampled::new(terms, batch).lasting(self.steps, planned);
                sampled.vectors = tuned.vectors;
                (beta.unwrap_or(recipe.beta.value), sampled)
            }
        };
        let recurrence = Momentum::new(T::of(beta), Start::U)?;
        sampled.run(task, recurrence, |cols| Ok(AugmentedQr::new(cols)))
    }
}
