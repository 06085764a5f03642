//! Bytes that a fit takes, before it runs.

use favard_engine::Record;
use favard_operator::{
    Adjoint, AdjointOperator, Batch, Block, Gram, LinearOperator, RowOperator, Scalar,
    StochasticOperator, Workspace, moments_memory, small,
};

use crate::error::Result;
use crate::pca::{Choice, Plan};
use crate::solvers::sample_terms;
use crate::symmetric::parts;
use crate::{Lanczos, Solver};

/// A block of this shape.
pub(crate) fn block<T: Scalar>(rows: usize, cols: usize) -> usize {
    rows * Block::<T>::stride_for(cols) * size_of::<T>()
}

/// A square matrix of faer's, whose columns begin at cache lines.
fn square<T: Scalar>(dim: usize) -> usize {
    dim * dim.next_multiple_of(T::LANE) * size_of::<T>()
}

/// All eigenpairs of a small matrix: the matrix, its vectors, the vectors in descending order, and
/// faer's scratch.
pub(crate) fn symmetric<T: Scalar>(dim: usize) -> usize {
    let scratch = small::symmetric_eigen_scratch::<T>(dim, parts(dim));
    3 * square::<T>(dim) + scratch.unaligned_bytes_required()
}

/// [`exact_eigen`](crate::exact_eigen): the matrix as the operator gave it with what that took, or
/// beside its symmetric half; then the small problem, or its vectors and their images.
pub(crate) fn exact<T: Scalar>(dim: usize, components: usize, forming: usize) -> usize {
    let matrix = block::<T>(dim, dim);
    let few = dim * (components + 1) * size_of::<T>() + 3 * block::<T>(dim, components);
    let solving = symmetric::<T>(dim).max(2 * square::<T>(dim) + few);
    (matrix + forming).max(matrix + square::<T>(dim)).max(solving)
}

/// What forming a matrix by products takes beside it, and beside the operator's scratch: columns of
/// the identity and their image.
pub(crate) fn slabs<T: Scalar>(dim: usize) -> usize {
    2 * block::<T>(dim, dim.min(4 * T::LANE))
}

/// [`Eigen::of_span`](crate::Eigen): the block, its image and the residuals; then the block and the
/// vectors.
pub(crate) fn span<T: Scalar>(dim: usize, components: usize) -> usize {
    3 * block::<T>(dim, components)
}

/// An engine on a block of so many columns: the pair, the image of a measured step, its residuals,
/// the scratch of the QR of both, and while all that is there the answer, orthonormalised, its span
/// and the span of the block before; and 4096 records. The scratch of a product is there twice, in
/// the engine and where the residuals are recomputed.
fn engine<T: Scalar>(dim: usize, cols: usize) -> usize {
    13 * block::<T>(dim, cols) + 4096 * size_of::<Record<T>>()
}

/// The columns of a block with guard columns.
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

/// A batch of so many terms, and what its products with so many columns leave in a workspace.
fn batch_scratch<T: Scalar>(
    op: &dyn StochasticOperator<T>,
    size: usize,
    cols: usize,
) -> Result<usize> {
    // Terms that do not follow one another, as samples do not.
    let batch = Batch { terms: (0..size).map(|i| i / 2).collect(), weights: vec![T::one(); size] };
    let (dim, mut ws) = (op.shape().0, Workspace::new());
    let (x, mut y) = (Block::zeros(dim, cols), Block::zeros(dim, cols));
    op.apply_terms(&batch, T::one(), x.as_ref(), T::zero(), y.as_mut(), &mut ws)?;
    // A list grows by doubling.
    Ok(2 * size * (size_of::<usize>() + size_of::<T>()) + ws.bytes())
}

/// The moments that are kept while a fit runs, and the mean as an operator has it.
pub(crate) fn moments_of(cols: usize) -> usize {
    3 * cols * size_of::<f64>()
}

/// One product with so many columns, its result and what it leaves in a workspace.
pub(crate) fn product<T: Scalar>(op: &dyn LinearOperator<T>, cols: usize) -> Result<usize> {
    Ok(block::<T>(op.shape().0, cols) + scratch(op, cols)?)
}

