//! [`Pattern`]: a set of positions in a matrix.

use ndarray::ArrayView2;

use crate::error::{ErrorKind, Result};
use crate::{Csr, RowOperator, Scalar};

/// A set of positions (row, column) of a matrix: which entries are missing, or which are known.
///
/// # Cost
/// 4 bytes a position and 8 a row.
///
/// # Example
/// ```
/// use favard_operator::Pattern;
/// let pattern = Pattern::new((2, 3), vec![(1, 2), (0, 0), (1, 2)])?;
/// assert_eq!(pattern.len(), 2); // a position counts once
/// assert!(pattern.contains(1, 2) && !pattern.contains(0, 1));
/// assert_eq!(pattern.column_counts(), [1, 0, 1]);
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    shape: (usize, usize),
    pointers: Vec<usize>,
    columns: Vec<u32>,
}

impl Pattern {
    /// The positions in any order, repeats allowed.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] with the first row or column that is outside of the shape, or when the
    /// shape has more than $2^{32}$ columns.
    pub fn new(shape: (usize, usize), mut positions: Vec<(usize, usize)>) -> Result<Self> {
        let (rows, cols) = shape;
        let outside = |what, position, index: usize, bound: usize| ErrorKind::Index {
            what,
            position,
            index: index as u64,
            bound: bound as u64,
        };
        for (position, &(row, col)) in positions.iter().enumerate() {
            if row >= rows {
                return Err(outside("rows of a pattern", position, row, rows).into());
            }
            if col >= cols {
                return Err(outside("columns of a pattern", position, col, cols).into());
            }
        }
        positions.sort_unstable();
        positions.dedup();
        let mut pattern = Self {
            shape,
            pointers: vec![0; rows + 1],
            columns: Vec::with_capacity(positions.len()),
        };
        for (position, (row, col)) in positions.into_iter().enumerate() {
            let limit = outside("columns of a pattern", position, col, u32::MAX as usize);
            pattern.columns.push(u32::try_from(col).map_err(|_| limit)?);
            pattern.pointers[row + 1] += 1;
        }
        for row in 0..rows {
            pattern.pointers[row + 1] += pattern.pointers[row];
        }
        Ok(pattern)
    }

    /// The positions of the NaNs of an array.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the array has more than $2^{32}$ columns.
    pub fn of_nan<T: Scalar>(array: &ArrayView2<'_, T>) -> Result<Self> {
        let nans = array.indexed_iter().filter(|(_, value)| value.is_nan());
        Self::new(array.dim(), nans.map(|(position, _)| position).collect())
    }

    /// (rows, columns) of the matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// The number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether the position is in the set; `false` outside of the shape.
    #[must_use]
    pub fn contains(&self, row: usize, col: usize) -> bool {
        let col = u32::try_from(col);
        row < self.shape.0 && col.is_ok_and(|col| self.row(row).binary_search(&col).is_ok())
    }

    /// The columns of the positions in a row, increasing.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.pointers[row]..self.pointers[row + 1]]
    }

    /// How many positions each column has: with the sums of the columns it gives the mean of what
    /// is known.
    #[must_use]
    pub fn column_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.shape.1];
        for &col in &self.columns {
            counts[col as usize] += 1;
        }
        counts
    }

    /// The sparse matrix that has the entries of `op` at these positions and nothing else.
    pub(super) fn entries_of<T, A>(&self, op: &A) -> Result<Csr<'static, T>>
    where
        T: Scalar,
        A: RowOperator<T> + ?Sized,
    {
        if op.shape() != self.shape {
            let (left, right) = (op.shape(), self.shape);
            return Err(ErrorKind::Mismatch { what: "pattern of entries", left, right }.into());
        }
        let row = |row: usize| self.row(row).iter().map(move |&col| op.entry(row, col as usize));
        let values: Vec<T> = (0..self.shape.0).flat_map(row).collect();
        Csr::new(self.shape, self.pointers.clone(), self.columns.clone(), values)
    }
}
