//! [`Product`]: one operator after another.

use crate::error::ErrorKind;
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// $A B$: first $B$, then $A$.
///
/// # Cost
/// Those of $A$ and $B$, and a temporary of as many rows as $B$ has.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, Diagonal, LinearOperator, Product};
/// use ndarray::array;
/// let a = Product::new(Dense::new(array![[1.0, 2.0]])?, Diagonal::new(vec![3.0, 5.0])?)?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[13.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Product<A, B> {
    left: A,
    right: B,
}

impl<A, B> Product<A, B> {
    /// $A B$.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] with both shapes unless $A$ has as many columns as $B$ has rows.
    pub fn new<T: Scalar>(left: A, right: B) -> Result<Self>
    where
        A: LinearOperator<T>,
        B: LinearOperator<T>,
    {
        let shapes = (left.shape(), right.shape());
        if shapes.0.1 != shapes.1.0 {
            let (left, right) = shapes;
            return Err(ErrorKind::Mismatch { what: "product", left, right }.into());
        }
        Ok(Self { left, right })
    }

    /// $A$ and $B$.
    #[must_use]
    pub fn parts(&self) -> (&A, &B) {
        (&self.left, &self.right)
    }
}

impl<A: LinearOperator<T>, B: LinearOperator<T>, T: Scalar> LinearOperator<T> for Product<A, B> {
    fn shape(&self) -> (usize, usize) {
        (self.left.shape().0, self.right.shape().1)
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        // Z ← B X, then Y ← α A Z + γ Y
        let mut z = ws.take(self.right.shape().0, x.cols());
        self.right.apply(T::one(), x, T::zero(), z.as_mut(), ws)?;
        self.left.apply(alpha, z.as_ref(), gamma, y, ws)?;
        ws.give(z);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.left.is_infallible() && self.right.is_infallible()
    }

    fn work(&self) -> f64 {
        self.left.work() + self.right.work()
    }
}

impl<A: AdjointOperator<T>, B: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Product<A, B> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Z ← Aᵀ X, then Y ← α Bᵀ Z + γ Y
        let mut z = ws.take(self.left.shape().1, x.cols());
        self.left.apply_adjoint(T::one(), x, T::zero(), z.as_mut(), ws)?;
        self.right.apply_adjoint(alpha, z.as_ref(), gamma, y, ws)?;
        ws.give(z);
        Ok(())
    }
}
