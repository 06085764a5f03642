//! [`Identity`].

use crate::error::check_dim;
use crate::{
    AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, RowOperator, Scalar, Workspace,
    ops,
};

/// The identity $I_n$.
///
/// # Cost
/// Two flops a number.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Identity, LinearOperator};
/// let y = Identity::new(2).multiply(BlockRef::column(&[1.0, 2.0]))?;
/// assert_eq!(y, Block::column(&[1.0, 2.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    dim: usize,
}

impl Identity {
    /// $I_n$.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self { dim }
    }
}

impl<T: Scalar> LinearOperator<T> for Identity {
    fn shape(&self) -> (usize, usize) {
        (self.dim, self.dim)
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
        ops::axpby(alpha, x, gamma, y)
    }

    fn is_infallible(&self) -> bool {
        true
    }

    fn work(&self) -> f64 {
        self.dim as f64
    }
}

impl<T: Scalar> AdjointOperator<T> for Identity {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.apply(alpha, x, gamma, y, ws)
    }
}

impl<T: Scalar> RowOperator<T> for Identity {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        RowOperator::<T>::check_rows(self, rows)?;
        check_dim("rows of x", self.dim, x.rows())?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("columns of z", x.cols(), z.cols())?;
        for (i, &row) in rows.iter().enumerate() {
            z.row_mut(i).copy_from_slice(x.row(row));
        }
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        RowOperator::<T>::check_rows(self, rows)?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("rows of y", self.dim, y.rows())?;
        check_dim("columns of y", z.cols(), y.cols())?;
        ops::scale(gamma, y.reborrow());
        for (i, &row) in rows.iter().enumerate() {
            let pairs = y.row_mut(row).iter_mut().zip(z.row(i));
            pairs.for_each(|(y, &z)| *y += alpha * z);
        }
        Ok(())
    }

    fn row_norm_squared(&self, _: usize) -> T {
        T::one()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        assert!(row < self.dim && col < self.dim, "entry ({row}, {col}) of {self:?}");
        if row == col { T::one() } else { T::zero() }
    }
}
