//! [`BlockDiagonal`]: operators along the diagonal.

use super::stack::{check_parts, offsets, range, total};
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// $\mathrm{diag}(A_1, \dots, A_p)$; the parts need not be square.
///
/// Parts of different types go in as `Box<dyn LinearOperator<T>>` or `Box<dyn AdjointOperator<T>>`.
///
/// # Cost
/// Those of the parts.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockDiagonal, BlockRef, Dense, LinearOperator};
/// use ndarray::array;
/// let parts = vec![Dense::new(array![[1.0, 2.0]])?, Dense::new(array![[3.0], [4.0]])?];
/// let a = BlockDiagonal::new(parts)?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0, 1.0]))?, Block::column(&[3.0, 3.0, 4.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BlockDiagonal<A> {
    parts: Vec<A>,
    rows: Vec<usize>,
    cols: Vec<usize>,
}

impl<A> BlockDiagonal<A> {
    /// The parts from the top left to the bottom right.
    ///
    /// # Errors
    /// [`Empty`](crate::ErrorKind::Empty) without parts.
    pub fn new<T: Scalar>(parts: Vec<A>) -> Result<Self>
    where
        A: LinearOperator<T>,
    {
        check_parts("block diagonal", &parts, |_| 0)?;
        let rows = offsets(parts.iter().map(|part| part.shape().0));
        let cols = offsets(parts.iter().map(|part| part.shape().1));
        Ok(Self { parts, rows, cols })
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[A] {
        &self.parts
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for BlockDiagonal<A> {
    fn shape(&self) -> (usize, usize) {
        (total(&self.rows), total(&self.cols))
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
        // Yᵢ ← α Aᵢ Xᵢ + γ Yᵢ
        for (i, part) in self.parts.iter().enumerate() {
            let x = x.rows_range(range(&self.cols, i));
            let y = y.reborrow().rows_range(range(&self.rows, i));
            part.apply(alpha, x, gamma, y, ws)?;
        }
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.parts.iter().all(LinearOperator::is_infallible)
    }

    fn work(&self) -> f64 {
        self.parts.iter().map(LinearOperator::work).sum()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for BlockDiagonal<A> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Yᵢ ← α Aᵢᵀ Xᵢ + γ Yᵢ
        for (i, part) in self.parts.iter().enumerate() {
            let x = x.rows_range(range(&self.rows, i));
            let y = y.reborrow().rows_range(range(&self.cols, i));
            part.apply_adjoint(alpha, x, gamma, y, ws)?;
        }
        Ok(())
    }
}
