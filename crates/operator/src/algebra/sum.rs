//! [`Sum`]: two operators added.

use std::sync::{Mutex, PoisonError};

use crate::error::ErrorKind;
use crate::{
    AdjointOperator, Batch, BlockMut, BlockRef, LinearOperator, Result, Scalar, StochasticOperator,
    Workspace,
};

/// $A + B$.
///
/// A difference is the sum with a [`Multiple`](crate::Multiple) by −1. As a stochastic operator
/// its terms are those of $A$, then those of $B$.
///
/// # Cost
/// Those of $A$ and $B$; nothing is stored in between.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, Identity, LinearOperator, Sum};
/// use ndarray::array;
/// let a = Sum::new(Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?, Identity::new(2))?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[4.0, 8.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug)]
pub struct Sum<A, B, T> {
    left: A,
    right: B,
    // The two halves of a batch, kept between calls so that they are allocated once.
    halves: Mutex<[Batch<T>; 2]>,
}

impl<A: LinearOperator<T>, B: LinearOperator<T>, T: Scalar> Sum<A, B, T> {
    /// $A + B$.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] with both shapes when they differ.
    pub fn new(left: A, right: B) -> Result<Self> {
        let shapes = (left.shape(), right.shape());
        if shapes.0 != shapes.1 {
            let (left, right) = shapes;
            return Err(ErrorKind::Mismatch { what: "sum", left, right }.into());
        }
        Ok(Self { left, right, halves: Mutex::default() })
    }

    /// $A$ and $B$.
    #[must_use]
    pub fn parts(&self) -> (&A, &B) {
        (&self.left, &self.right)
    }
}

impl<A: LinearOperator<T>, B: LinearOperator<T>, T: Scalar> LinearOperator<T> for Sum<A, B, T> {
    fn shape(&self) -> (usize, usize) {
        self.left.shape()
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
        // Y ← α A X + γ Y, then Y ← α B X + Y
        self.left.apply(alpha, x, gamma, y.reborrow(), ws)?;
        self.right.apply(alpha, x, T::one(), y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.left.is_infallible() && self.right.is_infallible()
    }

    fn work(&self) -> f64 {
        self.left.work() + self.right.work()
    }
}

impl<A: AdjointOperator<T>, B: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Sum<A, B, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        self.left.apply_adjoint(alpha, x, gamma, y.reborrow(), ws)?;
        self.right.apply_adjoint(alpha, x, T::one(), y, ws)
    }
}

impl<A, B, T> StochasticOperator<T> for Sum<A, B, T>
where
    A: StochasticOperator<T>,
    B: StochasticOperator<T>,
    T: Scalar,
{
    fn terms(&self) -> usize {
        self.left.terms() + self.right.terms()
    }

    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        batch.check(self.terms())?;
        // Taken out, so that the lock is not held during the products. Another thread that comes
        // meanwhile starts from empty lists.
        let lock = || self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let mut halves = std::mem::take(&mut *lock());
        split(batch, self.left.terms(), &mut halves);
        let outcome = self
            .left
            .apply_terms(&halves[0], alpha, x, gamma, y.reborrow(), ws)
            .and_then(|()| self.right.apply_terms(&halves[1], alpha, x, T::one(), y, ws));
        *lock() = halves;
        outcome
    }

    fn term_norm(&self, term: usize) -> T {
        let first = self.left.terms();
        if term < first { self.left.term_norm(term) } else { self.right.term_norm(term - first) }
    }
}

/// The terms below `first`, and the others counted from there.
fn split<T: Scalar>(batch: &Batch<T>, first: usize, halves: &mut [Batch<T>; 2]) {
    for half in halves.iter_mut() {
        half.terms.clear();
        half.weights.clear();
    }
    for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
        let (half, term) = if term < first { (0, term) } else { (1, term - first) };
        halves[half].terms.push(term);
        halves[half].weights.push(weight);
    }
}
