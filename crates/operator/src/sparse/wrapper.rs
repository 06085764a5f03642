//! [`Sparse`]: a sparse matrix stored by rows or by columns.

use sprs::{CsMatI, CsMatViewI};

use super::gram::Stored;
use super::{Csr, SparseIndex};
use crate::adjoint::{Forming, Side, Standardized, normal_in_two};
use crate::outer::outer_in_two;
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, Column, LinearOperator, Outer, Result,
    RowOperator, Scalar, Workspace, check_dim,
};

/// A sparse matrix as it is stored, by rows or by columns, without a copy of its values.
///
/// A matrix stored by columns is the transpose of one stored by rows, and a [`Csr`] multiplies by
/// its transpose about as fast: nothing has to be rewritten. Single rows of a matrix stored by
/// columns cost a pass over all of it; who needs many of them (mini-batches, Kaczmarz) rewrites it
/// by rows: [`Sparse::into_csr`].
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, LinearOperator, Sparse};
/// let mut triplets = sprs::TriMat::<f64>::new((2, 3));
/// triplets.add_triplet(0, 1, 5.0);
/// triplets.add_triplet(1, 2, 7.0);
/// let x = BlockRef::column(&[1.0, 1.0, 1.0]);
/// for matrix in [triplets.to_csr::<usize>(), triplets.to_csc()] {
///     assert_eq!(Sparse::from_sprs(matrix)?.multiply(x)?, Block::column(&[5.0, 7.0]));
/// }
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sparse<'a, T: Scalar, I: Column = u32> {
    stored: Csr<'a, T, I>,
    by_columns: bool,
}

impl<'a, T: Scalar> Sparse<'a, T> {
    /// A `sprs` matrix, by rows or by columns, moved.
    ///
    /// # Errors
    /// Those of [`Csr::new`], with rows and columns exchanged for a matrix stored by columns.
    pub fn from_sprs<I: SparseIndex, P: SparseIndex>(matrix: CsMatI<T, I, P>) -> Result<Self> {
        Csr::stored(matrix).map(|(stored, by_columns)| Self { stored, by_columns })
    }

    /// A `sprs` matrix, by rows or by columns, borrowed.
    ///
    /// # Errors
    /// Those of [`Sparse::from_sprs`].
    pub fn from_sprs_view<I: SparseIndex, P: SparseIndex>(
        matrix: CsMatViewI<'a, T, I, P>,
    ) -> Result<Self> {
        Csr::stored_view(matrix).map(|(stored, by_columns)| Self { stored, by_columns })
    }
}

impl<'a, T: Scalar, I: Column> Sparse<'a, T, I> {
    /// The matrix whose transpose is stored by rows, that is, a matrix stored by columns.
    #[must_use]
    pub fn from_columns(transpose: Csr<'a, T, I>) -> Self {
        Self { stored: transpose, by_columns: true }
    }

    /// Whether the matrix is stored by columns.
    #[must_use]
    pub fn is_by_columns(&self) -> bool {
        self.by_columns
    }

    /// The number of stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.stored.entries()
    }

    /// What is stored by rows, and whether that is the transpose.
    pub(crate) fn parts(&self) -> (&Csr<'a, T, I>, bool) {
        (&self.stored, self.by_columns)
    }

    fn as_stored(&self) -> Stored {
        if self.by_columns { Stored::ByColumns } else { Stored::ByRows }
    }

    /// The matrix by rows: itself, or rewritten with [`Csr::transposed`].
    #[must_use]
    pub fn into_csr(self) -> Csr<'a, T, I> {
        if self.by_columns { self.stored.transposed() } else { self.stored }
    }
}

impl<'a, T: Scalar, I: Column> From<Csr<'a, T, I>> for Sparse<'a, T, I> {
    fn from(stored: Csr<'a, T, I>) -> Self {
        Self { stored, by_columns: false }
    }
}

impl<T: Scalar, I: Column> LinearOperator<T> for Sparse<'_, T, I> {
    fn shape(&self) -> (usize, usize) {
        let (rows, cols) = self.stored.shape();
        if self.by_columns { (cols, rows) } else { (rows, cols) }
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        if self.by_columns {
            self.stored.apply_adjoint(alpha, x, gamma, y, ws)
        } else {
            self.stored.apply(alpha, x, gamma, y, ws)
        }
    }

    fn is_infallible(&self) -> bool {
        true
    }

    fn work(&self) -> f64 {
        self.stored.work()
    }
}

impl<T: Scalar, I: Column> AdjointOperator<T> for Sparse<'_, T, I> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        if self.by_columns {
            self.stored.apply(alpha, x, gamma, y, ws)
        } else {
            self.stored.apply_adjoint(alpha, x, gamma, y, ws)
        }
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
        if !self.by_columns {
            return self.stored.apply_normal(alpha, x, between, gamma, y, ws);
        }
        // Z needs all of the columns before any of it is used.
        normal_in_two(self, alpha, x, between, gamma, y, ws)
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
        if !self.by_columns {
            return outer_in_two(self, alpha, x, outer, gamma, y, ws);
        }
        self.check_outer(x, &outer, &y)?;
        let stored = self.stored.as_stored();
        (T::kernels::<I>().normal)(stored, alpha, x, outer.into(), gamma, y, ws);
        Ok(())
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        Some((T::kernels::<I>().forming)(&self.stored, self.as_stored(), side))
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        by.check(self.shape())?;
        Ok(Some((T::kernels::<I>().form)(&self.stored, self.as_stored(), side, &by)))
    }
}

/// Stored by columns, a list of rows costs what all rows do.
impl<T: Scalar, I: Column> RowOperator<T> for Sparse<'_, T, I> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        if !self.by_columns {
            return self.stored.apply_rows(rows, x, z, ws);
        }
        self.check_rows(rows)?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("columns of z", x.cols(), z.cols())?;
        let mut all = ws.take(self.shape().0, x.cols());
        self.apply(T::one(), x, T::zero(), all.as_mut(), ws)?;
        for (i, &row) in rows.iter().enumerate() {
            z.row_mut(i).copy_from_slice(all.row(row));
        }
        ws.give(all);
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
        if !self.by_columns {
            return self.stored.apply_rows_adjoint(rows, alpha, z, gamma, y, ws);
        }
        self.check_rows(rows)?;
        check_dim("rows of z", rows.len(), z.rows())?;
        // A_Sᵀ Z = Aᵀ (the rows of Z added up where they belong)
        let mut all = ws.take_zeros(self.shape().0, z.cols());
        for (i, &row) in rows.iter().enumerate() {
            all.row_mut(row).iter_mut().zip(z.row(i)).for_each(|(all, &z)| *all += z);
        }
        self.apply_adjoint(alpha, all.as_ref(), gamma, y, ws)?;
        ws.give(all);
        Ok(())
    }

    fn row_norm_squared(&self, row: usize) -> T {
        if !self.by_columns {
            return self.stored.row_norm_squared(row);
        }
        (0..self.shape().1).map(|col| self.entry(row, col).powi(2)).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        if self.by_columns { self.stored.entry(col, row) } else { self.stored.entry(row, col) }
    }
}
