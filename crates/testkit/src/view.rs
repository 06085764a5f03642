//! The other products of an operator seen as operators, so that every law of `apply` can be asked
//! of them too.

use favard_operator::{
    AdjointOperator, Batch, Between, BlockMut, BlockRef, LinearOperator, Result, RowOperator,
    Scalar, StochasticOperator, Workspace, ops,
};

/// `apply_adjoint`: $A^T$.
pub(crate) struct Transposed<'a, A: ?Sized>(pub &'a A);

impl<T: Scalar, A: AdjointOperator<T> + ?Sized> LinearOperator<T> for Transposed<'_, A> {
    fn shape(&self) -> (usize, usize) {
        let (rows, cols) = self.0.shape();
        (cols, rows)
    }
    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.0.apply_adjoint(alpha, x, gamma, y, ws)
    }
}

/// `apply_normal` with nothing between: $A^T A$.
pub(crate) struct Normal<'a, A: ?Sized>(pub &'a A);

impl<T: Scalar, A: AdjointOperator<T> + ?Sized> LinearOperator<T> for Normal<'_, A> {
    fn shape(&self) -> (usize, usize) {
        let (_, cols) = self.0.shape();
        (cols, cols)
    }
    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.0.apply_normal(alpha, x, Between::default(), gamma, y, ws)
    }
}

/// `apply_rows`: $A_S$. The method itself knows neither α nor γ; they are added here.
pub(crate) struct Rows<'a, A: ?Sized> {
    pub op: &'a A,
    pub rows: &'a [usize],
}

impl<T: Scalar, A: RowOperator<T> + ?Sized> LinearOperator<T> for Rows<'_, A> {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.op.shape().1)
    }
    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        if gamma == T::zero() {
            self.op.apply_rows(self.rows, x, y.reborrow(), ws)?;
            ops::scale(alpha, y);
            return Ok(());
        }
        self.check_apply(x, &y)?;
        let mut z = ws.take(self.rows.len(), x.cols());
        self.op.apply_rows(self.rows, x, z.as_mut(), ws)?;
        ops::axpby(alpha, z.as_ref(), gamma, y)?;
        ws.give(z);
        Ok(())
    }
}

/// `apply_rows_adjoint`: $A_S^T$.
pub(crate) struct RowsTransposed<'a, A: ?Sized> {
    pub op: &'a A,
    pub rows: &'a [usize],
}

impl<T: Scalar, A: RowOperator<T> + ?Sized> LinearOperator<T> for RowsTransposed<'_, A> {
    fn shape(&self) -> (usize, usize) {
        (self.op.shape().1, self.rows.len())
    }
    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.op.apply_rows_adjoint(self.rows, alpha, x, gamma, y, ws)
    }
}

/// `apply_terms`: $\sum_j w_j A_{t_j}$.
pub(crate) struct Terms<'a, T, A: ?Sized> {
    pub op: &'a A,
    pub batch: &'a Batch<T>,
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> LinearOperator<T> for Terms<'_, T, A> {
    fn shape(&self) -> (usize, usize) {
        self.op.shape()
    }
    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.op.apply_terms(self.batch, alpha, x, gamma, y, ws)
    }
}
