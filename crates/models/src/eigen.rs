//! [`Eigen`]: eigenpairs with their proof.

use favard_engine::Info;
use favard_operator::Block;

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
