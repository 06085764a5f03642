//! [`Decomposition`]: what a PCA and a singular value decomposition have in common once fitted.

use favard_operator::{
    AdjointOperator, Block, BlockRef, Centered, LinearOperator, Scalar, Scaled, check_dim, ops,
};

use super::Plan;
use super::sign::fix_signs;
use super::statistics::{Statistics, narrow};
use super::{Solution, Solver};
use crate::Eigen;
use crate::error::Result;

/// Eigenpairs of $C = A^T A / f$, with what was done to the columns and what is proved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decomposition<T> {
    pub eigen: Eigen<T>,
    pub statistics: Statistics,
    pub shape: (usize, usize),
    pub method: Solver,
    /// The eigenvalues, none negative, none beyond what the total leaves.
    pub values: Vec<f64>,
}

impl<T: Scalar> Decomposition<T> {
    pub fn new(
        solution: Solution<T>,
        statistics: Statistics,
        plan: &Plan,
        shape: (usize, usize),
    ) -> Self {
        let Solution { mut eigen, method, reason } = solution;
        fix_signs(&mut eigen.vectors);
        let rounding = eigen.rounding();
        let values = settle(&eigen, statistics.total);
        // λ_{k+1} ≤ Σ_{j>k} λ_j = tr C − Σ_{j≤k} λ_j, and Σ_{j≤k} λ_j ≥ Σ_{j≤k} θ_j (Ky Fan)
        let rest = (statistics.total - values.iter().sum::<f64>()).max(0.0) + rounding;
        eigen.info.certificate = eigen.certify(plan.tolerance, plan.components, Some(rest));
        (eigen.info.method, eigen.info.reason) = (method.to_string(), reason);
        Self { eigen, statistics, shape, method, values }
    }

    /// $(X - \mathbf{1}\mu^T) D^{-1} V$.
    pub fn transform(&self, x: &impl AdjointOperator<T>) -> Result<Block<T>> {
        let Statistics { mean, scale, .. } = &self.statistics;
        let (centred, v) = (Centered::new(x, narrow(mean))?, self.eigen.vectors.as_ref());
        if scale.iter().all(|scale| scale.to_bits() == 1.0_f64.to_bits()) {
            // V as it is, not a copy of it.
            return Ok(centred.multiply(v)?);
        }
        Ok(Scaled::new(centred, narrow(scale))?.multiply(v)?)
    }

    /// $S V^T D + \mathbf{1}\mu^T$.
    pub fn inverse_transform(&self, scores: BlockRef<'_, T>) -> Result<Block<T>> {
        let v = &self.eigen.vectors;
        check_dim("columns of the scores", v.cols(), scores.cols())?;
        let Statistics { mean, scale, .. } = &self.statistics;
        // Y ← 1μᵀ, then Y ← S (VᵀD) + Y
        let right = Block::from_fn(v.cols(), v.rows(), |i, j| v.row(j)[i] * T::of(scale[j]));
        let mut rows = Block::from_fn(scores.rows(), v.rows(), |_, j| T::of(mean[j]));
        ops::right_multiply(T::one(), scores, right.as_ref(), T::one(), rows.as_mut())?;
        Ok(rows)
    }

    /// The values as shares of the total, zero when there is none.
    pub fn shares(&self) -> Vec<f64> {
        let total = self.statistics.total;
        let share = |&value: &f64| if total > 0.0 { value / total } else { 0.0 };
        self.values.iter().map(share).collect()
    }

    /// $\sqrt{f \lambda_j}$.
    pub fn singular_values(&self) -> Vec<f64> {
        self.values.iter().map(|value| (value * self.statistics.freedom).sqrt()).collect()
    }
}

/// The exact pass knows how much there is in all: where the values before it leave no more than
/// rounding, a value is rounding too, and zero, unless it stands out from the noise that its own
/// residual shows. Rounding is bounded by √n ϵ, and most often far less.
fn settle<T: Scalar>(eigen: &Eigen<T>, total: f64) -> Vec<f64> {
    let rounding = eigen.rounding();
    let least = rounding / (eigen.vectors.rows() as f64).sqrt().max(1.0);
    let mut left = total;
    let settled = eigen.values.iter().zip(&eigen.residuals).map(|(value, residual)| {
        let value = value.as_f64().max(0.0);
        let noise = left <= rounding && value <= residual.as_f64() + least;
        let value = if noise { 0.0 } else { value };
        left -= value;
        value
    });
    settled.collect()
}
