//! [`AdjointOperator`]: an operator that also knows its transpose.

use std::sync::Arc;

use crate::error::check_dim;
use crate::outer::{Outer, outer_in_two};
use crate::{Block, BlockMut, BlockRef, LinearOperator, Result, Scalar, Scatter, Workspace};

/// What happens to $Z = A X$ between the two halves of a normal product
/// ([`AdjointOperator::apply_normal`]): row i becomes $w_i (z_i - m)$.
///
/// This is what lets a centred and weighted matrix keep the single pass over the data of the
/// matrix it wraps: $m$ carries the mean's share, `sums` brings back $\mathbf{1}^T Z$.
///
/// # Example
/// ```
/// use favard_operator::Between;
/// let plain = Between::<f64>::default();
/// assert!(plain.weights.is_none() && plain.offset.is_none() && plain.sums.is_none());
/// ```
#[derive(Debug)]
pub struct Between<'a, T> {
    /// $w$, one number a row; all ones when absent.
    pub weights: Option<&'a [T]>,
    /// $m$, one number a column of the block; zero when absent.
    pub offset: Option<&'a [T]>,
    /// Receives $\sum_i w_i (z_i - m)$, one number a column of the block.
    pub sums: Option<&'a mut [T]>,
}

impl<T> Default for Between<'_, T> {
    fn default() -> Self {
        Self { weights: None, offset: None, sums: None }
    }
}

impl<T: Scalar> Between<'_, T> {
    /// `Ok` when the lengths fit an operator of `rows` rows and a block of `cols` columns.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the length that does not.
    pub fn check(&self, rows: usize, cols: usize) -> Result<()> {
        check_dim("row weights", rows, self.weights.map_or(rows, <[T]>::len))?;
        check_dim("offsets", cols, self.offset.map_or(cols, <[T]>::len))?;
        check_dim("sums", cols, self.sums.as_ref().map_or(cols, |sums| sums.len()))
    }

    /// Applies the transformation to `z`, whose first row is row `first` of the operator, and adds
    /// its column sums to `sums`.
    pub fn transform(
        weights: Option<&[T]>,
        offset: Option<&[T]>,
        mut z: BlockMut<'_, T>,
        first: usize,
        mut sums: Option<&mut [T]>,
    ) {
        if weights.is_none() && offset.is_none() && sums.is_none() {
            return;
        }
        for i in 0..z.rows() {
            let row = z.row_mut(i);
            if let Some(offset) = offset {
                // z ← z − m
                row.iter_mut().zip(offset).for_each(|(z, &m)| *z -= m);
            }
            if let Some(weights) = weights {
                // z ← w z
                let weight = weights[first + i];
                row.iter_mut().for_each(|z| *z *= weight);
            }
            if let Some(sums) = sums.as_deref_mut() {
                sums.iter_mut().zip(row.iter()).for_each(|(sum, &z)| *sum += z);
            }
        }
    }
}

/// Which of the two matrices of inner products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Of columns: $B^T B$.
    Columns,
    /// Of rows: $B B^T$.
    Rows,
}

impl Side {
    /// That of the transpose.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Columns => Self::Rows,
            Self::Rows => Self::Columns,
        }
    }
}

/// What is done to a matrix before its inner products are taken:
/// $b_{ij} = \sqrt{w_i} (a_{ij} - m_j) f_j$.
#[derive(Debug, Clone, Copy)]
pub struct Standardized<'a, T> {
    /// m; zeros when there is none.
    pub shift: Option<&'a [T]>,
    /// f; ones when there is none.
    pub factor: Option<&'a [T]>,
    /// w, one number a row; ones when there is none.
    pub weights: Option<&'a [T]>,
}

impl<T> Default for Standardized<'_, T> {
    fn default() -> Self {
        Self { shift: None, factor: None, weights: None }
    }
}

impl<T> Standardized<'_, T> {
    /// `Ok` when the lengths fit a matrix of this shape.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the length that does not.
    pub fn check(&self, (rows, cols): (usize, usize)) -> Result<()> {
        for given in self.shift.iter().chain(&self.factor) {
            check_dim("numbers, one a column", cols, given.len())?;
        }
        check_dim("row weights", rows, self.weights.map_or(rows, <[T]>::len))
    }
}

/// What [`form_gram`](AdjointOperator::form_gram) takes: for those who choose between the matrix and
/// products.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forming {
    /// Multiply-adds of products of dense matrices.
    pub dense: f64,
    /// Multiply-adds into places that sparse entries name, near ones, and what takes as long: zero
    /// for a dense matrix.
    pub scattered: f64,
    /// Whether a sparse matrix is stored by the sides whose inner products are taken: then its entries
    /// are transposed for them, and its products name the rows of a block of the other side in no order.
    pub across: bool,
    /// Bytes beside the matrix that is formed.
    pub scratch: usize,
}

