//! [`Masked`]: a matrix some of whose entries are missing.

use ndarray::Array2;

use super::Pattern;
use crate::{
    AdjointOperator, BlockMut, BlockRef, Csr, Dense, LinearOperator, Result, RowOperator, Scalar,
    Workspace,
};

/// A matrix with some entries replaced by zero, $A - C$, where the sparse $C$ holds the entries of
/// $A$ at those positions.
///
/// Put it outermost: the mask over a [`Centered`](crate::Centered) or
/// [`Scaled`](crate::Scaled) matrix zeroes the *centred* entries, that is, it puts the mean where
/// nothing is known. Nothing becomes dense.
///
/// # Cost
/// Those of $A$, and of a sparse matrix with one entry for each missing one. When most entries are
/// missing, [`Masked::observed`] stores those that are not.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, LinearOperator, Masked, Pattern};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?;
/// let a = Masked::missing(a, Pattern::new((2, 2), vec![(0, 1)])?)?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, 1.0]))?, Block::column(&[1.0, 7.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Masked<A, T: Scalar> {
    inner: A,
    pattern: Pattern,
    correction: Csr<'static, T>,
}

impl<A: RowOperator<T>, T: Scalar> Masked<A, T> {
    /// `inner` with zeros at the positions of the pattern.
    ///
    /// # Errors
    /// [`Mismatch`](crate::ErrorKind::Mismatch) when the pattern has another shape.
    pub fn missing(inner: A, pattern: Pattern) -> Result<Self> {
        let correction = pattern.entries_of(&inner)?;
        Ok(Self { inner, pattern, correction })
    }

    /// The sparse matrix of the entries of `inner` at the positions of the pattern, for when few
    /// entries are known: `inner` is not needed any more.
    ///
    /// # Errors
    /// [`Mismatch`](crate::ErrorKind::Mismatch) when the pattern has another shape.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{Dense, Masked, Pattern};
    /// use ndarray::array;
    /// let a = Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?;
    /// let a = Masked::observed(&a, &Pattern::new((2, 2), vec![(0, 1)])?)?;
    /// assert_eq!((a.columns(), a.values()), (&[1][..], &[2.0][..]));
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    pub fn observed(inner: &A, pattern: &Pattern) -> Result<Csr<'static, T>> {
        pattern.entries_of(inner)
    }

    /// The missing positions.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// $A$.
    #[must_use]
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// $A$ and the pattern, taken back: to centre $A$ and mask it again, say.
    #[must_use]
    pub fn into_parts(self) -> (A, Pattern) {
        (self.inner, self.pattern)
    }
}

impl<T: Scalar> Masked<Dense<'static, T>, T> {
    /// An array in which NaN means missing; the array is kept, with zeros in their place.
    ///
    /// # Errors
    /// [`NonFinite`](crate::ErrorKind::NonFinite) when an entry is infinite.
    ///
    /// # Example
    /// The mean of what is known, and the matrix centred by it:
    /// ```
    /// use favard_operator::{AdjointOperator, BlockRef, Centered, Masked, RowOperator};
    /// use ndarray::array;
    /// let a = Masked::from_nan(array![[1.0, f64::NAN], [3.0, 4.0]])?;
    /// let sums = a.multiply_adjoint(BlockRef::column(&[1.0, 1.0]))?;
    /// let missing = a.pattern().column_counts();
    /// let mean = (0..2).map(|j| sums.row(j)[0] / (2 - missing[j]) as f64).collect();
    /// let (dense, pattern) = a.into_parts();
    /// let a = Masked::missing(Centered::new(dense, mean)?, pattern)?;
    /// assert_eq!(a.entry(0, 0), -1.0);
    /// assert_eq!(a.entry(0, 1), 0.0);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    pub fn from_nan(mut array: Array2<T>) -> Result<Self> {
        let pattern = Pattern::of_nan(&array.view())?;
        array.mapv_inplace(|value| if value.is_nan() { T::zero() } else { value });
        Self::missing(Dense::new(array)?, pattern)
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Masked<A, T> {
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
        // Y ← α A X + γ Y, then Y ← Y − α C X
        self.inner.apply(alpha, x, gamma, y.reborrow(), ws)?;
        self.correction.apply(-alpha, x, T::one(), y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work() + self.correction.work()
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Masked<A, T> {
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
        self.correction.apply_adjoint(-alpha, x, T::one(), y, ws)
    }
}

impl<A: RowOperator<T>, T: Scalar> RowOperator<T> for Masked<A, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply_rows(rows, x, z.reborrow(), ws)?;
        for (i, &row) in rows.iter().enumerate() {
            let (cols, values) = self.correction.row(row);
            for (&col, &value) in cols.iter().zip(values) {
                let pairs = z.row_mut(i).iter_mut().zip(x.row(col as usize));
                pairs.for_each(|(z, &x)| *z -= value * x);
            }
        }
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply_rows_adjoint(rows, alpha, z, gamma, y.reborrow(), ws)?;
        self.correction.apply_rows_adjoint(rows, -alpha, z, T::one(), y, ws)
    }

    /// Not for inner loops: it looks at all n entries of the row when most of it is missing.
    fn row_norm_squared(&self, row: usize) -> T {
        let whole = self.inner.row_norm_squared(row);
        let norm = whole - self.correction.row_norm_squared(row);
        if norm > T::EPSILON.sqrt() * whole {
            return norm;
        }
        (0..self.shape().1).map(|col| self.entry(row, col).powi(2)).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        let value = self.inner.entry(row, col);
        if self.pattern.contains(row, col) { T::zero() } else { value }
    }
}
