//! [`Dense`]: a matrix that is stored in full.

mod gram;
mod lines;
mod narrow;
mod piece;
mod product;
mod scatter;
pub(crate) mod square;

pub(crate) use gram::form;
pub(crate) use narrow::normal as narrow_normal;
pub(crate) use product::{multiply, normal};
pub(crate) use scatter::scatter;

use faer::MatRef;
use faer_ext::IntoFaer;
use ndarray::{ArrayView1, ArrayView2, Axis, CowArray, Ix2};
use rayon::prelude::*;

use crate::adjoint::{Forming, Side, Standardized};
use crate::block::is_finite;
use crate::error::{ErrorKind, check_dim};
use crate::row_ops::{CHUNK, chunk_rows};
use crate::wrap::check_weights;
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, LinearOperator, Result, RowOperator,
    Scalar, Scatter, Workspace,
};

/// An `ndarray` matrix, owned or borrowed, of any strides (transposed, sliced, reversed).
///
/// $Y \leftarrow \alpha A X + \gamma Y$ is one matrix product of faer for each chunk of rows of
/// $Y$. Where $Y$ has too few rows to share out, or where a transposed matrix is better read in
/// whole rows, the inner dimension is cut instead and the partial products are added in order. The
/// cuts depend on the shape and the strides alone, so that any number of threads gives the same
/// bits.
///
/// # Cost
/// $2mnk$ flops and $mn$ numbers read, in either direction. The normal product
/// ([`AdjointOperator::apply_normal`]) of a matrix stored by rows reads $A$ once instead of twice
/// when a block of $\max(16, 2k)$ of its rows fits in 256 KiB (the part of a level-2 cache that can
/// be counted on): the block is multiplied by $X$, and by its transpose while it is still in cache.
/// With fewer rows in a block the sum $A^T Z$, n × k numbers moved for every block, would cost
/// more than the second reading of $A$ that it saves. (50,000 × 500, f64, 2 cores: 68 ms against
/// 114 at k = 8, 234 against 263 at k = 32.) Of a contiguous matrix of at most 32 columns it is made
/// by kernels of our own, which hold the sums of both products in registers.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, LinearOperator};
/// use ndarray::array;
/// let array = array![[1.0, 2.0], [3.0, 4.0]];
/// let owned = Dense::new(array.clone())?;
/// let transposed = Dense::new(array.t())?; // borrowed, nothing is copied
/// let x = BlockRef::column(&[1.0, 10.0]);
/// assert_eq!(owned.multiply(x)?, Block::column(&[21.0, 43.0]));
/// assert_eq!(transposed.multiply(x)?, Block::column(&[31.0, 42.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dense<'a, T> {
    array: CowArray<'a, T, Ix2>,
}

impl<'a, T: Scalar> Dense<'a, T> {
    /// Wraps an `Array2`, an `ArrayView2` or a reference to an array; reads it once.
    ///
    /// # Errors
    /// [`ErrorKind::NonFinite`] with the row and column of an entry that is NaN or infinite.
    pub fn new(array: impl Into<CowArray<'a, T, Ix2>>) -> Result<Self> {
        let dense = Self::deferred(array);
        dense.check_finite()?;
        Ok(dense)
    }

    /// Wraps an array without reading it, for those who ask it next for the moments of its columns
    /// ([`ColumnMoments::column_moments`](crate::ColumnMoments::column_moments)) or for its scatter
    /// matrix ([`AdjointOperator::form_scatter`]), without weights: an entry that is NaN or infinite
    /// is an error of theirs, and a pass over the data is saved. Products with such an entry are not
    /// finite, as any arithmetic with it.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{ColumnMoments, Dense};
    /// let error = Dense::deferred(ndarray::array![[1.0, f64::NAN]]).column_moments().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "dense matrix: value NaN at row 0, column 1 is not finite"
    /// );
    /// ```
    #[must_use]
    pub fn deferred(array: impl Into<CowArray<'a, T, Ix2>>) -> Self {
        Self { array: array.into() }
    }

    /// `Ok` when all entries are finite; reads them.
    fn check_finite(&self) -> Result<()> {
        match T::dense_find_non_finite(&self.array.view()) {
            None => Ok(()),
            Some((row, column)) => {
                let value = self.array[[row, column]].as_f64();
                Err(ErrorKind::NonFinite { what: "dense matrix", row, column, value }.into())
            }
        }
    }

    /// `Ok` unless the means say that an entry is not finite: of finite entries they are, or else
    /// their sums overflow, which is for the caller to tell.
    pub(crate) fn check_means(&self, mean: &[f64]) -> Result<()> {
        if mean.iter().all(|value| value.is_finite()) { Ok(()) } else { self.check_finite() }
    }