impl Forming {
    /// Whether the data are a dense matrix.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.scattered == 0.0
    }

    /// With scratch for so many numbers more.
    pub(crate) fn and_numbers<T>(self, count: usize) -> Self {
        Self { scratch: self.scratch + count * size_of::<T>(), ..self }
    }
}

/// A linear operator whose transpose can be applied too.
///
/// # Contract
/// $\langle A x, y \rangle = \langle x, A^T y \rangle$ up to rounding, and everything that
/// [`LinearOperator`] asks of `apply`, of the two methods here as well.
///
/// # Example
/// ```
/// use favard_operator::{AdjointOperator, BlockRef, Dense};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let y = a.multiply_adjoint(BlockRef::column(&[1.0, 1.0, 1.0]))?;
/// assert_eq!(y, favard_operator::Block::column(&[9.0, 12.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub trait AdjointOperator<T: Scalar>: LinearOperator<T> {
    /// $Y \leftarrow \alpha A^T X + \gamma Y$, with $X : m \times k$ and $Y : n \times k$.
    ///
    /// # Errors
    /// Those of [`apply`](LinearOperator::apply).
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()>;

    /// $Y \leftarrow \alpha A^T Z + \gamma Y$ where row i of $Z$ is $w_i (A X - \mathbf{1} m^T)_i$.
    ///
    /// Two passes over the operator and an m × k temporary as written here; matrices that are
    /// stored by rows do it in one pass over row blocks.
    ///
    /// # Errors
    /// Those of [`apply`](LinearOperator::apply), and wrong lengths in `between`.
    fn apply_normal(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        between: Between<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        normal_in_two(self, alpha, x, between, gamma, y, ws)
    }

    /// $Y \leftarrow \alpha A Z + \gamma Y$ where row j of $Z$ is $w_j (A^T X - f m^T)_j$: the product with
    /// $A A^T$, for X with a row for each row of A.
    ///
    /// Two passes over the operator and an n × k temporary as written here; matrices that are
    /// stored by columns do it in one pass over them.
    ///
    /// # Errors
    /// Those of [`apply`](LinearOperator::apply), and wrong lengths in `outer`.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{AdjointOperator, Block, BlockRef, Dense, Outer, Workspace};
    /// use ndarray::array;
    /// let (a, mut y) = (Dense::new(array![[1.0, 2.0]])?, Block::zeros(1, 1));
    /// let outer = Outer { weights: Some(&[1.0, 10.0]), shift: None };
    /// a.apply_outer(1.0, BlockRef::column(&[1.0]), outer, 0.0, y.as_mut(), &mut Workspace::new())?;
    /// assert_eq!(y.row(0)[0], 41.0); // 1 · 1 + 10 · 2 · 2
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    fn apply_outer(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        outer: Outer<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        outer_in_two(self, alpha, x, outer, gamma, y, ws)
    }

    /// $B^T B$ or $B B^T$, formed, for $B = \sqrt{W} (A - \mathbf{1} m^T) F$; `None` when products with
    /// [`apply_normal`](Self::apply_normal) are all that the operator knows.
    ///
    /// A dense matrix does it at the speed of a matrix product, which for a few hundred columns is
    /// many times that of products with blocks; a sparse one by the pairs of its entries that meet.
    ///
    /// # Errors
    /// Those of [`apply`](LinearOperator::apply).
    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        let _ = (side, by);
        Ok(None)
    }

    /// The moments of the columns and the scatter matrix about their mean,
    /// $\sum_i w_i (a_i - \mu)(a_i - \mu)^T$, all in one pass over the rows; `None` when the
    /// operator does not know how. All rows have the weight 1 when none are given.
    ///
    /// A dense matrix does it in pieces of rows, each about its own mean: nothing is lost to means
    /// far above the deviations, in whatever order the rows come.
    ///
    /// # Errors
    /// When the matrix cannot be read or has entries that are not finite, and those of
    /// [`WeightedMoments::weighted_moments`](crate::WeightedMoments::weighted_moments).
    fn form_scatter(&self, weights: Option<&[f64]>) -> Result<Option<Scatter<T>>> {
        let _ = weights;
        Ok(None)
    }

    /// What [`form_gram`](Self::form_gram) takes, where it has an answer. A sparse matrix counts its
    /// entries for it.
    fn forming(&self, side: Side) -> Option<Forming> {
        let _ = side;
        None
    }

    /// `Ok` when `x` and `y` fit the transpose of this operator and each other.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the dimension that does not.
    fn check_adjoint(&self, x: BlockRef<'_, T>, y: &BlockMut<'_, T>) -> Result<()> {
        let (rows, cols) = self.shape();
        check_dim("rows of x", rows, x.rows())?;
        check_dim("rows of y", cols, y.rows())?;
        check_dim("columns of y", x.cols(), y.cols())
    }

    /// `Ok` when `x`, `between` and `y` fit a normal product with this operator.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the dimension that does not.
    fn check_normal(
        &self,
        x: BlockRef<'_, T>,
        between: &Between<'_, T>,
        y: &BlockMut<'_, T>,
    ) -> Result<()> {
        let (rows, cols) = self.shape();
        check_dim("rows of x", cols, x.rows())?;
        check_dim("rows of y", cols, y.rows())?;
        check_dim("columns of y", x.cols(), y.cols())?;
        between.check(rows, x.cols())
    }

    /// `Ok` when `x`, `outer` and `y` fit an outer product with this operator.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) with the dimension that does not.
    fn check_outer(
        &self,
        x: BlockRef<'_, T>,
        outer: &Outer<'_, T>,
        y: &BlockMut<'_, T>,
    ) -> Result<()> {
        let (rows, cols) = self.shape();
        check_dim("rows of x", rows, x.rows())?;
        check_dim("rows of y", rows, y.rows())?;
        check_dim("columns of y", x.cols(), y.cols())?;
        outer.check(cols, x.cols())
    }

    /// $A^T X$ in a block of its own, for use outside of loops.
    ///
    /// # Errors
    /// Those of [`apply_adjoint`](Self::apply_adjoint).
    fn multiply_adjoint(&self, x: BlockRef<'_, T>) -> Result<Block<T>> {
        let mut y = Block::zeros(self.shape().1, x.cols());
        self.apply_adjoint(T::one(), x, T::zero(), y.as_mut(), &mut Workspace::new())?;
        Ok(y)
    }
}

