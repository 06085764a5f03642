//! [`VStack`]: operators on top of each other.

use super::stack::{check_parts, gamma_of, offsets, range, total};
use crate::error::check_dim;
use crate::{
    AdjointOperator, Between, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace,
};

/// $\begin{pmatrix} A_1 \\\\ \vdots \\\\ A_p \end{pmatrix}$.
///
/// Parts of different types go in as `Box<dyn LinearOperator<T>>` or `Box<dyn AdjointOperator<T>>`.
///
/// # Cost
/// Those of the parts. The normal product takes one pass over each part that can do it in one.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, LinearOperator, VStack};
/// use ndarray::array;
/// let a = VStack::new(vec![Dense::new(array![[1.0, 2.0]])?, Dense::new(array![[3.0, 4.0]])?])?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[3.0, 7.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct VStack<A> {
    parts: Vec<A>,
    rows: Vec<usize>,
    cols: usize,
}

impl<A> VStack<A> {
    /// The parts from top to bottom.
    ///
    /// # Errors
    /// [`Empty`](crate::ErrorKind::Empty) without parts, [`Mismatch`](crate::ErrorKind::Mismatch)
    /// with the shapes of the first and of one that has another number of columns.
    pub fn new<T: Scalar>(parts: Vec<A>) -> Result<Self>
    where
        A: LinearOperator<T>,
    {
        check_parts("vertical stack", &parts, |shape| shape.1)?;
        let rows = offsets(parts.iter().map(|part| part.shape().0));
        let cols = parts[0].shape().1;
        Ok(Self { parts, rows, cols })
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[A] {
        &self.parts
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for VStack<A> {
    fn shape(&self) -> (usize, usize) {
        (total(&self.rows), self.cols)
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
        // Yᵢ ← α Aᵢ X + γ Yᵢ
        for (i, part) in self.parts.iter().enumerate() {
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

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for VStack<A> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Y ← α Σᵢ Aᵢᵀ Xᵢ + γ Y
        for (i, part) in self.parts.iter().enumerate() {
            let x = x.rows_range(range(&self.rows, i));
            part.apply_adjoint(alpha, x, gamma_of(i, gamma), y.reborrow(), ws)?;
        }
        Ok(())
    }

    fn apply_normal(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        between: Between<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of x", self.cols, x.rows())?;
        check_dim("rows of y", self.cols, y.rows())?;
        check_dim("columns of y", x.cols(), y.cols())?;
        between.check(total(&self.rows), x.cols())?;
        let Between { weights, offset, mut sums } = between;
        let mut share = ws.take(1, x.cols());
        if let Some(sums) = sums.as_deref_mut() {
            sums.fill(T::zero());
        }
        // Y ← α Σᵢ Aᵢᵀ Zᵢ + γ Y, the rows of Zᵢ with their own weights
        for (i, part) in self.parts.iter().enumerate() {
            let weights = weights.map(|weights| &weights[range(&self.rows, i)]);
            let between =
                Between { weights, offset, sums: sums.is_some().then(|| share.row_mut(0)) };
            part.apply_normal(alpha, x, between, gamma_of(i, gamma), y.reborrow(), ws)?;
            if let Some(sums) = sums.as_deref_mut() {
                sums.iter_mut().zip(share.row(0)).for_each(|(sum, &share)| *sum += share);
            }
        }
        ws.give(share);
        Ok(())
    }
}
