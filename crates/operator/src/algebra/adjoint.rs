//! [`Adjoint`]: the transpose of an operator.

use crate::adjoint::{Forming, Side, Standardized, normal_in_two};
use crate::outer::outer_in_two;
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, LinearOperator, Outer, Result, Scalar,
    Workspace,
};

/// $A^T$.
///
/// # Cost
/// That of $A$, with the two products exchanged.
///
/// # Example
/// ```
/// use favard_operator::{Adjoint, Block, BlockRef, Dense, LinearOperator};
/// use ndarray::array;
/// let a = Adjoint::new(Dense::new(array![[1.0, 2.0]])?);
/// assert_eq!(a.multiply(BlockRef::column(&[3.0]))?, Block::column(&[3.0, 6.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Adjoint<A> {
    inner: A,
}

impl<A> Adjoint<A> {
    /// $A^T$.
    pub fn new(inner: A) -> Self {
        Self { inner }
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

impl<A: AdjointOperator<T>, T: Scalar> LinearOperator<T> for Adjoint<A> {
    fn shape(&self) -> (usize, usize) {
        let (rows, cols) = self.inner.shape();
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
        self.inner.apply_adjoint(alpha, x, gamma, y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Adjoint<A> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply(alpha, x, gamma, y, ws)
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
        if between.offset.is_some() || between.sums.is_some() {
            return normal_in_two(self, alpha, x, between, gamma, y, ws);
        }
        let outer = Outer { weights: between.weights, shift: None };
        self.inner.apply_outer(alpha, x, outer, gamma, y, ws)
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
        if outer.shift.is_some() {
            return outer_in_two(self, alpha, x, outer, gamma, y, ws);
        }
        let between = Between { weights: outer.weights, ..Between::default() };
        self.inner.apply_normal(alpha, x, between, gamma, y, ws)
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        self.inner.forming(side.other())
    }

    /// The inner products of the columns are those of the rows of A. Columns that are to be
    /// standardised are rows of A, which it cannot do, and weights of rows would be of columns.
    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        if by.shift.is_some() || by.factor.is_some() || by.weights.is_some() {
            return Ok(None);
        }
        self.inner.form_gram(side.other(), by)
    }
}