/// [`AdjointOperator::apply_normal`] in two passes, with all of Z.
pub(crate) fn normal_in_two<T: Scalar, A: AdjointOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    between: Between<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<()> {
    let rows = op.shape().0;
    between.check(rows, x.cols())?;
    let mut z = ws.take(rows, x.cols());
    op.apply(T::one(), x, T::zero(), z.as_mut(), ws)?;
    let Between { weights, offset, mut sums } = between;
    if let Some(sums) = sums.as_deref_mut() {
        sums.fill(T::zero());
    }
    Between::transform(weights, offset, z.as_mut(), 0, sums);
    op.apply_adjoint(alpha, z.as_ref(), gamma, y, ws)?;
    ws.give(z);
    Ok(())
}

macro_rules! forward {
    ($($pointer:ty $(where $bound:ident)?),*) => {$(
        impl<T: Scalar, A: AdjointOperator<T> $(+ $bound)? + ?Sized> AdjointOperator<T> for $pointer {
            fn apply_adjoint(
                &self,
                alpha: T,
                x: BlockRef<'_, T>,
                gamma: T,
                y: BlockMut<'_, T>,
                ws: &mut Workspace<T>,
            ) -> Result<()> {
                (**self).apply_adjoint(alpha, x, gamma, y, ws)
            }
            fn apply_normal(
                &self,
                alpha: T,
                x: BlockRef<'_, T>,
                between: Between<'_, T>,
                gamma: T,
                y: BlockMut<'_, T>,
                ws: &mut Workspace<T>,
            ) -> Result<()> {
                (**self).apply_normal(alpha, x, between, gamma, y, ws)
            }
            fn apply_outer(
                &self,
                alpha: T,
                x: BlockRef<'_, T>,
                outer: Outer<'_, T>,
                gamma: T,
                y: BlockMut<'_, T>,
                ws: &mut Workspace<T>,
            ) -> Result<()> {
                (**self).apply_outer(alpha, x, outer, gamma, y, ws)
            }
            fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
                (**self).form_gram(side, by)
            }
            fn form_scatter(&self, weights: Option<&[f64]>) -> Result<Option<Scatter<T>>> {
                (**self).form_scatter(weights)
            }
            fn forming(&self, side: Side) -> Option<Forming> {
                (**self).forming(side)
            }
        }
    )*};
}
forward!(&A, Box<A>, Arc<A> where Send);
