//! [`Multiple`]: a number times an operator.

use crate::error::ErrorKind;
use crate::{
    AdjointOperator, Batch, Between, BlockMut, BlockRef, LinearOperator, Result, RowOperator,
    Scalar, StochasticOperator, Workspace, ops,
};

/// $c A$.
///
/// # Cost
/// That of $A$: the factor joins $\alpha$.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Identity, LinearOperator, Multiple};
/// let a = Multiple::new(3.0, Identity::new(2))?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 2.0]))?, Block::column(&[3.0, 6.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Multiple<A, T> {
    factor: T,
    inner: A,
}

impl<A, T: Scalar> Multiple<A, T> {
    /// $c A$.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when c is not finite.
    pub fn new(factor: T, inner: A) -> Result<Self> {
        let multiple = Self::unchecked(factor, inner);
        multiple.check_factor()?;
        Ok(multiple)
    }

    /// For `std::ops`, which cannot fail: every product checks the factor.
    pub(super) fn unchecked(factor: T, inner: A) -> Self {
        Self { factor, inner }
    }

    fn check_factor(&self) -> Result<()> {
        if self.factor.is_finite() {
            return Ok(());
        }
        let (value, need) = (self.factor.as_f64(), "must be finite");
        Err(ErrorKind::Parameter { name: "factor of an operator", value, need }.into())
    }

    /// $c$.
    #[must_use]
    pub fn factor(&self) -> T {
        self.factor
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

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Multiple<A, T> {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_factor()?;
        self.inner.apply(alpha * self.factor, x, gamma, y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.factor.is_finite() && self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Multiple<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_factor()?;
        self.inner.apply_adjoint(alpha * self.factor, x, gamma, y, ws)
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
        self.check_factor()?;
        between.check(self.shape().0, x.cols())?;
        let c = self.factor;
        if between.offset.is_none() && between.sums.is_none() {
            // (cA)ᵀ W (cA) = c² Aᵀ W A
            return self.inner.apply_normal(alpha * c * c, x, between, gamma, y, ws);
        }
        // W (c A X − 1mᵀ) = W (A (c X) − 1mᵀ)
        let mut scaled = ws.take(x.rows(), x.cols());
        ops::axpby(c, x, T::zero(), scaled.as_mut())?;
        self.inner.apply_normal(alpha * c, scaled.as_ref(), between, gamma, y, ws)?;
        ws.give(scaled);
        Ok(())
    }
}

impl<A: RowOperator<T>, T: Scalar> RowOperator<T> for Multiple<A, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_factor()?;
        self.inner.apply_rows(rows, x, z.reborrow(), ws)?;
        for i in 0..z.rows() {
            z.row_mut(i).iter_mut().for_each(|z| *z *= self.factor);
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
        self.check_factor()?;
        self.inner.apply_rows_adjoint(rows, alpha * self.factor, z, gamma, y, ws)
    }

    fn row_norm_squared(&self, row: usize) -> T {
        self.factor * self.factor * self.inner.row_norm_squared(row)
    }

    fn entry(&self, row: usize, col: usize) -> T {
        self.factor * self.inner.entry(row, col)
    }
}

impl<A: StochasticOperator<T>, T: Scalar> StochasticOperator<T> for Multiple<A, T> {
    fn terms(&self) -> usize {
        self.inner.terms()
    }

    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_factor()?;
        self.inner.apply_terms(batch, alpha * self.factor, x, gamma, y, ws)
    }

    fn term_norm(&self, term: usize) -> T {
        num_traits::Float::abs(self.factor) * self.inner.term_norm(term)
    }
}
