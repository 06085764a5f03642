//! [`VrPca`]: Oja's rule with variance reduction.

use favard_engine::gauge::PeriodicQr;
use favard_engine::recurrence::Oja;
use favard_operator::{Scalar, StochasticOperator};
use favard_theory::planner::Estimates;
use favard_theory::{Growth, Spread, epoch_factor_bound};

use super::sampled::Sampled;
use super::tuning::{gap, tune};
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// VR-PCA: Oja's rule on batches corrected by an anchor whose exact image is known. The noise
/// vanishes as the block converges, so it converges at a linear rate to any tolerance.
///
/// Batches of $\sqrt N$ terms and epochs of one further pass ($T = N/s$) unless said otherwise.
/// Without a given step it is the one with the least epoch factor, by the recursion of
/// [`epoch_factor_bound`] on $I + \eta A$ with the numbers of a sample. It works at any batch, one
/// term included, which momentum does not. It stops when the anchor's residuals, which cost nothing
/// more, are within the tolerance.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, VrPca};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(4000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 1.5 * v); // variances 2.25, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let found = Eigensolver::new(VrPca::default(), 1).tolerance(1e-10).solve(&op)?;
/// assert!(found.residuals[0] <= 1e-10 * found.values[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Shamir, "A stochastic PCA and SVD algorithm with an exponential convergence rate", 2015.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VrPca {
    step: Option<f64>,
    batch: Option<usize>,
    epoch: Option<u64>,
}

impl VrPca {
    /// η.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self { step: Some(step), ..self }
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
}

/// The longest epoch for which the recursion is run.
const LONGEST: u64 = 1 << 16;

/// The step with the least epoch factor out of $2^{-30} \dots 2^{10}$ over $\lambda_1$.
fn best_step(known: &Estimates, batch: u64, ticks: u64) -> Result<f64> {
    gap(known)?;
    let ticks = usize::try_from(ticks.min(LONGEST)).unwrap_or(1);
    let mut best = (f64::INFINITY, 1.0 / known.lambda1);
    for power in -60..=20 {
        let step = 2.0_f64.powf(0.5 * f64::from(power)) / known.lambda1;
        // I + ηA has the eigenvalues 1 + ηλ and the noise η²s_op/s.
        let growth = Growth::new(1.0 + step * known.lambda1, 1.0 + step * known.lambda2, 0.0)?;
        let noise = step * step * known.s_op / batch.max(1) as f64;
        if let Ok(factor) = epoch_factor_bound(&growth, noise, ticks, Spread::Flat)
            && factor < best.0
        {
            best = (factor, step);
        }
    }
    Ok(best.1)
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> Method<T, A> for VrPca {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let terms = task.op.terms();
        let batch = self.batch.unwrap_or(terms.isqrt().max(1)) as u64;
        let mut sampled = Sampled::new(terms, batch).lasting(self.epoch, None);
        let step = if let Some(step) = self.step {
            step
        } else {
            let tuned = tune(&mut task)?;
            sampled.vectors = tuned.vectors;
            best_step(&tuned.estimates, batch, sampled.ticks)?
        };
        let recurrence = Oja::new(T::of(step), T::zero())?;
        let guard = task.guard(0);
        sampled.run_reduced(task, guard, recurrence, |cols| Ok(PeriodicQr::new(cols, 1)?))
    }
}
