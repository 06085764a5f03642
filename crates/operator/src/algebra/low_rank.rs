//! [`LowRank`]: an operator plus a matrix of low rank.

use crate::error::ErrorKind;
use crate::{
    AdjointOperator, Block, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace, ops,
};

/// $A + U V^T$ with $U : m \times r$ and $V : n \times r$.
///
/// # Cost
/// That of $A$, and $2(m + n)rk$ flops.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Identity, LinearOperator, LowRank};
/// let (u, v) = (Block::column(&[1.0, 2.0]), Block::column(&[0.0, 1.0]));
/// let a = LowRank::new(Identity::new(2), u, v)?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[2.0, 3.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LowRank<A, T: Scalar> {
    inner: A,
    u: Block<T>,
    v: Block<T>,
}

impl<A: LinearOperator<T>, T: Scalar> LowRank<A, T> {
    /// $A + U V^T$.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] with both shapes when $U$ has other rows than $A$, $V$ other rows
    /// than $A^T$, or the two other columns; [`ErrorKind::NonFinite`] when an entry is not finite.
    pub fn new(inner: A, u: Block<T>, v: Block<T>) -> Result<Self> {
        let (rows, cols) = inner.shape();
        let mismatch = |what, left, right| Err(ErrorKind::Mismatch { what, left, right }.into());
        if u.rows() != rows {
            return mismatch("low-rank update, A with U", inner.shape(), u.shape());
        }
        if v.rows() != cols {
            return mismatch("low-rank update, A with V", inner.shape(), v.shape());
        }
        if u.cols() != v.cols() {
            return mismatch("low-rank update, U with V", u.shape(), v.shape());
        }
        for (what, block) in [("low-rank factor U", &u), ("low-rank factor V", &v)] {
            if let Some((row, column)) = ops::find_non_finite(block.as_ref()) {
                let value = block.row(row)[column].as_f64();
                return Err(ErrorKind::NonFinite { what, row, column, value }.into());
            }
        }
        Ok(Self { inner, u, v })
    }

    /// $A$.
    #[must_use]
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// $U$ and $V$.
    #[must_use]
    pub fn factors(&self) -> (&Block<T>, &Block<T>) {
        (&self.u, &self.v)
    }
}

/// Y ← Y + α U (Vᵀ X).
fn add_update<T: Scalar>(
    alpha: T,
    (u, v): (&Block<T>, &Block<T>),
    x: BlockRef<'_, T>,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<()> {
    if u.cols() == 0 {
        return Ok(());
    }
    let mut small = ws.take(v.cols(), x.cols());
    ops::cross(v.as_ref(), x, small.as_mut(), ws)?;
    ops::right_multiply(alpha, u.as_ref(), small.as_ref(), T::one(), y)?;
    ws.give(small);
    Ok(())
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for LowRank<A, T> {
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
        self.inner.apply(alpha, x, gamma, y.reborrow(), ws)?;
        add_update(alpha, (&self.u, &self.v), x, y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        // A, then Vᵀ and U
        let (rows, cols) = self.inner.shape();
        self.inner.work() + (rows + cols) as f64 * self.u.cols() as f64
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for LowRank<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        self.inner.apply_adjoint(alpha, x, gamma, y.reborrow(), ws)?;
        add_update(alpha, (&self.v, &self.u), x, y, ws)
    }
}
