//! [`FusedFn`]: a closure that does the fused product itself.

use std::fmt;
use std::marker::PhantomData;

use super::{NoAdjoint, guard};
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// A closure that computes $Y \leftarrow \alpha A X + \gamma Y$ in place, as an operator.
///
/// For closures that can do without the temporary of [`FnOperator`](crate::FnOperator). The
/// closure gets `(alpha, x, gamma, y)`, must not read `y` when `gamma` is zero, and must be
/// deterministic. Panics and non-finite results are caught, but unlike with the other closures
/// `y` is then half written.
///
/// # Cost
/// One call of the closure, and one pass over $Y$ that looks for non-finite numbers.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, FusedFn, LinearOperator, ops};
/// let op = FusedFn::<f64>::new((2, 2), |alpha, x, gamma, y| ops::axpby(3.0 * alpha, x, gamma, y));
/// assert_eq!(op.multiply(BlockRef::column(&[1.0, 2.0]))?, Block::column(&[3.0, 6.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub struct FusedFn<T, F = (), G = NoAdjoint> {
    shape: (usize, usize),
    forward: F,
    adjoint: G,
    scalar: PhantomData<fn(T)>,
}

impl<T: Scalar> FusedFn<T> {
    /// An operator of the given shape (rows, columns).
    pub fn new<F>(shape: (usize, usize), f: F) -> FusedFn<T, F>
    where
        F: Fn(T, BlockRef<'_, T>, T, BlockMut<'_, T>) -> Result<()> + Sync,
    {
        FusedFn { shape, forward: f, adjoint: NoAdjoint, scalar: PhantomData }
    }
}

impl<T: Scalar, F> FusedFn<T, F> {
    /// The same operator with $Y \leftarrow \alpha A^T X + \gamma Y$.
    pub fn with_adjoint<G>(self, g: G) -> FusedFn<T, F, G>
    where
        G: Fn(T, BlockRef<'_, T>, T, BlockMut<'_, T>) -> Result<()> + Sync,
    {
        let Self { shape, forward, .. } = self;
        FusedFn { shape, forward, adjoint: g, scalar: PhantomData }
    }
}

impl<T, F, G> fmt::Debug for FusedFn<T, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FusedFn").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<T, F, G> LinearOperator<T> for FusedFn<T, F, G>
where
    T: Scalar,
    F: Fn(T, BlockRef<'_, T>, T, BlockMut<'_, T>) -> Result<()> + Sync,
    G: Sync,
{
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        guard::catch("fused closure", || (self.forward)(alpha, x, gamma, y.reborrow()))?;
        guard::check_finite("fused closure", y.as_ref())
    }
}

impl<T, F, G> AdjointOperator<T> for FusedFn<T, F, G>
where
    T: Scalar,
    F: Fn(T, BlockRef<'_, T>, T, BlockMut<'_, T>) -> Result<()> + Sync,
    G: Fn(T, BlockRef<'_, T>, T, BlockMut<'_, T>) -> Result<()> + Sync,
{
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        guard::catch("adjoint fused closure", || (self.adjoint)(alpha, x, gamma, y.reborrow()))?;
        guard::check_finite("adjoint fused closure", y.as_ref())
    }
}
