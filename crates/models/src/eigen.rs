//! [`Eigen`]: eigenpairs with their proof.

use favard_engine::{Info, RayleighRitz};
use favard_operator::{Block, LinearOperator, Scalar, Workspace};

use crate::error::Result;

/// Eigenpairs, largest first, with their proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen<T> {
    /// $\lambda_1 \ge \lambda_2 \ge \dots$
    pub values: Vec<T>,
    /// Orthonormal eigenvectors, one a column.
    pub vectors: Block<T>,
    /// $\lVert A v_j - \lambda_j v_j \rVert$, recomputed from the operator: there is an eigenvalue
    /// within that distance of $\lambda_j$.
    pub residuals: Vec<T>,
    /// Why it stopped and what it cost.
    pub info: Info<T>,
}

impl<T: Scalar> Eigen<T> {
    /// The best pairs in the span of a block, at most `count` of them, with residuals from one more
    /// product with the operator; that product is added to the cost in `info`.
    pub(crate) fn of_span(
        op: &(impl LinearOperator<T> + ?Sized),
        block: &Block<T>,
        count: usize,
        mut info: Info<T>,
    ) -> Result<Self> {
        let (mut image, mut ws) = (Block::zeros(block.rows(), block.cols()), Workspace::new());
        op.apply(T::one(), block.as_ref(), T::zero(), image.as_mut(), &mut ws)?;
        info.applications += 1;
        info.passes += 1.0;
        let mut ritz = RayleighRitz::new(block.cols());
        ritz.compute(block.as_ref(), image.as_ref(), info.iterations, &mut ws)?;
        let measure = ritz.measure();
        let mut vectors = Block::zeros(block.rows(), measure.ritz.len());
        ritz.rotate(block.as_ref(), vectors.as_mut())?;
        let count = count.min(measure.ritz.len());
        info.ritz = measure.ritz[..count].to_vec();
        info.residuals = measure.residuals[..count].to_vec();
        Ok(Self {
            values: info.ritz.clone(),
            vectors: vectors.as_ref().cols_range(0..count).to_owned(),
            residuals: info.residuals.clone(),
            info,
        })
    }

    /// Whether every residual is at most `tolerance` times the largest value.
    pub(crate) fn meets(&self, tolerance: f64) -> bool {
        let scale = self.values.iter().fold(0.0_f64, |m, value| m.max(value.abs().as_f64()));
        self.residuals.iter().all(|r| r.as_f64() <= tolerance * scale)
    }
}
