//! [`Newton`]: the gradient times the inverse of a Gram matrix that was formed.

use faer::{Accum, Mat};
use favard_engine::map::{Cost, StepMap};
use favard_operator::{
    AdjointOperator, Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace, ops,
    small,
};

/// $\Phi(y) = G^+ M^T (M y - b)$ with $G = M^T M$ as a matrix: one plain step from anywhere is the
/// solution, the next one removes what rounding left.
///
/// The gradient is made from the residual, in two passes: what is small is not a difference of
/// large numbers.
pub(super) struct Newton<'a, T> {
    op: &'a dyn AdjointOperator<T>,
    rhs: BlockRef<'a, T>,
    /// G⁺.
    inverse: &'a Mat<T>,
    /// −Mᵀ(b − M y) and ‖b − M y‖ of the block that was evaluated last.
    pub gradient: Block<T>,
    pub residuals: Vec<T>,
    cost: Cost,
}

impl<'a, T: Scalar> Newton<'a, T> {
    pub fn new(op: &'a dyn AdjointOperator<T>, rhs: BlockRef<'a, T>, inverse: &'a Mat<T>) -> Self {
        let (dim, cols) = (op.shape().1, rhs.cols());
        Self {
            op,
            rhs,
            inverse,
            gradient: Block::zeros(dim, cols),
            residuals: vec![T::zero(); cols],
            cost: Cost::default(),
        }
    }
}

impl<T: Scalar> StepMap<T> for Newton<'_, T> {
    fn name(&self) -> &'static str {
        "least-squares Newton"
    }

    fn dim(&self) -> usize {
        self.gradient.rows()
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        let (one, zero) = (T::one(), T::zero());
        // r ← M x − b,  g ← Mᵀ r
        let mut r = ws.take(self.rhs.rows(), x.cols());
        r.assign(self.rhs)?;
        self.op.apply(one, x, -one, r.as_mut(), ws)?;
        ops::column_norms(r.as_ref(), &mut self.residuals, ws)?;
        self.op.apply_adjoint(one, r.as_ref(), zero, self.gradient.as_mut(), ws)?;
        ws.give(r);
        self.cost.applications += 2;
        self.cost.passes += 2.0;
        // y ← α G⁺ g + γ y
        let (dim, cols) = self.gradient.shape();
        let g = Mat::from_fn(dim, cols, |i, j| self.gradient.row(i)[j]);
        let mut step = Mat::<T>::zeros(dim, cols);
        small::multiply(step.as_mut(), Accum::Replace, self.inverse.as_ref(), g.as_ref(), one);
        let step = Block::from_fn(dim, cols, |i, j| step[(i, j)]);
        ops::axpby(alpha, step.as_ref(), gamma, y)
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}
