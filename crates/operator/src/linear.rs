//! [`LinearOperator`]: the one thing a user has to implement.

use std::sync::Arc;

use crate::error::check_dim;
use crate::{Block, BlockMut, BlockRef, Result, Scalar, Workspace};

/// A linear map $A : \mathbb{R}^{n} \to \mathbb{R}^{m}$, known by its action on a block of columns.
///
/// The primitive is the fused product
///
/// $$ Y \leftarrow \alpha A X + \gamma Y, \qquad X : n \times k,\; Y : m \times k. $$
///
/// Fused, because with it one step of the momentum recurrence,
/// $F_{t+1} = A F_t - \beta F_{t-1}$, is one call (`α = 1`, `γ = −β`, `Y` the older block) and a
/// swap, without a temporary. On blocks, because the cost of fetching an entry of $A$ is shared by
/// the k columns: in a sparse product a column costs four times less in a block of eight than alone.
///
/// The trait is object safe. References, boxes and [`Arc`]s of operators are operators.
///
/// # Contract
/// - With `gamma == 0` the old contents of `y` are not read: they may be NaN.
/// - Equal inputs give equal bits, on any number of threads.
/// - Shapes are checked before `y` is touched ([`LinearOperator::check_apply`] does it).
/// - After an error the contents of `y` are unspecified.
///
/// `favard-testkit` checks all of these on a user's operator in three lines.
///
/// # Example
/// The second difference, $(Ax)_i = 2 x_i - x_{i-1} - x_{i+1}$:
/// ```
/// use favard_operator::{BlockMut, BlockRef, LinearOperator, Result, Workspace};
///
/// struct SecondDifference(usize);
///
/// impl LinearOperator<f64> for SecondDifference {
///     fn shape(&self) -> (usize, usize) {
///         (self.0, self.0)
///     }
///     fn apply(
///         &self,
///         alpha: f64,
///         x: BlockRef<'_, f64>,
///         gamma: f64,
///         mut y: BlockMut<'_, f64>,
///         _: &mut Workspace<f64>,
///     ) -> Result<()> {
///         self.check_apply(x, &y)?;
///         for i in 0..self.0 {
///             for j in 0..x.cols() {
///                 let below = if i > 0 { x.row(i - 1)[j] } else { 0.0 };
///                 let above = if i + 1 < self.0 { x.row(i + 1)[j] } else { 0.0 };
///                 let old = if gamma == 0.0 { 0.0 } else { gamma * y.row(i)[j] };
///                 y.row_mut(i)[j] = alpha * (2.0 * x.row(i)[j] - below - above) + old;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let y = SecondDifference(3).multiply(BlockRef::column(&[1.0, 1.0, 1.0]))?;
/// assert_eq!(y, favard_operator::Block::column(&[1.0, 0.0, 1.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub trait LinearOperator<T: Scalar>: Sync {
    /// (rows m, columns n).
    fn shape(&self) -> (usize, usize);

    /// $Y \leftarrow \alpha A X + \gamma Y$.
    ///
    /// # Errors
    /// When a shape does not fit, or when the operator itself fails: a file is gone, a value is not
    /// finite, a closure panicked.
    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()>;

    /// Whether [`apply`](Self::apply) can neither fail nor panic once the shapes fit.
    ///
    /// The engine updates such operators in place; for all others it keeps the old block until the
    /// product has come back, so that a failure loses nothing. The safe answer is the default.
    fn is_infallible(&self) -> bool {
        false
    }

    /// Multiplications that a product with one column takes, more or less: what a solver weighs
    /// against its own work. Rows times columns unless the operator knows better.
    fn work(&self) -> f64 {
        let (rows, cols) = self.shape();
        rows as f64 * cols as f64
    }

    /// The matrix itself, for those who want it: by products with a few cache lines of columns of
    /// the identity at a time, unless the operator knows a better way.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    fn to_block(&self) -> Result<Block<T>> {
        by_products(self)
    }

    /// The block products, or passes over the data, that [`to_block`](Self::to_block) takes.
    fn products_to_form(&self) -> u64 {
        self.shape().1.div_ceil(slab_columns::<T>()) as u64
    }

    /// `Ok` when `x` and `y` fit this operator and each other.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the dimension that does not.
    fn check_apply(&self, x: BlockRef<'_, T>, y: &BlockMut<'_, T>) -> Result<()> {
        let (rows, cols) = self.shape();
        check_dim("rows of x", cols, x.rows())?;
        check_dim("rows of y", rows, y.rows())?;
        check_dim("columns of y", x.cols(), y.cols())
    }

    /// $A X$ in a block of its own, for use outside of loops.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    fn multiply(&self, x: BlockRef<'_, T>) -> Result<Block<T>> {
        let mut y = Block::zeros(self.shape().0, x.cols());
        self.apply(T::one(), x, T::zero(), y.as_mut(), &mut Workspace::new())?;
        Ok(y)
    }
}

/// Columns of the identity that [`by_products`] multiplies at a time.
pub(crate) fn slab_columns<T: Scalar>() -> usize {
    4 * T::LANE
}

/// The matrix of an operator, by products with the identity.
pub(crate) fn by_products<T: Scalar>(op: &(impl LinearOperator<T> + ?Sized)) -> Result<Block<T>> {
    let (rows, cols) = op.shape();
    let (mut matrix, mut ws) = (Block::zeros(rows, cols), Workspace::new());
    let width = slab_columns::<T>();
    for from in (0..cols).step_by(width) {
        let to = cols.min(from + width);
        let mut identity = ws.take_zeros(cols, to - from);
        (from..to).for_each(|j| identity.row_mut(j)[j - from] = T::one());
        let mut slab = ws.take(rows, to - from);
        op.apply(T::one(), identity.as_ref(), T::zero(), slab.as_mut(), &mut ws)?;
        crate::ops::copy(slab.as_ref(), matrix.as_mut().cols_range(from..to))?;
        ws.give(identity);
        ws.give(slab);
    }
    Ok(matrix)
}

macro_rules! forward {
    ($($pointer:ty $(where $bound:ident)?),*) => {$(
        impl<T: Scalar, A: LinearOperator<T> $(+ $bound)? + ?Sized> LinearOperator<T> for $pointer {
            fn shape(&self) -> (usize, usize) {
                (**self).shape()
            }
            fn apply(
                &self,
                alpha: T,
                x: BlockRef<'_, T>,
                gamma: T,
                y: BlockMut<'_, T>,
                ws: &mut Workspace<T>,
            ) -> Result<()> {
                (**self).apply(alpha, x, gamma, y, ws)
            }
            fn is_infallible(&self) -> bool {
                (**self).is_infallible()
            }
            fn work(&self) -> f64 {
                (**self).work()
            }
            fn to_block(&self) -> Result<Block<T>> {
                (**self).to_block()
            }
            fn products_to_form(&self) -> u64 {
                (**self).products_to_form()
            }
        }
    )*};
}
forward!(&A, Box<A>, Arc<A> where Send);
