//! [`VectorFn`]: a closure that multiplies one vector.

use std::fmt;
use std::marker::PhantomData;

use super::{NoAdjoint, guard};
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// A closure $y = A x$ on vectors as an operator on blocks, column by column.
///
/// Each column is copied into contiguous memory for the closure, and its result (memory that the
/// closure finds filled with zeros) is combined as $\alpha A x + \gamma y$ after the last column
/// has come back: a closure that fails, panics or gives a NaN leaves the block as it was.
///
/// # Cost
/// k calls of the closure, an m × k temporary and two vectors. A closure that can share work
/// between columns is better off as a [`FnOperator`](crate::FnOperator).
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, LinearOperator, VectorFn};
/// // The cumulative sum.
/// let op = VectorFn::<f64>::new((3, 3), |x, y| {
///     let mut sum = 0.0;
///     for (y, x) in y.iter_mut().zip(x) {
///         sum += x;
///         *y = sum;
///     }
/// });
/// assert_eq!(op.multiply(BlockRef::column(&[1.0, 2.0, 4.0]))?, Block::column(&[1.0, 3.0, 7.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub struct VectorFn<T, F = (), G = NoAdjoint> {
    shape: (usize, usize),
    forward: F,
    adjoint: G,
    scalar: PhantomData<fn(T)>,
}

impl<T: Scalar> VectorFn<T> {
    /// An operator of the given shape (rows, columns) whose product cannot fail.
    pub fn new<F>(
        shape: (usize, usize),
        f: F,
    ) -> VectorFn<T, impl Fn(&[T], &mut [T]) -> Result<()> + Sync>
    where
        F: Fn(&[T], &mut [T]) + Sync,
    {
        Self::fallible(shape, move |x, y| {
            f(x, y);
            Ok(())
        })
    }

    /// An operator of the given shape (rows, columns) whose product may fail.
    pub fn fallible<F>(shape: (usize, usize), f: F) -> VectorFn<T, F>
    where
        F: Fn(&[T], &mut [T]) -> Result<()> + Sync,
    {
        VectorFn { shape, forward: f, adjoint: NoAdjoint, scalar: PhantomData }
    }
}

impl<T: Scalar, F> VectorFn<T, F> {
    /// The same operator with its transpose, $y = A^T x$, which cannot fail.
    // A closure's type has no name to give it.
    #[allow(clippy::type_complexity)]
    pub fn with_adjoint<G>(
        self,
        g: G,
    ) -> VectorFn<T, F, impl Fn(&[T], &mut [T]) -> Result<()> + Sync>
    where
        G: Fn(&[T], &mut [T]) + Sync,
    {
        self.with_fallible_adjoint(move |x, y| {
            g(x, y);
            Ok(())
        })
    }

    /// The same operator with its transpose, $y = A^T x$, which may fail.
    pub fn with_fallible_adjoint<G>(self, g: G) -> VectorFn<T, F, G>
    where
        G: Fn(&[T], &mut [T]) -> Result<()> + Sync,
    {
        let Self { shape, forward, .. } = self;
        VectorFn { shape, forward, adjoint: g, scalar: PhantomData }
    }
}

impl<T, F, G> fmt::Debug for VectorFn<T, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorFn").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// Z ← A X by one call of `f` a column.
fn by_columns<T: Scalar>(
    x: BlockRef<'_, T>,
    mut z: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
    f: &impl Fn(&[T], &mut [T]) -> Result<()>,
) -> Result<()> {
    // Blocks of one column are contiguous.
    let (mut from, mut to) = (ws.take(x.rows(), 1), ws.take(z.rows(), 1));
    for j in 0..x.cols() {
        for i in 0..x.rows() {
            from.row_mut(i)[0] = x.row(i)[j];
        }
        to.fill(T::zero());
        f(from.as_ref().data(), to.as_mut().data_mut())?;
        for i in 0..z.rows() {
            z.row_mut(i)[j] = to.row(i)[0];
        }
    }
    ws.give(from);
    ws.give(to);
    Ok(())
}

impl<T, F, G> LinearOperator<T> for VectorFn<T, F, G>
where
    T: Scalar,
    F: Fn(&[T], &mut [T]) -> Result<()> + Sync,
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
        guard::combine("vector closure", alpha, gamma, y, ws, |z, ws| {
            by_columns(x, z, ws, &self.forward)
        })
    }
}

impl<T, F, G> AdjointOperator<T> for VectorFn<T, F, G>
where
    T: Scalar,
    F: Fn(&[T], &mut [T]) -> Result<()> + Sync,
    G: Fn(&[T], &mut [T]) -> Result<()> + Sync,
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
        guard::combine("adjoint vector closure", alpha, gamma, y, ws, |z, ws| {
            by_columns(x, z, ws, &self.adjoint)
        })
    }
}
