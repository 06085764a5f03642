//! [`FnOperator`]: a closure that multiplies a block.

use std::fmt;
use std::marker::PhantomData;

use super::{NoAdjoint, guard};
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// A closure $Y = A X$ on blocks as an operator.
///
/// The closure only has to know the plain product: it writes into scratch (which it finds filled
/// with zeros), and the adapter then computes $Y \leftarrow \alpha A X + \gamma Y$. A closure that
/// fails, panics or gives a NaN therefore leaves $Y$ as it was. The closure has to be linear and
/// deterministic.
///
/// The operator has an adjoint only after [`FnOperator::with_adjoint`]; without one the compiler
/// refuses to use it where an [`AdjointOperator`] is needed.
///
/// # Cost
/// One call of the closure and an m × k temporary.
///
/// # Example
/// ```
/// use favard_operator::{AdjointOperator, Block, BlockRef, FnOperator, LinearOperator};
/// // Differences of neighbours, (Ax)_i = x_{i+1} − x_i, and their adjoint.
/// let op = FnOperator::<f64>::new((2, 3), |x, mut y| {
///     for i in 0..2 {
///         for j in 0..x.cols() {
///             y.row_mut(i)[j] = x.row(i + 1)[j] - x.row(i)[j];
///         }
///     }
/// })
/// .with_adjoint(|x, mut y| {
///     for i in 0..2 {
///         for j in 0..x.cols() {
///             y.row_mut(i)[j] -= x.row(i)[j];
///             y.row_mut(i + 1)[j] += x.row(i)[j];
///         }
///     }
/// });
/// assert_eq!(op.multiply(BlockRef::column(&[1.0, 2.0, 4.0]))?, Block::column(&[1.0, 2.0]));
/// assert_eq!(op.multiply_adjoint(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[-1.0, 0.0, 1.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub struct FnOperator<T, F = (), G = NoAdjoint> {
    shape: (usize, usize),
    forward: F,
    adjoint: G,
    scalar: PhantomData<fn(T)>,
}

impl<T: Scalar> FnOperator<T> {
    /// An operator of the given shape (rows, columns) whose product cannot fail.
    pub fn new<F>(
        shape: (usize, usize),
        f: F,
    ) -> FnOperator<T, impl Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync>
    where
        F: Fn(BlockRef<'_, T>, BlockMut<'_, T>) + Sync,
    {
        Self::fallible(shape, move |x, y| {
            f(x, y);
            Ok(())
        })
    }

    /// An operator of the given shape (rows, columns) whose product may fail; see
    /// [`Error::external`](crate::Error::external) for errors of your own.
    pub fn fallible<F>(shape: (usize, usize), f: F) -> FnOperator<T, F>
    where
        F: Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
    {
        FnOperator { shape, forward: f, adjoint: NoAdjoint, scalar: PhantomData }
    }
}

impl<T: Scalar, F> FnOperator<T, F> {
    /// The same operator with its transpose, $Y = A^T X$, which cannot fail.
    // A closure's type has no name to give it.
    #[allow(clippy::type_complexity)]
    pub fn with_adjoint<G>(
        self,
        g: G,
    ) -> FnOperator<T, F, impl Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync>
    where
        G: Fn(BlockRef<'_, T>, BlockMut<'_, T>) + Sync,
    {
        self.with_fallible_adjoint(move |x, y| {
            g(x, y);
            Ok(())
        })
    }

    /// The same operator with its transpose, $Y = A^T X$, which may fail.
    pub fn with_fallible_adjoint<G>(self, g: G) -> FnOperator<T, F, G>
    where
        G: Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
    {
        let Self { shape, forward, .. } = self;
        FnOperator { shape, forward, adjoint: g, scalar: PhantomData }
    }
}

impl<T, F, G> fmt::Debug for FnOperator<T, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnOperator").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<T, F, G> LinearOperator<T> for FnOperator<T, F, G>
where
    T: Scalar,
    F: Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
    G: Sync,
{
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Not known: as if a column cost little, so that panels stay narrow and few are asked for.
    fn work(&self) -> f64 {
        (self.shape.0 + self.shape.1) as f64
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
        guard::combine("block closure", alpha, gamma, y, ws, |z, _| (self.forward)(x, z))
    }
}

impl<T, F, G> AdjointOperator<T> for FnOperator<T, F, G>
where
    T: Scalar,
    F: Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
    G: Fn(BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
{
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        guard::combine("adjoint block closure", alpha, gamma, y, ws, |z, _| (self.adjoint)(x, z))
    }
}
