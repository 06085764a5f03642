//! [`Problem`]: the leading eigenpairs of $s A^T A$, found on the smaller side of A.

use favard_engine::{Info, Record, Stop};
use favard_operator::{
    Adjoint, AdjointOperator, Block, Gram, LinearOperator, LowRank, Orthonormalizer, Scalar,
    Workspace, ops,
};

use super::solver::{Solution, Watch};
use super::{Plan, Solver};
use crate::Eigen;
use crate::error::Result;

/// Where a fit starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// From random columns.
    Random,
    /// From columns that should be close.
    Near(&'a Block<T>),
    /// From eigenpairs that are found already: only what is missing is looked for.
    Found(&'a Block<T>, &'a [T]),
}

/// The eigenproblem of $C = s A^T A$. With $\lambda$ and $u$ of $s A A^T$, the eigenvectors of C are
/// $A^T u$, so that the smaller of the two is iterated on.
pub(crate) struct Problem<'a, T> {
    op: &'a dyn AdjointOperator<T>,
    scale: f64,
    wide: bool,
}

impl<'a, T: Scalar> Problem<'a, T> {
    pub fn new(op: &'a dyn AdjointOperator<T>, scale: f64) -> Self {
        let (rows, cols) = op.shape();
        Self { op, scale, wide: rows < cols }
    }

    /// The leading eigenpairs of C.
    pub fn solve(
        &self,
        plan: &Plan,
        start: Start<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let random = matches!(start, Start::Random);
        if self.wide {
            let outer = Gram::new(Adjoint::new(self.op)).with_scale(self.scale)?;
            let solution = self.on_side(&outer, plan, start, watch)?;
            let Solution { eigen, method, reason } = solution;
            let mut eigen = self.right_vectors(eigen)?;
            // V is half a product with C, and so is A V of a start.
            eigen.info.passes += if random { 0.5 } else { 1.0 };
            Ok(Solution { eigen, method, reason })
        } else {
            let covariance = Gram::new(self.op).with_scale(self.scale)?;
            self.on_side(&covariance, plan, start, watch)
        }
    }

    /// The eigenpairs of one of the two Gram operators.
    fn on_side(
        &self,
        gram: &dyn LinearOperator<T>,
        plan: &Plan,
        start: Start<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let iteration = plan.lanczos(plan.components);
        match start {
            Start::Random => plan.solver.solve(gram, &iteration, None, watch),
            Start::Near(v) => {
                let start = self.to_side(v)?;
                plan.solver.solve(gram, &iteration, Some(&start), watch)
            }
            Start::Found(v, values) => {
                let basis = self.to_side(v)?;
                let solution = extend(gram, basis, values, plan, watch)?;
                if solution.eigen.meets(plan.tolerance) || stopped(solution.eigen.info.stop) {
                    return Ok(solution);
                }
                // Together they are a little less exact than each was: a few steps with all.
                let start = solution.eigen.vectors;
                let mut polished = plan.solver.solve(gram, &iteration, Some(&start), watch)?;
                add_cost(&mut polished.eigen.info, &solution.eigen.info);
                Ok(polished)
            }
        }
    }

    /// Orthonormal columns on the side that is iterated on: V itself, or A V.
    fn to_side(&self, v: &Block<T>) -> Result<Block<T>> {
        let (mut start, mut ws) = (v.clone(), Workspace::new());
        if self.wide {
            start = Block::zeros(self.op.shape().0, v.cols());
            self.op.apply(T::one(), v.as_ref(), T::zero(), start.as_mut(), &mut ws)?;
        }
        Orthonormalizer::new(v.cols()).orthonormalize(&mut [&mut start], &mut ws)?;
        Ok(start)
    }

