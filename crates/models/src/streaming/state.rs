//! [`State`]: what a stream leaves behind.

use favard_operator::{
    Adjoint, AdjointOperator, Block, Centered, ColumnMoments, Dense, Moments, Scalar, VStack,
    check_dim, ops,
};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Keeper;
use crate::error::Result;
use crate::memory;
use crate::pca::{
    Plan, Problem, Start, Statistics, Steps, Watch, check_finite, check_range, narrow, nothing,
};

/// What a stream does to its rows.
pub(super) const CENTERED: Steps = Steps { center: true, scale: false };

/// The mean and sums of squares of the columns, and the leading directions of the scatter
/// $S = \sum_i (x_i - \mu)(x_i - \mu)^T \approx V \Sigma^2 V^T$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct State<T: Scalar> {
    moments: Moments,
    /// V, d × r.
    vectors: Block<T>,
    /// Σ², descending.
    squares: Vec<f64>,
    /// The sum of the largest value that each batch threw away, as long as all were known.
    truncated: Option<f64>,
    /// The sum of the residuals ‖R‖ of the eigenspaces that were kept.
    inexact: f64,
    applications: u64,
    passes: f64,
}

impl<T: Scalar> State<T> {
    pub fn empty(cols: usize) -> Self {
        Self {
            moments: Moments::empty(cols),
            vectors: Block::zeros(cols, 0),
            squares: Vec::new(),
            truncated: Some(0.0),
            inexact: 0.0,
            applications: 0,
            passes: 0.0,
        }
    }

    pub fn rows(&self) -> usize {
        self.moments.count
    }

    pub fn columns(&self) -> usize {
        self.moments.mean.len()
    }

    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    pub fn directions(&self) -> (&Block<T>, &[f64]) {
        (&self.vectors, &self.squares)
    }

    /// Block products and passes over batches so far.
    pub fn cost(&self) -> (u64, f64) {
        (self.applications, self.passes)
    }

    /// n − 1, at least one.
    pub fn freedom(&self) -> f64 {
        self.rows().saturating_sub(1).max(1) as f64
    }

    /// tr S − tr Σ²: what was thrown away.
    pub fn discarded(&self) -> f64 {
        (self.total() - self.squares.iter().sum::<f64>()).max(0.0)
    }

    /// A bound on ‖S − V Σ² Vᵀ‖. A batch adds (0 Rᵀ; R D) to the difference, in the basis of what it
    /// kept and what it threw away: D is positive semidefinite, of norm at most its trace and at
    /// most the largest value thrown away.
    pub fn error(&self) -> f64 {
        let trace = self.discarded();
        self.truncated.map_or(trace, |truncated| truncated.min(trace)) + self.inexact
    }

    fn total(&self) -> f64 {
        self.moments.squares.iter().sum()
    }

    /// `Ok` when the parts fit each other: they may come from a file.
    pub fn check(&self) -> Result<()> {
        let cols = self.columns();
        check_dim("squares of the state", cols, self.moments.squares.len())?;
        check_dim("rows of the directions of the state", cols, self.vectors.rows())?;
        check_dim("directions of the state", self.vectors.cols(), self.squares.len())?;
        Ok(())
    }

