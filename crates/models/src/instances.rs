//! The models in both precisions, compiled here once: see the module of this name in
//! `favard-operator`.

use favard_operator::{Block, Csr, Dense, LinearOperator, Scalar};

use crate::{LeastSquares, MatrixCompletion, Pca, Result, TruncatedSvd, exact_eigen};

/// Names what tests use most of the models.
fn all<T: Scalar>(sparse: &Csr<'static, T>, dense: &Dense<'static, T>) -> Result<Block<T>> {
    let (pca, svd, solver) = (Pca::new(1), TruncatedSvd::new(1), LeastSquares::new());
    pca.fit(sparse)?;
    pca.fit(dense)?;
    svd.fit(sparse)?;
    svd.fit(dense)?;
    let operator: &dyn LinearOperator<T> = dense;
    exact_eigen(operator, 1)?;
    MatrixCompletion::new(1).solve(sparse)?;
    let rhs = Block::zeros(1, 1);
    solver.fit(dense, &rhs)?;
    Ok(solver.fit(sparse, &rhs)?.x)
}

/// For `f32`.
///
/// # Errors
/// Those of the models.
pub fn single(sparse: &Csr<'static, f32>, dense: &Dense<'static, f32>) -> Result<Block<f32>> {
    all(sparse, dense)
}

/// For `f64`.
///
/// # Errors
/// Those of the models.
pub fn double(sparse: &Csr<'static, f64>, dense: &Dense<'static, f64>) -> Result<Block<f64>> {
    all(sparse, dense)
}
