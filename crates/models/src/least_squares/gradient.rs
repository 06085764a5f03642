//! [`Gradient`]: the exact gradient of a least-squares problem as a map of the engine.

use favard_engine::map::{Cost, StepMap};
use favard_operator::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, Result as OperatorResult, Scalar,
    Workspace, ops,
};

/// $\Phi(y) = M^T M y - M^T b$, one pass, with what the convergence test needs.
///
/// It is [`Affine`](favard_engine::map::Affine) around an exact Gram operator that also remembers
/// the gradient it has just made, and $\lVert b - M y \rVert^2 = \lVert b \rVert^2 + y^T (\Phi(y) - M^T b)$.
pub(super) struct Gradient<'a, T> {
    op: &'a dyn AdjointOperator<T>,
    /// Mᵀb.
    image: &'a Block<T>,
    /// ‖bⱼ‖².
    squares: Vec<T>,
    /// Φ of the block that was evaluated last.
    pub last: Block<T>,
    /// ‖b − M y‖ of it.
    pub residuals: Vec<T>,
    cost: Cost,
}

impl<'a, T: Scalar> Gradient<'a, T> {
    pub fn new(op: &'a dyn AdjointOperator<T>, image: &'a Block<T>, sizes: &[T]) -> Self {
        Self {
            op,
            image,
            squares: sizes.iter().map(|&size| size * size).collect(),
            last: Block::zeros(image.rows(), image.cols()),
            residuals: sizes.to_vec(),
            cost: Cost::default(),
        }
    }
}

impl<T: Scalar> StepMap<T> for Gradient<'_, T> {
    fn name(&self) -> &'static str {
        "least-squares gradient"
    }

    fn dim(&self) -> usize {
        self.image.rows()
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        let Self { op, image, last: gradient, residuals, squares, cost } = self;
        // g ← Mᵀ(M x) − Mᵀb
        gradient.assign(image.as_ref())?;
        op.apply_normal(T::one(), x, Between::default(), -T::one(), gradient.as_mut(), ws)?;
        // ‖r‖² = ‖b‖² + xᵀg − xᵀMᵀb
        let mut shares = ws.take(1, x.cols());
        ops::column_dots(x, gradient.as_ref(), residuals, ws)?;
        ops::column_dots(x, image.as_ref(), shares.row_mut(0), ws)?;
        for ((residual, &share), &square) in residuals.iter_mut().zip(shares.row(0)).zip(&*squares)
        {
            *residual = (square + *residual - share).max(T::zero()).sqrt();
        }
        ws.give(shares);
        ops::axpby(alpha, gradient.as_ref(), gamma, y)?;
        cost.applications += 1;
        cost.passes += 1.0;
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}
