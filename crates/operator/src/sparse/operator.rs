//! [`Csr`] as an operator.

use super::Csr;
use crate::error::check_dim;
use crate::kernel::{All, forward, transpose};
use crate::{
    AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, RowOperator, Scalar, Workspace,
};

impl<T: Scalar> LinearOperator<T> for Csr<'_, T> {
    fn shape(&self) -> (usize, usize) {
        Csr::shape(self)
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        forward(self.as_rows(), All, alpha, x, gamma, y);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        true
    }
}

impl<T: Scalar> AdjointOperator<T> for Csr<'_, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        transpose(self.as_rows(), All, alpha, x, gamma, y);
        Ok(())
    }
}

impl<T: Scalar> RowOperator<T> for Csr<'_, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        z: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of x", Csr::shape(self).1, x.rows())?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("columns of z", x.cols(), z.cols())?;
        self.check_rows(rows)?;
        forward(self.as_rows(), rows, T::one(), x, T::zero(), z);
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("rows of y", Csr::shape(self).1, y.rows())?;
        check_dim("columns of y", z.cols(), y.cols())?;
        self.check_rows(rows)?;
        transpose(self.as_rows(), rows, alpha, z, gamma, y);
        Ok(())
    }

    fn row_norm_squared(&self, row: usize) -> T {
        // ‖aᵢ‖² = Σ_c a_ic²
        self.row(row).1.iter().map(|&value| value * value).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        assert!(col < Csr::shape(self).1, "column {col} of {}", Csr::shape(self).1);
        let (columns, values) = self.row(row);
        let found = u32::try_from(col).ok().and_then(|col| columns.binary_search(&col).ok());
        found.map_or(T::zero(), |position| values[position])
    }
}