/// A method that samples the rows: its estimates on a sample, then the run itself. A batch that the
/// run plans by its estimates is counted as if it were all rows.
fn sampled<T: Scalar>(rows: &dyn RowOperator<T>, plan: &Plan, method: Solver) -> Result<usize> {
    let (terms, dim) = rows.shape();
    let (op, k) = (Gram::new(rows), plan.components);
    let ahead = guarded::<T>(dim, (k + 1).min(dim));
    let size = sample_terms(dim, terms);
    let looking = if method == Solver::AdaOja {
        0
    } else if size == terms {
        scratch(&op, ahead)?
    } else {
        batch_scratch(&op, size, ahead)?
    };
    let own = match method {
        Solver::Oja | Solver::OjaMomentum => 1,
        Solver::AdaOja => 10,
        Solver::VrPca => terms.isqrt().max(1),
        _ => terms,
    };
    let batch = plan.batch.unwrap_or(own).min(terms);
    let (cols, reduced) = match method {
        Solver::VrPca => (k, 4),
        Solver::Vr => ((k + 2).min(dim), 4),
        _ => (k, 0),
    };
    // The anchor, its image, and what is left of a block beside it; the vectors of the sample.
    let kept = reduced * block::<T>(dim, cols) + block::<T>(dim, k + 1);
    // The copy of a batch's rows in either workspace, and the old one while one of them grows; a
    // product with all rows in either.
    let running = engine::<T>(dim, cols) + kept + 3 * batch_scratch(&op, batch, cols)?;
    Ok((engine::<T>(dim, ahead) + 3 * looking).max(running + 2 * scratch(&op, cols)?))
}

/// The bytes of a fit to prepared data: `rows` is the same as `op` where it has rows to sample.
pub(crate) fn fit<T: Scalar>(
    op: &dyn AdjointOperator<T>,
    rows: Option<&dyn RowOperator<T>>,
    plan: &Plan,
) -> Result<usize> {
    let (height, cols) = op.shape();
    let (dim, components) = (height.min(cols), plan.components);
    let covariance = Gram::new(op);
    let wide = height < cols;
    let outer = Gram::new(Adjoint::new(op));
    let side: &dyn LinearOperator<T> = if wide { &outer } else { &covariance };
    // Mean and scale in f64, and as the operator has them.
    let statistics = cols * (2 * size_of::<f64>() + 5 * size_of::<T>());
    let choice = Choice::new(op);
    let lanczos = |plan: Lanczos| -> Result<usize> {
        let cols = plan.components().max(8).min(dim);
        let products = scratch(side, cols)?;
        let forming = choice.forming().filter(|_| plan.forms::<T>(dim, side.work()));
        let own = forming.map_or(products, |forming| products.max(forming.scratch));
        Ok(plan.memory_for::<T>(dim, side.work()) + own)
    };
    let on_engine = || -> Result<usize> {
        let cols = guarded::<T>(dim, components);
        Ok(engine::<T>(dim, cols) + 2 * scratch(side, cols)?)
    };
    let method = choice.choose::<T>(plan).0;
    let formed = || -> Result<usize> {
        let forming = match choice.forming() {
            Some(forming) => forming.scratch,
            None => slabs::<T>(dim) + scratch(side, dim.min(4 * T::LANE))?,
        };
        Ok(exact::<T>(dim, components, forming) + scratch(side, components)?)
    };
    let solve = match (method, rows) {
        (Solver::Exact, _) => formed()?,
        (Solver::Lanczos | Solver::Auto, _) if choice.patience::<T>(plan).is_some() => {
            lanczos(plan.lanczos())?.max(formed()?)
        }
        (Solver::Lanczos | Solver::Auto, _) => lanczos(plan.lanczos())?,
        // A few steps of block Lanczos find the ends of the spectrum first.
        (Solver::Inhomogeneous, _) => {
            on_engine()?.max(lanczos(Lanczos::new((components + 1).min(dim)))?)
        }
        (method, Some(rows)) if method.is_sampled() => sampled(rows, plan, method)?,
        _ => on_engine()?,
    };
    // The right vectors: Aᵀ U, orthonormalised, and their span.
    let right = if wide && !method.is_sampled() {
        let left = block::<T>(height, components);
        left + span::<T>(cols, components) + scratch(&covariance, components)?
    } else {
        0
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a number of entries
    let moments = moments_memory((height, cols), op.work() as usize);
    Ok(statistics + moments.max(solve).max(right))
}