    /// Runs `f` on the stack of what is kept, the rows of a batch around their mean, and the step
    /// from one mean to the other.
    fn with_stack<R>(
        &self,
        batch: &impl AdjointOperator<T>,
        fresh: &Moments,
        f: impl FnOnce(&dyn AdjointOperator<T>) -> Result<R>,
    ) -> Result<R> {
        let (n, m) = (self.rows() as f64, fresh.count as f64);
        // √(nm/(n+m)) (μ_B − μ)
        let factor = (n * m / (n + m)).sqrt();
        let gaps = fresh.mean.iter().zip(&self.moments.mean).map(|(b, a)| factor * (b - a));
        let gap: Vec<T> = gaps.map(T::of).collect();
        let gap = Block::from_fn(1, gap.len(), |_, j| gap[j]);
        // V Σ
        let mut kept = self.vectors.clone();
        let roots: Vec<T> = self.squares.iter().map(|square| T::of(square.sqrt())).collect();
        ops::scale_columns(&roots, kept.as_mut())?;
        let fresh_rows = Centered::new(batch, narrow(&fresh.mean))?;
        let parts: Vec<Box<dyn AdjointOperator<T> + '_>> = if n > 0.0 {
            let kept = Adjoint::new(Dense::new(kept.view())?);
            vec![Box::new(kept), Box::new(fresh_rows), Box::new(Dense::new(gap.view())?)]
        } else {
            vec![Box::new(fresh_rows)]
        };
        f(&VStack::new(parts)?)
    }

    /// The plan for a stack of so many rows seen in all.
    fn plan(&self, plan: &Plan, rows: usize) -> Plan {
        Plan { components: plan.components.min(rows).min(self.columns()), ..plan.clone() }
    }

    /// Bytes that [`absorb`](Self::absorb) will allocate at most at a time.
    pub fn memory(&self, batch: &impl AdjointOperator<T>, plan: &Plan) -> Result<usize> {
        let (rows, cols) = batch.shape();
        let fresh = Moments { count: rows, ..Moments::empty(cols) };
        let plan = self.plan(plan, self.rows() + rows);
        let fit = self.with_stack(batch, &fresh, |stack| memory::fit(stack, None, &plan))?;
        // The moments of the batch and of all rows; V Σ; the step from mean to mean, twice.
        let moments = 4 * cols * size_of::<f64>();
        Ok(fit
            + moments
            + memory::block::<T>(cols, self.vectors.cols())
            + 2 * cols * size_of::<T>())
    }

    /// The state after the rows of a batch.
    pub fn absorb<X>(&self, batch: &X, plan: &Plan, watch: &mut Watch<'_, T>) -> Result<Self>
    where
        X: AdjointOperator<T> + ColumnMoments<T>,
    {
        let fresh = batch.column_moments()?;
        check_finite(&fresh)?;
        let moments = self.moments.clone().merge(&fresh);
        check_finite(&moments)?;
        let plan = self.plan(plan, moments.count);
        let wanted = plan.components;
        let total = moments.squares.iter().sum::<f64>();
        check_scale(batch, &moments)?;
        let solution = if total == 0.0 {
            nothing(moments.mean.len(), wanted)
        } else {
            self.with_stack(batch, &fresh, |stack| {
                let keeper = &mut Keeper::default();
                Problem::new(stack, 1.0).balanced(total).solve(&plan, Start::Random, keeper, watch)
            })?
        };
        let eigen = solution.eigen;
        let residual = eigen.residuals.iter().map(|r| r.as_f64().powi(2)).sum::<f64>().sqrt();
        let next = match eigen.guard() {
            _ if wanted == moments.count || wanted == moments.mean.len() => Some(0.0),
            guard => guard.map(|(value, own)| value.as_f64().max(0.0) + own.as_f64()),
        };
        Ok(Self {
            moments,
            squares: eigen.values.iter().map(|value| value.as_f64().max(0.0)).collect(),
            truncated: self.truncated.zip(next).map(|(sum, next)| sum + next),
            inexact: self.inexact + residual,
            applications: self.applications + eigen.info.applications,
            passes: self.passes + eigen.info.passes,
            vectors: eigen.vectors,
        })
    }
}

/// `Ok` when the precision holds the squares of the rows so far, of which `batch` are the last.
fn check_scale<T: Scalar>(batch: &impl AdjointOperator<T>, moments: &Moments) -> Result<()> {
    // What the state holds are sums of squares: nothing is divided.
    let statistics = Statistics::new(moments, moments.count as f64, 1.0, CENTERED)?;
    let rows = Centered::new(batch, narrow(&statistics.mean))?;
    check_range(&rows, moments, &statistics, CENTERED)
}
