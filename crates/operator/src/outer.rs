//! [`Outer`]: what lies between the two halves of a product with $A A^T$.

use crate::error::check_dim;
use crate::row_ops::{dots_with, scale_rows, subtract_outer};
use crate::{AdjointOperator, BlockMut, BlockRef, Result, Scalar, Workspace};

/// What happens to $Z = A^T X$ between the two halves of an outer product
/// ([`AdjointOperator::apply_outer`]): row j becomes $w_j (z_j - f_j m)$.
///
/// This is what lets a centred and scaled matrix that is stored by columns keep the single pass over the
/// data: with the means as factors, $f_j m$ is what centring takes off, and the sums bring back $f^T Z$.
///
/// # Example
/// ```
/// use favard_operator::Outer;
/// let plain = Outer::<f64>::default();
/// assert!(plain.weights.is_none() && plain.shift.is_none());
/// ```
#[derive(Debug)]
pub struct Outer<'a, T> {
    /// $w$, one number a column of the operator; all ones when absent.
    pub weights: Option<&'a [T]>,
    /// What is subtracted; nothing when absent.
    pub shift: Option<Shift<'a, T>>,
}

/// $f$, $m$, and the place of $f^T Z$: see [`Outer`].
#[derive(Debug)]
pub struct Shift<'a, T> {
    /// $f$, one number a column of the operator.
    pub factors: &'a [T],
    /// $m$, one number a column of the block.
    pub row: &'a [T],
    /// Receives $\sum_j f_j w_j (z_j - f_j m)$, one number a column of the block.
    pub sums: &'a mut [T],
}

impl<T> Default for Outer<'_, T> {
    fn default() -> Self {
        Self { weights: None, shift: None }
    }
}

impl<T: Scalar> Outer<'_, T> {
    /// `Ok` when the lengths fit an operator of `cols` columns and a block of `width`.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the length that does not.
    pub fn check(&self, cols: usize, width: usize) -> Result<()> {
        check_dim("column weights", cols, self.weights.map_or(cols, <[T]>::len))?;
        let Some(Shift { factors, row, sums }) = &self.shift else { return Ok(()) };
        check_dim("factors", cols, factors.len())?;
        check_dim("offsets", width, row.len())?;
        check_dim("sums", width, sums.len())
    }

    /// Applies the transformation to all of Z.
    fn transform(self, mut z: BlockMut<'_, T>, ws: &mut Workspace<T>) -> Result<()> {
        let Self { weights, shift } = self;
        if let Some(Shift { factors, row, .. }) = &shift {
            // Z ← Z − f mᵀ
            subtract_outer(T::one(), factors, row, z.reborrow());
        }
        if let Some(weights) = weights {
            // Z ← W Z
            scale_rows(weights, z.reborrow());
        }
        match shift {
            Some(Shift { factors, sums, .. }) => dots_with(factors, z.as_ref(), sums, ws),
            None => Ok(()),
        }
    }
}

/// [`AdjointOperator::apply_outer`] in two passes, with all of Z.
pub(crate) fn outer_in_two<T: Scalar, A: AdjointOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    outer: Outer<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<()> {
    op.check_outer(x, &outer, &y)?;
    let mut z = ws.take(op.shape().1, x.cols());
    op.apply_adjoint(T::one(), x, T::zero(), z.as_mut(), ws)?;
    outer.transform(z.as_mut(), ws)?;
    op.apply(alpha, z.as_ref(), gamma, y, ws)?;
    ws.give(z);
    Ok(())
}