    /// From left singular vectors to right ones: $V = A^T U$, orthonormalised, with the residuals
    /// of C itself.
    fn right_vectors(&self, left: Eigen<T>) -> Result<Eigen<T>> {
        let (cols, count) = (self.op.shape().1, left.values.len());
        let guard = left.guard();
        let Eigen { vectors: u, info, .. } = left;
        let mut v = Block::zeros(cols, count);
        {
            let mut ws = Workspace::new();
            self.op.apply_adjoint(T::one(), u.as_ref(), T::zero(), v.as_mut(), &mut ws)?;
            drop(u);
            Orthonormalizer::new(count).orthonormalize(&mut [&mut v], &mut ws)?;
        }
        let covariance = Gram::new(self.op).with_scale(self.scale)?;
        let mut found = Eigen::of_span(&covariance, &v, count, info)?;
        if let Some((value, residual)) = guard.filter(|_| found.values.len() == count) {
            // The nonzero eigenvalues of the two sides are the same.
            found.info.ritz.push(value);
            found.info.residuals.push(residual);
        }
        Ok(found)
    }
}

/// Whether somebody, or a limit, ended the run.
fn stopped(stop: Stop) -> bool {
    !matches!(stop, Stop::Converged | Stop::Stagnated)
}

/// Adds the cost of an earlier run.
fn add_cost<T: Scalar>(info: &mut Info<T>, earlier: &Info<T>) {
    info.iterations += earlier.iterations;
    info.applications += earlier.applications;
    info.passes += earlier.passes;
    let shift = |record: &Record<T>| Record {
        tick: record.tick + earlier.iterations,
        passes: record.passes + earlier.passes,
        ..*record
    };
    let later = info.history.iter().map(shift);
    info.history = earlier.history.iter().copied().chain(later).collect();
}

/// The missing pairs are the leading ones of $A - B \Lambda B^T$ (Hotelling's deflation); the best
/// pairs in the span of all of them are the answer, and what deflation left of the old ones in the
/// new ones does not matter.
fn extend<T: Scalar>(
    gram: &dyn LinearOperator<T>,
    basis: Block<T>,
    values: &[T],
    plan: &Plan,
    watch: &mut Watch<'_, T>,
) -> Result<Solution<T>> {
    let (dim, found, wanted) = (basis.rows(), basis.cols(), plan.components);
    let mut update = basis.clone();
    let factors: Vec<T> = values.iter().map(|&value| -value).collect();
    ops::scale_columns(&factors, update.as_mut())?;
    let deflated = LowRank::new(gram, update, basis)?;
    // Residuals are asked for relative to λ₁, which deflation has taken away: what it leaves is at
    // most the last of the values. Half, because the pairs meet again below.
    let (largest, last) = (values[0].as_f64(), values[found - 1].as_f64());
    let tolerance = (0.5 * plan.tolerance * largest / last).min(1.0);
    // With the memory that a fit of all of them would take.
    let more = plan.lanczos(wanted - found).basis((2 * wanted).max(wanted + 32));
    let more = if last > 0.0 { more.tolerance(tolerance) } else { more };
    let Solution { eigen, method, reason } = plan.solver.solve(&deflated, &more, None, watch)?;
    let (_, basis) = deflated.factors();
    let count = found + eigen.values.len();
    let mut all = Block::zeros(dim, count);
    ops::copy(basis.as_ref(), all.as_mut().cols_range(0..found))?;
    ops::copy(eigen.vectors.as_ref(), all.as_mut().cols_range(found..count))?;
    let eigen = Eigen::of_span(gram, &all, wanted, eigen.info)?;
    let reason = format!("{reason}; {found} components were known");
    Ok(Solution { eigen, method, reason })
}

/// Data without any variance: every vector is an eigenvector of $C = 0$, exactly.
pub(crate) fn nothing<T: Scalar>(dim: usize, count: usize) -> Solution<T> {
    let zeros = vec![T::zero(); count];
    let vectors = Block::from_fn(dim, count, |i, j| if i == j { T::one() } else { T::zero() });
    let info = Info {
        stop: Stop::Converged,
        iterations: 0,
        applications: 0,
        passes: 0.0,
        seed: None,
        history: Vec::new(),
        ritz: zeros.clone(),
        residuals: zeros.clone(),
    };
    let eigen = Eigen { values: zeros.clone(), vectors, residuals: zeros, info };
    let reason = "the data has no variance: there is nothing to find".to_string();
    Solution { eigen, method: Solver::Auto, reason }
}
