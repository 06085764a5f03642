//! [`SvdFit`]: fitted singular triplets.

use favard_engine::Info;
use favard_operator::{
    AdjointOperator, Block, BlockRef, Orthonormalizer, Scalar, Workspace, check_dim,
};

use crate::error::Result;
use crate::pca::Decomposition;
use crate::{Certificate, Solver};

/// The singular triplets of a [`TruncatedSvd`](super::TruncatedSvd).
#[derive(Debug, Clone, PartialEq)]
pub struct SvdFit<T> {
    pub(super) decomposition: Decomposition<T>,
    pub(super) explained: Vec<f64>,
    pub(super) total: f64,
}

impl<T: Scalar> SvdFit<T> {
    /// The right singular vectors, one a column: d × k, orthonormal.
    #[must_use]
    pub fn components(&self) -> &Block<T> {
        &self.decomposition.eigen.vectors
    }

    /// $\sigma_1 \ge \sigma_2 \ge \dots$
    #[must_use]
    pub fn singular_values(&self) -> Vec<f64> {
        self.decomposition.singular_values()
    }

    /// The variance of each column of the transformed data, divided by n. Not descending in
    /// general: what is along the mean is large and need not vary.
    #[must_use]
    pub fn explained_variance(&self) -> &[f64] {
        &self.explained
    }

    /// The same as a share of the total variance of the data; zero for data without variance.
    #[must_use]
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let share = |&value: &f64| if self.total > 0.0 { value / self.total } else { 0.0 };
        self.explained.iter().map(share).collect()
    }

    /// Shares of $\lVert X \rVert_F^2$: $\sigma_j^2 / \sum_i \sigma_i^2$. Over all components they
    /// add up to one.
    #[must_use]
    pub fn energy_ratio(&self) -> Vec<f64> {
        self.decomposition.shares()
    }

    /// $\lVert X^T X v_j - \sigma_j^2 v_j \rVert$, recomputed from the data.
    #[must_use]
    pub fn residuals(&self) -> &[T] {
        &self.decomposition.eigen.residuals
    }

    /// What the residuals prove, for $\sigma_j^2$ and $v_j$.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.info().certificate
    }

    /// Whether all triplets were found and every residual meets the tolerance that was asked for,
    /// relative to $\sigma_1^2$.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.certificate().is_certified()
    }

    /// The method and why it was chosen, why the run stopped, what it cost, and the certificate.
    #[must_use]
    pub fn info(&self) -> &Info<T> {
        &self.decomposition.eigen.info
    }

    /// The method that was used, and why.
    #[must_use]
    pub fn method(&self) -> (Solver, &str) {
        (self.decomposition.method, &self.info().reason)
    }

    /// $X V = U \Sigma$, n × k.
    ///
    /// # Errors
    /// When `x` has another number of columns than the data of the fit.
    pub fn transform(&self, x: &impl AdjointOperator<T>) -> Result<Block<T>> {
        self.decomposition.transform(x)
    }

    /// $S V^T$, n × d.
    ///
    /// # Errors
    /// When the scores have another number of columns than there are components.
    pub fn inverse_transform(&self, scores: BlockRef<'_, T>) -> Result<Block<T>> {
        self.decomposition.inverse_transform(scores)
    }

    /// The left singular vectors $U = X V \Sigma^{-1}$ of the data of the fit, orthonormal, n × k:
    /// one product. Those of a singular value zero are any orthonormal columns. For a fit with
    /// weights, `x` is the weighted data $\sqrt{W} X$.
    ///
    /// # Errors
    /// When `x` has another shape than the data of the fit.
    pub fn left_vectors(&self, x: &impl AdjointOperator<T>) -> Result<Block<T>> {
        check_dim("rows of the data of the fit", self.decomposition.shape.0, x.shape().0)?;
        let mut left = self.transform(x)?;
        // X V = U Σ up to the residuals: its QR factor is U, the diagonal of R being positive.
        let mut qr = Orthonormalizer::new(left.cols());
        qr.orthonormalize(&mut [&mut left], &mut Workspace::new())?;
        Ok(left)
    }
}
