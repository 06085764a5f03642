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

/// What names them.
pub type All<T> = fn(&Csr<'static, T>, &Dense<'static, T>) -> Result<Block<T>>;

/// The instances: what is named by a static is compiled.
pub static ALL: (All<f32>, All<f64>) = (all, all);
