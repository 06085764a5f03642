//! Bytes that a fit takes, before it runs.

use faer::Par;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd_scratch};
use favard_engine::Record;
use favard_operator::{
    Adjoint, AdjointOperator, Block, Gram, LinearOperator, RowOperator, Scalar, Workspace,
};

use crate::Solver;
use crate::error::Result;
use crate::pca::{Choice, Plan};

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

/// An engine on a block with guard columns: the pair, the image of a measured step, its residuals,
/// the scratch of the QR of both, and while all that is there the answer, orthonormalised, its span
/// and the span of the block before; and 4096 records.
fn engine<T: Scalar>(dim: usize, components: usize) -> usize {
    15 * block::<T>(dim, guarded::<T>(dim, components)) + 4096 * size_of::<Record<T>>()
}

/// The columns of such a block.
fn guarded<T: Scalar>(dim: usize, components: usize) -> usize {
    (components + 2).next_multiple_of(T::LANE).min(dim)
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
    let method = Choice::new(op).choose::<T>(plan).0;
    let solve = match method {
        Solver::Exact => exact::<T>(dim, components + 1) + scratch(side, T::LANE)?,
        Solver::Lanczos | Solver::Auto => {
            plan.lanczos().memory::<T>(dim) + scratch(side, components.max(8).min(dim))?
        }
        method => {
            // Samples are rows: their side is that of the columns.
            let (dim, side) =
                if method.is_sampled() { (cols, &covariance as _) } else { (dim, side) };
            engine::<T>(dim, components) + scratch(side, guarded::<T>(dim, components))?
        }
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
