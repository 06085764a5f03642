//! [`RowOperator`]: an operator whose rows can be used one by one.

use std::sync::Arc;

use crate::error::ErrorKind;
use crate::{AdjointOperator, BlockMut, BlockRef, Result, Scalar, Workspace};

/// A matrix whose rows can be reached by number: what mini-batches, Kaczmarz and streams need.
///
/// For a list $S$ of row numbers, repeats allowed, $A_S$ is the matrix of those rows in that order.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, RowOperator, Workspace};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let mut z = Block::zeros(2, 1);
/// let x = BlockRef::column(&[1.0, 1.0]);
/// a.apply_rows(&[2, 0], x, z.as_mut(), &mut Workspace::new())?;
/// assert_eq!(z, Block::column(&[11.0, 3.0]));
/// assert_eq!(a.row_norm_squared(1), 25.0);
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub trait RowOperator<T: Scalar>: AdjointOperator<T> {
    /// $Z \leftarrow A_S X$, with one row of $Z$ for each entry of `rows`.
    ///
    /// # Errors
    /// When a shape does not fit or a row number is too large.
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()>;

    /// $Y \leftarrow \alpha A_S^T Z + \gamma Y$.
    ///
    /// # Errors
    /// When a shape does not fit or a row number is too large.
    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()>;

    /// $\lVert a_i \rVert^2$.
    ///
    /// # Panics
    /// When `row` is not below the number of rows.
    fn row_norm_squared(&self, row: usize) -> T;

    /// $A_{ij}$.
    ///
    /// # Panics
    /// When the position is outside of the matrix.
    fn entry(&self, row: usize, col: usize) -> T;

    /// `Ok` when every row number is below the number of rows.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] with the first that is not.
    fn check_rows(&self, rows: &[usize]) -> Result<()> {
        let bound = self.shape().0;
        match rows.iter().position(|&row| row >= bound) {
            None => Ok(()),
            Some(position) => Err(ErrorKind::Index {
                what: "rows",
                position,
                index: rows[position] as u64,
                bound: bound as u64,
            }
            .into()),
        }
    }
}

macro_rules! forward {
    ($($pointer:ty $(where $bound:ident)?),*) => {$(
        impl<T: Scalar, A: RowOperator<T> $(+ $bound)? + ?Sized> RowOperator<T> for $pointer {
            fn apply_rows(
                &self,
                rows: &[usize],
                x: BlockRef<'_, T>,
                z: BlockMut<'_, T>,
                ws: &mut Workspace<T>,
            ) -> Result<()> {
                (**self).apply_rows(rows, x, z, ws)
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
                (**self).apply_rows_adjoint(rows, alpha, z, gamma, y, ws)
            }
            fn row_norm_squared(&self, row: usize) -> T {
                (**self).row_norm_squared(row)
            }
            fn entry(&self, row: usize, col: usize) -> T {
                (**self).entry(row, col)
            }
        }
    )*};
}
forward!(&A, Box<A>, Arc<A> where Send);
