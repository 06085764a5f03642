//! [`HStack`]: operators side by side.

use super::stack::{check_parts, gamma_of, offsets, range, total};
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// $\begin{pmatrix} A_1 & \cdots & A_p \end{pmatrix}$.
///
/// Parts of different types go in as `Box<dyn LinearOperator<T>>` or `Box<dyn AdjointOperator<T>>`.
///
/// # Cost
/// Those of the parts.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, HStack, LinearOperator};
/// use ndarray::array;
/// let a = HStack::new(vec![Dense::new(array![[1.0, 2.0]])?, Dense::new(array![[3.0]])?])?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0, 1.0]))?, Block::column(&[6.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HStack<A> {
    parts: Vec<A>,
    rows: usize,
    cols: Vec<usize>,
}

impl<A> HStack<A> {
    /// The parts from left to right.
    ///
    /// # Errors
    /// [`Empty`](crate::ErrorKind::Empty) without parts, [`Mismatch`](crate::ErrorKind::Mismatch)
    /// with the shapes of the first and of one that has another number of rows.
    pub fn new<T: Scalar>(parts: Vec<A>) -> Result<Self>
    where
        A: LinearOperator<T>,
    {
        check_parts("horizontal stack", &parts, |shape| shape.0)?;
        let cols = offsets(parts.iter().map(|part| part.shape().1));
        let rows = parts[0].shape().0;
        Ok(Self { parts, rows, cols })
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[A] {
        &self.parts
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for HStack<A> {
    fn shape(&self) -> (usize, usize) {
        (self.rows, total(&self.cols))
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
        // Y ← α Σᵢ Aᵢ Xᵢ + γ Y
        for (i, part) in self.parts.iter().enumerate() {
            let x = x.rows_range(range(&self.cols, i));
            part.apply(alpha, x, gamma_of(i, gamma), y.reborrow(), ws)?;
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

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for HStack<A> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Yᵢ ← α Aᵢᵀ X + γ Yᵢ
        for (i, part) in self.parts.iter().enumerate() {
            let y = y.reborrow().rows_range(range(&self.cols, i));
            part.apply_adjoint(alpha, x, gamma, y, ws)?;
        }
        Ok(())
    }
}
