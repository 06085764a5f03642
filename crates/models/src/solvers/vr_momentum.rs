//! [`VrMomentum`]: the power iteration with momentum and variance reduction.

use favard_engine::gauge::AugmentedQr;
use favard_engine::recurrence::{Momentum, Start};
use favard_operator::{Scalar, StochasticOperator};

use super::calm::Calm;
use super::sampled::Sampled;
use super::tuning::{Rule, count, fewest_passes, tune, variance_reduced};
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// VR Power+M, Algorithm 2 of the paper with its indices corrected (erratum 3.12): momentum on
/// batches corrected by an anchor, restarted from it at every epoch.
///
/// No noise ball: the error falls by a factor an epoch, at $1 + Ts/N$ passes each. Batch and epoch
/// come from the [`Rule`] unless given: the practical one takes those with the fewest passes for a
/// given error, by the recursion of the epoch's factor with the numbers of a sample of the terms.
/// Below some batch momentum loses to no momentum (at Δ = 0.1 and d = 10: s < 487): use
/// [`VrPca`](super::VrPca) there.
///
/// β is given, or it follows the guard columns of the anchor, whose Ritz values are exact:
/// $2\sqrt\beta = \max \theta_{k+1}$, never above $\lambda_{k+1}$. It stops when the anchor's
/// residuals, which cost nothing more, are within the tolerance.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, VrMomentum};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(4000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 1.5 * v); // variances 2.25, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let method = VrMomentum::default().beta(0.25).batch(400).epoch(5);
/// let found = Eigensolver::new(method, 1).tolerance(1e-12).solve(&op)?;
/// assert!(found.residuals[0] <= 1e-12 * found.values[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VrMomentum {
    beta: Option<f64>,
    batch: Option<usize>,
    epoch: Option<u64>,
    start: Start,
    rule: Rule,
}

impl VrMomentum {
    /// β, best $\lambda_{k+1}^2/4$; 0 is the power iteration with variance reduction.
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta: Some(beta), ..self }
    }

    /// Terms of a batch.
    #[must_use]
    pub fn batch(self, terms: usize) -> Self {
        Self { batch: Some(terms), ..self }
    }

    /// Ticks of an epoch.
    #[must_use]
    pub fn epoch(self, ticks: u64) -> Self {
        Self { epoch: Some(ticks), ..self }
    }

    /// Which of the two families an epoch follows; U unless said otherwise.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// Where batch and epoch come from; practical formulas unless said otherwise.
    #[must_use]
    pub fn rule(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> Method<T, A> for VrMomentum {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        // Before anything is spent on estimates.
        Momentum::new(T::of(self.beta.unwrap_or(0.0)), self.start)?;
        let (terms, components) = (task.op.terms(), task.options.components);
        let guard = task.guard(if self.beta.is_some() { 0 } else { 2 });
        let mut beta = self.beta;
        let sampled = match (self.batch, self.epoch) {
            (Some(batch), Some(epoch)) if beta.is_some() || guard > 0 => {
                Sampled::new(terms, batch as u64).lasting(Some(epoch), None)
            }
            (batch, epoch) => {
                let tuned = tune(&mut task)?;
                let recipe = variance_reduced(&tuned.estimates, task.options.tolerance, self.rule)?;
                let mut plan = (count(recipe.batch.value), count(recipe.iterations.value));
                let given = (batch.map(|terms| terms as u64), epoch);
                if self.rule == Rule::Practical {
                    plan = fewest_passes(&tuned.estimates, given, plan)?;
                }
                let batch = given.0.unwrap_or(plan.0);
                let mut sampled = Sampled::new(terms, batch).lasting(epoch.or(Some(plan.1)), None);
                sampled.vectors = tuned.vectors;
                if guard == 0 {
                    beta = beta.or(Some(recipe.beta.value));
                }
                sampled
            }
        };
        let gauge = |cols| Ok(AugmentedQr::new(cols));
        if let Some(beta) = beta {
            let recurrence = Momentum::new(T::of(beta), self.start)?;
            return sampled.run_reduced(task, guard, recurrence, gauge);
        }
        let recurrence = Calm::guarded(None, components, self.start).anchored();
        sampled.run_reduced(task, guard, recurrence, gauge)
    }
}
