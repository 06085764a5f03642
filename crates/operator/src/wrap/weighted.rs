//! [`Weighted`]: a matrix with weighted rows.

use crate::adjoint::{Forming, Side, Standardized};
use crate::error::{ErrorKind, check_dim};
use crate::row_ops::{combine_rows, multiply_rows, scale_rows};
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, LinearOperator, Result, RowOperator,
    Scalar, Workspace,
};

/// $\sqrt{W} A$ with $W = \mathrm{diag}(w)$: row i of $A$ times $\sqrt{w_i}$.
///
/// Its normal product is $A^T W A X$: that of weighted least squares and of a weighted covariance.
/// For the latter, weight the centred matrix: `Weighted` of [`Centered`](crate::Centered).
///
/// # Cost
/// Those of $A$, and $mk$ flops. $A^T W A X$ takes one pass over $A$ when that of $A$ does. A
/// product that is added to ($\gamma \ne 0$) needs an m × k temporary.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, LinearOperator, Weighted};
/// use ndarray::array;
/// let a = Weighted::new(Dense::new(array![[1.0], [2.0]])?, vec![4.0, 0.0])?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0]))?, Block::column(&[2.0, 0.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Weighted<A, T> {
    inner: A,
    weights: Vec<T>,
    roots: Vec<T>,
}

/// `Ok` when all weights are finite and not negative and at least one is positive.
///
/// # Errors
/// [`ErrorKind::Weight`] with the first that is not.
pub fn check_weights<T: Scalar>(weights: &[T]) -> Result<()> {
    for (index, weight) in weights.iter().enumerate() {
        if !weight.is_finite() || *weight < T::zero() {
            let (value, need) = (weight.as_f64(), "must be finite and not negative");
            return Err(ErrorKind::Weight { index, value, need }.into());
        }
    }
    if !weights.is_empty() && weights.iter().all(|weight| *weight == T::zero()) {
        let need = "and all other weights are zero, one must be positive";
        return Err(ErrorKind::Weight { index: 0, value: 0.0, need }.into());
    }
    Ok(())
}

impl<A: LinearOperator<T>, T: Scalar> Weighted<A, T> {
    /// $\sqrt{W} A$ for the weights $w$, not their roots.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] unless there is a weight for each row, [`ErrorKind::Weight`] when one
    /// is negative or not finite or all are zero.
    pub fn new(inner: A, weights: Vec<T>) -> Result<Self> {
        check_dim("row weights", inner.shape().0, weights.len())?;
        check_weights(&weights)?;
        let roots = weights.iter().map(|weight| num_traits::Float::sqrt(*weight)).collect();
        Ok(Self { inner, weights, roots })
    }

    /// $w$.
    #[must_use]
    pub fn weights(&self) -> &[T] {
        &self.weights
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

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Weighted<A, T> {
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
        if gamma == T::zero() {
            // Y ← √W (α A X)
            self.inner.apply(alpha, x, gamma, y.reborrow(), ws)?;
            scale_rows(&self.roots, y);
            return Ok(());
        }
        // Z ← A X, then Y ← α √W Z + γ Y
        let mut z = ws.take(y.rows(), y.cols());
        self.inner.apply(T::one(), x, T::zero(), z.as_mut(), ws)?;
        combine_rows(alpha, &self.roots, z.as_ref(), gamma, y);
        ws.give(z);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Weighted<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Y ← α Aᵀ (√W X) + γ Y
        let mut z = ws.take(x.rows(), x.cols());
        multiply_rows(&self.roots, x, z.as_mut());
        self.inner.apply_adjoint(alpha, z.as_ref(), gamma, y, ws)?;
        ws.give(z);
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
        let rows = self.shape().0;
        let Between { weights, offset, mut sums } = between;
        if offset.is_none() && sums.is_none() {
            // (√W A)ᵀ V (√W A) = Aᵀ (W V) A
            let Some(outer) = weights else {
                let inner = Between { weights: Some(&self.weights), ..Between::default() };
                return self.inner.apply_normal(alpha, x, inner, gamma, y, ws);
            };
            let mut both = ws.take(rows, 1);
            multiply_rows(outer, BlockRef::column(&self.weights), both.as_mut());
            let inner = Between { weights: Some(both.as_ref().data()), ..Between::default() };
            self.inner.apply_normal(alpha, x, inner, gamma, y, ws)?;
            ws.give(both);
            return Ok(());
        }
        // An offset is divided by another √wᵢ in each row: two passes.
        let mut z = ws.take(rows, x.cols());
        self.apply(T::one(), x, T::zero(), z.as_mut(), ws)?;
        if let Some(sums) = sums.as_deref_mut() {
            sums.fill(T::zero());
        }
        Between::transform(weights, offset, z.as_mut(), 0, sums);
        scale_rows(&self.roots, z.as_mut());
        self.inner.apply_adjoint(alpha, z.as_ref(), gamma, y, ws)?;
        ws.give(z);
        Ok(())
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        self.inner.forming(side)
    }

    /// A mean that is to be subtracted from weighted rows is another one in each row of A, which it
    /// cannot do.
    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        if by.shift.is_some() {
            return Ok(None);
        }
        let Some(outer) = by.weights else {
            let by = Standardized { weights: Some(&self.weights), ..by };
            return self.inner.form_gram(side, by);
        };
        check_dim("row weights", self.weights.len(), outer.len())?;
        let both: Vec<T> = outer.iter().zip(&self.weights).map(|(&o, &w)| o * w).collect();
        self.inner.form_gram(side, Standardized { weights: Some(&both), ..by })
    }
}

impl<A: RowOperator<T>, T: Scalar> RowOperator<T> for Weighted<A, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply_rows(rows, x, z.reborrow(), ws)?;
        for (i, &row) in rows.iter().enumerate() {
            z.row_mut(i).iter_mut().for_each(|z| *z *= self.roots[row]);
        }
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
        self.check_rows(rows)?;
        check_dim("rows of z", rows.len(), z.rows())?;
        let mut weighted = ws.take(z.rows(), z.cols());
        for (i, &row) in rows.iter().enumerate() {
            let pairs = weighted.row_mut(i).iter_mut().zip(z.row(i));
            pairs.for_each(|(weighted, &z)| *weighted = self.roots[row] * z);
        }
        self.inner.apply_rows_adjoint(rows, alpha, weighted.as_ref(), gamma, y, ws)?;
        ws.give(weighted);
        Ok(())
    }

    fn row_norm_squared(&self, row: usize) -> T {
        self.weights[row] * self.inner.row_norm_squared(row)
    }

    fn entry(&self, row: usize, col: usize) -> T {
        self.roots[row] * self.inner.entry(row, col)
    }
}
