//! [`Matrix`]: dense or sparse, one type for the models.

use favard_io::OnDisk;
use favard_operator::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, ColumnMoments, Dense, Forming,
    LinearOperator, Moments, Outer, Result, RowOperator, Scalar, Scatter, Side, Sparse,
    Standardized, WeightedMoments, Workspace,
};

/// A matrix that Python holds, or that stays in its file, as an operator; reading it once has shown that it is one. One type:
/// the models are compiled once for it, not once for each format.
pub enum Matrix<'a, T: Scalar> {
    Dense(Dense<'a, T>),
    Sparse(Sparse<'a, T>),
    /// With columns of 64 bits, read where they are.
    Long(Sparse<'a, T, i64>),
    OnDisk(Box<OnDisk<T>>),
}

/// Runs the same code on either.
macro_rules! on {
    ($matrix:expr, $x:ident => $body:expr) => {
        match $matrix {
            Matrix::Dense($x) => $body,
            Matrix::Sparse($x) => $body,
            Matrix::Long($x) => $body,
            Matrix::OnDisk($x) => $body,
        }
    };
}

impl<T: Scalar> Matrix<'_, T> {
    /// Stored by rows, for the methods that sample them.
    pub fn by_rows(self) -> Self {
        match self {
            Self::Sparse(x) if x.is_by_columns() => Self::Sparse(x.into_csr().into()),
            Self::Long(x) if x.is_by_columns() => Self::Long(x.into_csr().into()),
            other => other,
        }
    }
}

impl<T: Scalar> LinearOperator<T> for Matrix<'_, T> {
    fn shape(&self) -> (usize, usize) {
        on!(self, x => x.shape())
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        on!(self, a => a.apply(alpha, x, gamma, y, ws))
    }

    fn is_infallible(&self) -> bool {
        on!(self, x => x.is_infallible())
    }

    fn work(&self) -> f64 {
        on!(self, x => x.work())
    }

    fn to_block(&self) -> Result<Block<T>> {
        on!(self, x => x.to_block())
    }
}

impl<T: Scalar> AdjointOperator<T> for Matrix<'_, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        on!(self, a => a.apply_adjoint(alpha, x, gamma, y, ws))
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
        on!(self, a => a.apply_normal(alpha, x, between, gamma, y, ws))
    }

    fn apply_outer(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        outer: Outer<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        on!(self, a => a.apply_outer(alpha, x, outer, gamma, y, ws))
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        on!(self, x => x.form_gram(side, by))
    }

    fn form_scatter(&self, weights: Option<&[f64]>) -> Result<Option<Scatter<T>>> {
        on!(self, x => x.form_scatter(weights))
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        on!(self, x => x.forming(side))
    }
}

impl<T: Scalar> RowOperator<T> for Matrix<'_, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        on!(self, a => a.apply_rows(rows, x, z, ws))
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
        on!(self, a => a.apply_rows_adjoint(rows, alpha, z, gamma, y, ws))
    }

    fn row_norm_squared(&self, row: usize) -> T {
        on!(self, x => x.row_norm_squared(row))
    }

    fn entry(&self, row: usize, col: usize) -> T {
        on!(self, x => x.entry(row, col))
    }
}

impl<T: Scalar> ColumnMoments<T> for Matrix<'_, T> {
    fn column_moments(&self) -> Result<Moments> {
        on!(self, x => x.column_moments())
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        on!(self, x => x.column_squares())
    }

    fn turned_bytes(&self) -> Option<usize> {
        on!(self, x => x.turned_bytes())
    }

    fn turned(&self) -> Option<Sparse<'static, T>> {
        on!(self, x => x.turned())
    }
}

impl<T: Scalar> WeightedMoments<T> for Matrix<'_, T> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        on!(self, x => x.weighted_moments(weights))
    }
}
