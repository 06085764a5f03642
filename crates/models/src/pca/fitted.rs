//! [`PcaFit`]: fitted components.

use favard_engine::Info;
use favard_operator::{AdjointOperator, Block, BlockRef, Scalar};

use super::Solver;
use super::decomposition::Decomposition;
use crate::Certificate;
use crate::error::Result;

/// The components of a [`Pca`](super::Pca), with everything that says how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct PcaFit<T>(pub(crate) Decomposition<T>);

impl<T: Scalar> PcaFit<T> {
    /// The components, one a column: d × k, orthonormal.
    #[must_use]
    pub fn components(&self) -> &Block<T> {
        &self.0.eigen.vectors
    }

    /// The variance along each component, descending. Where the total variance leaves nothing but
    /// rounding, it is zero.
    #[must_use]
    pub fn explained_variance(&self) -> Vec<f64> {
        self.0.values.clone()
    }

    /// The variance along each component as a share of the total variance, which comes from an exact
    /// pass over the data: over all components the shares add up to one. Zero for data without
    /// variance.
    #[must_use]
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        self.0.shares()
    }

    /// The total variance.
    #[must_use]
    pub fn total_variance(&self) -> f64 {
        self.0.statistics.total
    }

    /// The mean variance of the directions left out: that of the noise in probabilistic PCA. There
    /// are $\min(N, d) - k$ of them, N the rows or the sum of their weights.
    #[must_use]
    pub fn noise_variance(&self) -> f64 {
        let values = &self.0.values;
        let left = self.0.statistics.weight.min(self.0.shape.1 as f64) - values.len() as f64;
        let rest = self.total_variance() - values.iter().sum::<f64>();
        if left <= 0.0 { 0.0 } else { rest.max(0.0) / left }
    }

    /// The singular values of the centred, scaled and weighted data: $\sqrt{(N - 1) \lambda_j}$.
    #[must_use]
    pub fn singular_values(&self) -> Vec<f64> {
        self.0.singular_values()
    }

    /// The mean that was subtracted; zeros without centring.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.0.statistics.mean
    }

    /// What columns were divided by; ones without scaling.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.0.statistics.scale
    }

    /// N: the number of rows of the fit, or the sum of their weights.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.0.statistics.weight
    }

    /// $\lVert C v_j - \lambda_j v_j \rVert$, recomputed from the operator. There is an eigenvalue of
    /// the covariance within that distance of each $\lambda_j$.
    #[must_use]
    pub fn residuals(&self) -> &[T] {
        &self.0.eigen.residuals
    }

    /// What the residuals prove: error bounds of variances and angles, clusters, and whether the
    /// tolerance is met.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.info().certificate
    }

    /// A bound on the sine of the angle between each component and the eigenvector it stands for:
    /// [`Certificate::angle_bounds`].
    #[must_use]
    pub fn angle_bounds(&self) -> &[Option<f64>] {
        self.certificate().angle_bounds()
    }

    /// Whether all components were found and every residual meets the tolerance that was asked for,
    /// relative to $\lambda_1$.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.certificate().is_certified()
    }

    /// The method and why it was chosen, why the run stopped, what it cost, and the certificate.
    #[must_use]
    pub fn info(&self) -> &Info<T> {
        &self.0.eigen.info
    }

    /// The method that was used, and why.
    #[must_use]
    pub fn method(&self) -> (Solver, &str) {
        (self.0.method, &self.info().reason)
    }

    /// The scores of the rows of `x`: $(X - \mathbf{1}\mu^T) D^{-1} V$, n × k.
    ///
    /// # Errors
    /// When `x` has another number of columns than the data of the fit.
    pub fn transform(&self, x: &impl AdjointOperator<T>) -> Result<Block<T>> {
        self.0.transform(x)
    }

    /// The rows that given scores stand for: $S V^T D + \mathbf{1}\mu^T$, n × d.
    ///
    /// # Errors
    /// When the scores have another number of columns than there are components.
    pub fn inverse_transform(&self, scores: BlockRef<'_, T>) -> Result<Block<T>> {
        self.0.inverse_transform(scores)
    }
}