    /// The matrix.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, T> {
        self.array.view()
    }

    /// The array that was given to [`Dense::new`].
    #[must_use]
    pub fn into_inner(self) -> CowArray<'a, T, Ix2> {
        self.array
    }

    fn mat(&self) -> MatRef<'_, T> {
        self.array.view().into_faer()
    }

    /// Runs `f` on the matrix of the given rows: a view when they follow one another, else a copy.
    fn with_rows(
        &self,
        rows: &[usize],
        ws: &mut Workspace<T>,
        f: impl FnOnce(MatRef<'_, T>, &mut Workspace<T>),
    ) {
        if rows.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            let first = rows.first().copied().unwrap_or(0);
            return f(self.mat().subrows(first, rows.len()), ws);
        }
        let mut copy = ws.take(rows.len(), self.array.ncols());
        let step = CHUNK.div_ceil(copy.stride());
        chunk_rows(copy.as_mut(), step, |first, mut part| {
            for i in 0..part.rows() {
                let source = self.array.row(rows[first + i]);
                part.row_mut(i).iter_mut().zip(source).for_each(|(to, &from)| *to = from);
            }
        });
        f(copy.view().into_faer(), ws);
        ws.give(copy);
    }
}

/// Row and column of an entry that is NaN or infinite, the same one on any number of threads.
pub(crate) fn find_non_finite<T: Scalar>(array: &ArrayView2<'_, T>) -> Option<(usize, usize)> {
    // Contiguous and without any, as almost all are: read at the memory's speed.
    let all = array.as_slice_memory_order();
    if all.is_some_and(|all| all.par_chunks(CHUNK).all(is_finite)) {
        return None;
    }
    let [along_rows, along_cols] = [array.strides()[0], array.strides()[1]];
    // Read in the order of the memory.
    let by_rows = along_rows.unsigned_abs() >= along_cols.unsigned_abs();
    let axis = if by_rows { Axis(0) } else { Axis(1) };
    let line = |i: usize| array.index_axis(axis, i);
    let bad = |line: ArrayView1<'_, T>| line.iter().position(|v| !v.is_finite());
    let min_len = CHUNK.div_ceil(array.len_of(Axis(1 - axis.index())).max(1));
    let found = (0..array.len_of(axis))
        .into_par_iter()
        .with_min_len(min_len)
        .find_map_first(|i| bad(line(i)).map(|j| (i, j)));
    found.map(|(i, j)| if by_rows { (i, j) } else { (j, i) })
}

impl<T: Scalar> LinearOperator<T> for Dense<'_, T> {
    fn shape(&self) -> (usize, usize) {
        self.array.dim()
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
        T::dense_multiply(self.mat(), alpha, x, gamma, y, ws);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        true
    }
}

impl<T: Scalar> AdjointOperator<T> for Dense<'_, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        T::dense_multiply(self.mat().transpose(), alpha, x, gamma, y, ws);
        Ok(())
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
        self.check_normal(x, &between, &y)?;
        let (rows, cols) = self.shape();
        match self.array.as_slice() {
            Some(all) if narrow::fits(cols, x.cols()) && rows > 0 => {
                T::dense_narrow_normal(all, alpha, x, between, gamma, y, ws);
            }
            _ => T::dense_normal(self.mat(), alpha, x, between, gamma, y, ws),
        }
        Ok(())
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        let (rows, cols) = self.array.dim();
        let (dim, inner) = if side == Side::Columns { (cols, rows) } else { (rows, cols) };
        let dense = inner as f64 * (dim as f64).powi(2);
        let scratch = gram::scratch::<T>(dim, inner);
        Some(Forming { dense, scattered: 0.0, across: false, scratch })
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        by.check(self.array.dim())?;
        Ok(Some(T::dense_gram(self.array.view(), side, &by)))
    }

    fn form_scatter(&self, weights: Option<&[f64]>) -> Result<Option<Scatter<T>>> {
        if let Some(weights) = weights {
            check_dim("row weights", self.array.nrows(), weights.len())?;
            check_weights(weights)?;
        }
        let scatter = T::dense_scatter(self.array.view(), weights);
        self.check_means(&scatter.moments.mean)?;
        Ok(Some(scatter))
    }
}

impl<T: Scalar> RowOperator<T> for Dense<'_, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_rows(rows)?;
        check_dim("rows of x", self.array.ncols(), x.rows())?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("columns of z", x.cols(), z.cols())?;
        self.with_rows(rows, ws, |mat, ws| {
            T::dense_multiply(mat, T::one(), x, T::zero(), z, ws);
        });
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_rows(rows)?;
        check_dim("rows of z", rows.len(), z.rows())?;
        check_dim("rows of y", self.array.ncols(), y.rows())?;
        check_dim("columns of y", z.cols(), y.cols())?;
        self.with_rows(rows, ws, |mat, ws| {
            T::dense_multiply(mat.transpose(), alpha, z, gamma, y, ws);
        });
        Ok(())
    }

    fn row_norm_squared(&self, row: usize) -> T {
        self.array.row(row).iter().map(|&v| v * v).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        self.array[[row, col]]
    }
}
