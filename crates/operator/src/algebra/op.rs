//! [`Op`]: operators in formulas.

use std::marker::PhantomData;
use std::ops::{Add, Mul, Neg, Sub};

use super::{Adjoint, Multiple, Product, Sum};
use crate::{
    AdjointOperator, Batch, Between, BlockMut, BlockRef, LinearOperator, Result, Scalar,
    StochasticOperator, Workspace,
};

/// An operator that can be written in formulas with `+`, `-` and `*`.
///
/// Combining two operators checks their shapes, so `+`, `-` and `*` give a [`Result`]; a number
/// times an operator, a minus sign and [`Op::adjoint`] cannot fail. (A factor that is not finite is
/// an error of the product that meets it.)
///
/// The scalar is part of the type because the standard operators need to know it.
///
/// # Cost
/// Those of the operators it is made of; it adds nothing.
///
/// # Errors
/// [`Mismatch`](crate::ErrorKind::Mismatch) with both shapes.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, Identity, LinearOperator, Op};
/// use ndarray::array;
/// let a = Op::new(Dense::new(array![[1.0_f64, 2.0], [3.0, 4.0]])?);
/// let b = Op::new(Identity::new(2));
/// let c = (2.0 * a - b)?; // 2A − I
/// assert_eq!(c.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[5.0, 13.0]));
///
/// let wrong = c + Op::new(Identity::new(3));
/// let message = wrong.unwrap_err().to_string();
/// assert_eq!(message, "sum: the left operand is 2 × 2, the right one 3 × 3");
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Op<A, T> {
    inner: A,
    scalar: PhantomData<fn() -> T>,
}

impl<A: LinearOperator<T>, T: Scalar> Op<A, T> {
    /// The operator, ready for formulas.
    pub fn new(inner: A) -> Self {
        Self { inner, scalar: PhantomData }
    }

    /// $A^T$.
    #[must_use]
    pub fn adjoint(self) -> Op<Adjoint<A>, T>
    where
        A: AdjointOperator<T>,
    {
        Op::new(Adjoint::new(self.inner))
    }

    /// The operator itself.
    #[must_use]
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// The operator itself, taken back.
    #[must_use]
    pub fn into_inner(self) -> A {
        self.inner
    }
}

impl<A: LinearOperator<T>, B: LinearOperator<T>, T: Scalar> Add<Op<B, T>> for Op<A, T> {
    type Output = Result<Op<Sum<A, B, T>, T>>;
    fn add(self, other: Op<B, T>) -> Self::Output {
        Ok(Op::new(Sum::new(self.inner, other.inner)?))
    }
}

impl<A: LinearOperator<T>, B: LinearOperator<T>, T: Scalar> Sub<Op<B, T>> for Op<A, T> {
    type Output = Result<Op<Sum<A, Multiple<B, T>, T>, T>>;
    fn sub(self, other: Op<B, T>) -> Self::Output {
        Ok(Op::new(Sum::new(self.inner, (-other).inner)?))
    }
}

impl<A: LinearOperator<T>, B: LinearOperator<T>, T: Scalar> Mul<Op<B, T>> for Op<A, T> {
    type Output = Result<Op<Product<A, B>, T>>;
    fn mul(self, other: Op<B, T>) -> Self::Output {
        Ok(Op::new(Product::new(self.inner, other.inner)?))
    }
}

impl<A: LinearOperator<T>, T: Scalar> Neg for Op<A, T> {
    type Output = Op<Multiple<A, T>, T>;
    fn neg(self) -> Self::Output {
        Op::new(Multiple::unchecked(-T::one(), self.inner))
    }
}

impl<A: LinearOperator<f64>> Mul<Op<A, f64>> for f64 {
    type Output = Op<Multiple<A, f64>, f64>;
    fn mul(self, op: Op<A, f64>) -> Self::Output {
        Op::new(Multiple::unchecked(self, op.inner))
    }
}

impl<A: LinearOperator<f32>> Mul<Op<A, f32>> for f32 {
    type Output = Op<Multiple<A, f32>, f32>;
    fn mul(self, op: Op<A, f32>) -> Self::Output {
        Op::new(Multiple::unchecked(self, op.inner))
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Op<A, T> {
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
        self.inner.apply(alpha, x, gamma, y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Op<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply_adjoint(alpha, x, gamma, y, ws)
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
        self.inner.apply_normal(alpha, x, between, gamma, y, ws)
    }
}

impl<A: StochasticOperator<T>, T: Scalar> StochasticOperator<T> for Op<A, T> {
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
        self.inner.apply_terms(batch, alpha, x, gamma, y, ws)
    }

    fn term_norm(&self, term: usize) -> T {
        self.inner.term_norm(term)
    }
}
