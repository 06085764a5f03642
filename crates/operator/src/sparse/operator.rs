//! [`Csr`] as an operator.

use super::Csr;
use super::gram::Stored;
use crate::adjoint::{Forming, Side, Standardized};
use crate::error::check_dim;
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, Column, LinearOperator, Result,
    RowOperator, Scalar, Workspace,
};

impl<T: Scalar, I: Column> LinearOperator<T> for Csr<'_, T, I> {
    fn shape(&self) -> (usize, usize) {
        Csr::shape(self)
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        (T::kernels::<I>().forward)(self.as_stored(), None, alpha, x, gamma, y, ws);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        true
    }

    fn work(&self) -> f64 {
        self.entries() as f64
    }
}

impl<T: Scalar, I: Column> AdjointOperator<T> for Csr<'_, T, I> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        (T::kernels::<I>().transpose)(self.as_stored(), None, alpha, x, gamma, y, ws);
        Ok(())
    }

    fn apply_normal(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        between: Between<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_normal(x, &between, &y)?;
        (T::kernels::<I>().normal)(self.as_stored(), alpha, x, between.into(), gamma, y, ws);
        Ok(())
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        Some((T::kernels::<I>().forming)(self, Stored::ByRows, side))
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        by.check(Csr::shape(self))?;
        Ok(Some((T::kernels::<I>().form)(self, Stored::ByRows, side, &by)))
    }
}

impl<T: Scalar, I: Column> RowOperator<T> for Csr<'_, T, I> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of x", Csr::shape(self).1, x.rows())?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("columns of z", x.cols(), z.cols())?;
        self.check_rows(rows)?;
        let (one, zero) = (T::one(), T::zero());
        (T::kernels::<I>().forward)(self.as_stored(), Some(rows), one, x, zero, z, ws);
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("rows of y", Csr::shape(self).1, y.rows())?;
        check_dim("columns of y", z.cols(), y.cols())?;
        self.check_rows(rows)?;
        (T::kernels::<I>().transpose)(self.as_stored(), Some(rows), alpha, z, gamma, y, ws);
        Ok(())
    }

    fn row_norm_squared(&self, row: usize) -> T {
        // ‖aᵢ‖² = Σ_c a_ic²
        self.row(row).1.iter().map(|&value| value * value).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        assert!(col < Csr::shape(self).1, "column {col} of {}", Csr::shape(self).1);
        let (columns, values) = self.row(row);
        let found = I::of(col).and_then(|col| columns.binary_search(&col).ok());
        found.map_or(T::zero(), |position| values[position])
    }
}
