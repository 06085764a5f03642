//! Bytes that a fit takes, before it runs.

use faer::Par;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd_scratch};
use favard_operator::{
    Adjoint, AdjointOperator, Block, Gram, LinearOperator, RowOperator, Scalar, Workspace,
};

use crate::Solver;
use crate::error::Result;
use crate::pca::Plan;

/// A block of this shape.
pub(crate) fn block<T: Scalar>(rows: usize, cols: usize) -> usize {
    rows * Block::<T>::stride_for(cols) * size_of::<T>()
}

/// All eigenpairs of a small matrix: the matrix, its vectors, the vectors in descending order, and
/// faer's scratch.
pub(crate) fn symmetric<T: Scalar>(dim: usize) -> usize {
    let (want, spec) = (ComputeEigenvectors::Yes, faer::Spec::default());
    let scratch = self_adjoint_evd_scratch::<T>(dim, want, Par::Seq, spec);
    3 * dim * dim * size_of::<T>() + scratch.unaligned_bytes_required()
}

/// [`exact_eigen`](crate::exact_eigen): the matrix as the operator gave it, the small problem, a
/// panel of the identity and its image; then the vectors and their images.
pub(crate) fn exact<T: Scalar>(dim: usize, components: usize) -> usize {
    let matrices = dim * dim * size_of::<T>() + symmetric::<T>(dim);
    matrices + 2 * block::<T>(dim, T::LANE) + 2 * block::<T>(dim, components)
}

/// [`Eigen::of_span`](crate::Eigen): the block, its image and the residuals; then the block and the
/// vectors.
pub(crate) fn span<T: Scalar>(dim: usize, components: usize) -> usize {
    3 * block::<T>(dim, components)
}

/// The engine with dynamic momentum: the pair, the image of a measured step, its residuals, the
/// scratch of the QR of both, the start; then the span.
fn dynamic<T: Scalar>(dim: usize, components: usize) -> usize {
    let width = (components + 2).next_multiple_of(T::LANE).min(dim);
    8 * block::<T>(dim, width)
}

/// What the products of an operator with so many columns leave in a workspace.
fn scratch<T: Scalar>(op: &dyn LinearOperator<T>, cols: usize) -> Result<usize> {
    let (rows, dim) = op.shape();
    let (x, mut y, mut ws) = (Block::zeros(dim, cols), Block::zeros(rows, cols), Workspace::new());
    op.apply(T::one(), x.as_ref(), T::zero(), y.as_mut(), &mut ws)?;
    Ok(ws.bytes())
}

/// The moments of the columns: two numbers, and four sums while they are added up, for each of the
/// pieces of rows that are worked on apart.
fn moments(rows: usize, cols: usize) -> usize {
    let pieces = rows.div_ceil(256).min(16);
    (6 * pieces + 2) * cols * size_of::<f64>()
}

/// A fit to prepared data.
pub(crate) fn fit<T: Scalar>(op: &dyn RowOperator<T>, plan: &Plan) -> Result<usize> {
    let (rows, cols) = op.shape();
    let (dim, components) = (rows.min(cols), plan.components);
    let op: &dyn AdjointOperator<T> = op;
    let covariance = Gram::new(op);
    let wide = rows < cols;
    let outer = Gram::new(Adjoint::new(op));
    let side: &dyn LinearOperator<T> = if wide { &outer } else { &covariance };
    // Mean and scale in f64, and as the operator has them.
    let statistics = cols * (2 * size_of::<f64>() + 5 * size_of::<T>());
    let solve = match plan.solver.choose::<T>(dim, components).0 {
        Solver::Exact => exact::<T>(dim, components + 1) + scratch(side, T::LANE)?,
        Solver::Dynamic => {
            let width = (components + 2).next_multiple_of(T::LANE).min(dim);
            dynamic::<T>(dim, components) + scratch(side, width)?
        }
        _ => plan.lanczos(components).memory::<T>(dim) + scratch(side, components.max(8).min(dim))?,
    };
    // The right vectors: Aᵀ U, orthonormalised, and their span.
    let right = if wide {
        let left = block::<T>(rows, components);
        left + span::<T>(cols, components) + scratch(&covariance, components)?
    } else {
        0
    };
    Ok(statistics + moments(rows, cols).max(solve).max(right))
}
