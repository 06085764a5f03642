//! [`Centered`]: a matrix minus a row.

use crate::adjoint::{Forming, Side, Standardized};
use crate::error::{ErrorKind, check_dim};
use crate::outer::outer_in_two;
use crate::row_ops::{column_sums, dots_with, subtract_outer, subtract_row};
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, LinearOperator, Outer, Result,
    RowOperator, Scalar, Shift, Workspace, ops,
};

use super::weighted::check_weights;

/// $A - \mathbf{1}\mu^T$: every row of $A$ minus the same row, usually the mean of all.
///
/// $A$ is not touched: a sparse matrix stays sparse. The normal product
/// $(A - \mathbf{1}\mu^T)^T (A - \mathbf{1}\mu^T) X$ subtracts $\mu^T X$ from the rows of $A X$
/// *before* it multiplies with $A^T$. The shorter formula $A^T A X - n \mu \mu^T X$ loses as many
/// digits as $\mu^2$ is larger than the variance; this one loses half as many.
///
/// # Cost
/// Those of $A$, and $2(m + n)k$ flops. The normal product takes one pass over $A$ when that of
/// $A$ does.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Centered, Dense, LinearOperator};
/// use ndarray::array;
/// let a = Centered::by_mean(Dense::new(array![[1.0, 10.0], [3.0, 10.0]])?)?;
/// assert_eq!(a.mean(), &[2.0, 10.0]);
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[-1.0, 1.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Centered<A, T> {
    inner: A,
    mean: Vec<T>,
}

impl<A: LinearOperator<T>, T: Scalar> Centered<A, T> {
    /// $A - \mathbf{1}\mu^T$ with a given $\mu$.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] unless `mean` has one number for each column of `inner`,
    /// [`ErrorKind::NonFinite`] when one is not finite.
    pub fn new(inner: A, mean: Vec<T>) -> Result<Self> {
        check_dim("means", inner.shape().1, mean.len())?;
        if let Some(column) = mean.iter().position(|v| !v.is_finite()) {
            let value = mean[column].as_f64();
            return Err(ErrorKind::NonFinite { what: "mean", row: 0, column, value }.into());
        }
        Ok(Self { inner, mean })
    }

    /// $\mu$.
    #[must_use]
    pub fn mean(&self) -> &[T] {
        &self.mean
    }

    /// $A$.
    #[must_use]
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// $A$, taken back.
    #[must_use]
    pub fn into_inner(self) -> A {
        self.inner
    }
}

impl<A: AdjointOperator<T>, T: Scalar> Centered<A, T> {
    /// $\mu = A^T \mathbf{1} / m$, by one product with the adjoint.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] when there is no row, and those of the product.
    pub fn by_mean(inner: A) -> Result<Self> {
        let rows = inner.shape().0;
        Self::by_average(inner, &vec![T::one(); rows], T::of_count(rows))
    }

    /// $\mu = A^T w / \mathbf{1}^T w$, by one product with the adjoint.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] unless there is a weight for each row, [`ErrorKind::Weight`] when one
    /// is negative or not finite or all are zero, and those of the product.
    pub fn by_weighted_mean(inner: A, weights: &[T]) -> Result<Self> {
        check_dim("row weights", inner.shape().0, weights.len())?;
        check_weights(weights)?;
        let total = weights.iter().copied().sum();
        Self::by_average(inner, weights, total)
    }

    fn by_average(inner: A, weights: &[T], total: T) -> Result<Self> {
        let (rows, cols) = inner.shape();
        if rows == 0 {
            return Err(ErrorKind::Empty { what: "matrix to centre", rows, cols }.into());
        }
        // μ = Aᵀw / 1ᵀw
        let weights = Block::from_fn(rows, 1, |i, _| weights[i] / total);
        let mean = inner.multiply_adjoint(weights.as_ref())?;
        Self::new(inner, mean.as_ref().data().to_vec())
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Centered<A, T> {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        let mut share = ws.take(1, x.cols());
        dots_with(&self.mean, x, share.row_mut(0), ws)?;
        // Y ← α A X + γ Y, then Y ← Y − α 1 (μᵀX)
        self.inner.apply(alpha, x, gamma, y.reborrow(), ws)?;
        subtract_row(alpha, share.row(0), y);
        ws.give(share);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Centered<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        let mut sums = ws.take(1, x.cols());
        column_sums(x, sums.row_mut(0), ws);
        // Y ← α Aᵀ X + γ Y, then Y ← Y − α μ (1ᵀX)
        self.inner.apply_adjoint(alpha, x, gamma, y.reborrow(), ws)?;
        subtract_outer(alpha, &self.mean, sums.row(0), y);
        ws.give(sums);
        Ok(())
    }

    fn apply_normal(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        between: Between<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_normal(x, &between, &y)?;
        // (A − 1μᵀ) X − 1mᵀ = A X − 1 (μᵀX + mᵀ)
        let mut offset = ws.take(1, x.cols());
        dots_with(&self.mean, x, offset.row_mut(0), ws)?;
        if let Some(given) = between.offset {
            offset.row_mut(0).iter_mut().zip(given).for_each(|(offset, &m)| *offset += m);
        }
        let mut sums = ws.take(1, x.cols());
        let inner = Between {
            weights: between.weights,
            offset: Some(offset.row(0)),
            sums: Some(sums.row_mut(0)),
        };
        self.inner.apply_normal(alpha, x, inner, gamma, y.reborrow(), ws)?;
        // (A − 1μᵀ)ᵀ Z = Aᵀ Z − μ (1ᵀZ)
        subtract_outer(alpha, &self.mean, sums.row(0), y);
        if let Some(wanted) = between.sums {
            wanted.copy_from_slice(sums.row(0));
        }
        ws.give(offset);
        ws.give(sums);
        Ok(())
    }

    fn apply_outer(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        outer: Outer<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        if outer.shift.is_some() {
            return outer_in_two(self, alpha, x, outer, gamma, y, ws);
        }
        self.check_outer(x, &outer, &y)?;
        // (A − 1μᵀ)ᵀ X = Aᵀ X − μ (1ᵀX)
        let (mut row, mut sums) = (ws.take(1, x.cols()), ws.take(1, x.cols()));
        column_sums(x, row.row_mut(0), ws);
        let shift = Shift { factors: &self.mean, row: row.row(0), sums: sums.row_mut(0) };
        let inner = Outer { weights: outer.weights, shift: Some(shift) };
        self.inner.apply_outer(alpha, x, inner, gamma, y.reborrow(), ws)?;
        // (A − 1μᵀ) Z = A Z − 1 (μᵀZ)
        subtract_row(alpha, sums.row(0), y);
        ws.give(row);
        ws.give(sums);
        Ok(())
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        Some(self.inner.forming(side)?.and_numbers::<T>(self.mean.len()))
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        // (a − μ − m) f
        let mut shift = self.mean.clone();
        if let Some(given) = by.shift {
            check_dim("shifts", shift.len(), given.len())?;
            shift.iter_mut().zip(given).for_each(|(shift, &m)| *shift += m);
        }
        self.inner.form_gram(side, Standardized { shift: Some(&shift), ..by })
    }
}

impl<A: RowOperator<T>, T: Scalar> RowOperator<T> for Centered<A, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of x", self.shape().1, x.rows())?;
        let mut share = ws.take(1, x.cols());
        dots_with(&self.mean, x, share.row_mut(0), ws)?;
        self.inner.apply_rows(rows, x, z.reborrow(), ws)?;
        subtract_row(T::one(), share.row(0), z);
        ws.give(share);
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        let mut sums = ws.take(1, z.cols());
        column_sums(z, sums.row_mut(0), ws);
        self.inner.apply_rows_adjoint(rows, alpha, z, gamma, y.reborrow(), ws)?;
        subtract_outer(alpha, &self.mean, sums.row(0), y);
        ws.give(sums);
        Ok(())
    }

    /// Not for inner loops: one row of the product with $\mu$, and n entries where that cancels.
    fn row_norm_squared(&self, row: usize) -> T {
        let (mut ws, mut cross) = (Workspace::new(), [T::zero()]);
        let mean = BlockRef::column(&self.mean);
        let mut mean_squared = [T::zero()];
        let squared = ops::column_dots(mean, mean, &mut mean_squared, &mut ws);
        let product =
            self.inner.apply_rows(&[row], mean, BlockMut::column(&mut cross), &mut ws).and(squared);
        // ‖a − μ‖² = ‖a‖² − 2⟨a, μ⟩ + ‖μ‖², unless most of it cancels
        let large = self.inner.row_norm_squared(row) + mean_squared[0];
        let norm = large - (cross[0] + cross[0]);
        if product.is_ok() && norm > T::EPSILON.sqrt() * large {
            return norm;
        }
        (0..self.mean.len()).map(|col| self.entry(row, col).powi(2)).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        self.inner.entry(row, col) - self.mean[col]
    }
}
