//! [`PcaFit`]: fitted components.

use favard_engine::Info;
use favard_operator::{AdjointOperator, Block, BlockRef, Centered, LinearOperator, Scalar, Scaled};

use super::Solver;
use crate::Eigen;
use crate::error::Result;

/// The components of a [`Pca`](super::Pca), with everything that says how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct PcaFit<T> {
    eigen: Eigen<T>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    total: f64,
    shape: (usize, usize),
    tolerance: f64,
    method: Solver,
    reason: String,
}

impl<T: Scalar> PcaFit<T> {
    pub(super) fn new(
        mut eigen: Eigen<T>,
        mean: Vec<f64>,
        scale: Vec<f64>,
        total: f64,
        shape: (usize, usize),
        tolerance: f64,
        (method, reason): (Solver, String),
    ) -> Self {
        fix_signs(&mut eigen.vectors);
        Self { eigen, mean, scale, total, shape, tolerance, method, reason }
    }

    /// The components, one a column: d × k, orthonormal.
    #[must_use]
    pub fn components(&self) -> &Block<T> {
        &self.eigen.vectors
    }

    /// The variance along each component, descending. What rounding made negative is zero.
    #[must_use]
    pub fn explained_variance(&self) -> Vec<f64> {
        self.eigen.values.iter().map(|value| value.as_f64().max(0.0)).collect()
    }

    /// The variance along each component as a share of the total variance, which comes from an exact
    /// pass over the data: over all components the shares add up to one. Zero for data without
    /// variance.
    #[must_use]
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let share = |value: f64| if self.total > 0.0 { value / self.total } else { 0.0 };
        self.explained_variance().into_iter().map(share).collect()
    }

    /// The total variance.
    #[must_use]
    pub fn total_variance(&self) -> f64 {
        self.total
    }

    /// The mean variance of the directions left out: that of the noise in probabilistic PCA.
    #[must_use]
    pub fn noise_variance(&self) -> f64 {
        let left = self.shape.0.min(self.shape.1) - self.eigen.values.len();
        let rest = self.total - self.explained_variance().iter().sum::<f64>();
        if left == 0 { 0.0 } else { rest.max(0.0) / left as f64 }
    }

    /// The singular values of the centred and scaled data: $\sqrt{(n - 1) \lambda_j}$.
    #[must_use]
    pub fn singular_values(&self) -> Vec<f64> {
        let freedom = (self.shape.0 - 1) as f64;
        self.explained_variance().into_iter().map(|value| (value * freedom).sqrt()).collect()
    }

    /// The mean that was subtracted; zeros without centring.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What columns were divided by; ones without scaling.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// $\lVert C v_j - \lambda_j v_j \rVert$, recomputed from the operator. There is an eigenvalue of
    /// the covariance within that distance of each $\lambda_j$.
    #[must_use]
    pub fn residuals(&self) -> &[T] {
        &self.eigen.residuals
    }

    /// A bound on the angle between each component and the eigenvector it stands for,
    /// $\sin\angle \le \lVert r_j \rVert / \text{gap}_j$, with the gap to the neighbouring values
    /// less their own residuals (Davis and Kahan). Each residual is taken with $8\epsilon\sqrt{d}\lambda_1$
    /// for the rounding of its own computation. `None` where the neighbour is too close to tell
    /// them apart, or, for the last component, not known: then only the space that the cluster
    /// spans is determined.
    #[must_use]
    pub fn angle_bounds(&self) -> Vec<Option<f64>> {
        let value = |j: usize| self.eigen.values[j].as_f64();
        let largest = self.explained_variance().first().copied().unwrap_or(0.0);
        let dim = self.eigen.vectors.rows() as f64;
        let rounding = 8.0 * T::EPSILON.as_f64() * dim.sqrt() * largest;
        let residual = |j: usize| self.eigen.residuals[j].as_f64() + rounding;
        let count = self.eigen.values.len();
        (0..count)
            .map(|j| {
                let above = (j > 0).then(|| value(j - 1) - value(j) - residual(j - 1));
                let below = if j + 1 < count {
                    value(j) - value(j + 1) - residual(j + 1)
                } else if count == self.shape.0.min(self.shape.1) {
                    f64::INFINITY
                } else {
                    return None;
                };
                let gap = above.map_or(below, |above| above.min(below));
                (gap > residual(j)).then(|| (residual(j) / gap).min(1.0))
            })
            .collect()
    }

    /// Whether every residual meets the tolerance that was asked for, relative to $\lambda_1$.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.eigen.meets(self.tolerance)
    }

    /// Why the run stopped, and what it cost.
    #[must_use]
    pub fn info(&self) -> &Info<T> {
        &self.eigen.info
    }

    /// The method that was used, and why.
    #[must_use]
    pub fn method(&self) -> (Solver, &str) {
        (self.method, &self.reason)
    }

    fn narrow(values: &[f64]) -> Vec<T> {
        values.iter().map(|&value| T::of(value)).collect()
    }

    /// The scores of the rows of `x`: $(X - \mathbf{1}\mu^T) D^{-1} V$, n × k.
    ///
    /// # Errors
    /// When `x` has another number of columns than the data of the fit.
    pub fn transform(&self, x: &impl AdjointOperator<T>) -> Result<Block<T>> {
        let centred = Centered::new(x, Self::narrow(&self.mean))?;
        let scaled = Scaled::new(centred, Self::narrow(&self.scale))?;
        Ok(scaled.multiply(self.eigen.vectors.as_ref())?)
    }

    /// The rows that given scores stand for: $S V^T D + \mathbf{1}\mu^T$, n × d.
    ///
    /// # Errors
    /// When the scores have another number of columns than there are components.
    pub fn inverse_transform(&self, scores: BlockRef<'_, T>) -> Result<Block<T>> {
        let v = &self.eigen.vectors;
        favard_operator::check_dim("columns of the scores", v.cols(), scores.cols())?;
        Ok(Block::from_fn(scores.rows(), v.rows(), |i, j| {
            let sum: T = scores.row(i).iter().zip(v.row(j)).map(|(&s, &v)| s * v).sum();
            sum * T::of(self.scale[j]) + T::of(self.mean[j])
        }))
    }
}

/// In each column, the entry of largest absolute value becomes positive; the lowest index wins ties.
fn fix_signs<T: Scalar>(vectors: &mut Block<T>) {
    for j in 0..vectors.cols() {
        let mut best = (T::zero(), T::one());
        for i in 0..vectors.rows() {
            let value = vectors.row(i)[j];
            if value.abs() > best.0 {
                best = (value.abs(), value.signum());
            }
        }
        if best.1 < T::zero() {
            for i in 0..vectors.rows() {
                let value = vectors.row(i)[j];
                vectors.row_mut(i)[j] = -value;
            }
        }
    }
}
