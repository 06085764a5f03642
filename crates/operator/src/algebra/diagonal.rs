//! [`Diagonal`]: a diagonal matrix.

use crate::error::ErrorKind;
use crate::row_ops::combine_rows;
use crate::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// $\mathrm{diag}(d)$.
///
/// # Cost
/// $2nk$ flops.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Diagonal, LinearOperator};
/// let y = Diagonal::new(vec![2.0, 3.0])?.multiply(BlockRef::column(&[1.0, 1.0]))?;
/// assert_eq!(y, Block::column(&[2.0, 3.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Diagonal<T> {
    entries: Vec<T>,
}

impl<T: Scalar> Diagonal<T> {
    /// $\mathrm{diag}(d)$.
    ///
    /// # Errors
    /// [`ErrorKind::NonFinite`] with the place of an entry that is NaN or infinite.
    pub fn new(entries: Vec<T>) -> Result<Self> {
        if let Some(row) = entries.iter().position(|entry| !entry.is_finite()) {
            let value = entries[row].as_f64();
            return Err(ErrorKind::NonFinite { what: "diagonal", row, column: row, value }.into());
        }
        Ok(Self { entries })
    }

    /// $d$.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }
}

impl<T: Scalar> LinearOperator<T> for Diagonal<T> {
    fn shape(&self) -> (usize, usize) {
        (self.entries.len(), self.entries.len())
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        combine_rows(alpha, &self.entries, x, gamma, y);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        true
    }

    fn work(&self) -> f64 {
        self.entries.len() as f64
    }
}

impl<T: Scalar> AdjointOperator<T> for Diagonal<T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.apply(alpha, x, gamma, y, ws)
    }
}
