//! [`ColumnMoments`]: means and deviations of columns.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plain_moments::plain_moments;
use super::weighted::check_weights;
use crate::error::check_dim;
use crate::kernel::{Stored, groups};
use crate::sparse::turned::turned_bytes;
use crate::{Centered, Column, Csr, LinearOperator, Result, Scalar, Scaled, Sparse};

/// The mean of each column, and the sum of the squared differences from it.
///
/// In `f64` whatever the matrix holds: they are sums over all its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// How many rows there are.
    pub count: usize,
    /// $\mu_j = \frac1m \sum_i a_{ij}$.
    pub mean: Vec<f64>,
    /// $\sum_i (a_{ij} - \mu_j)^2$.
    pub squares: Vec<f64>,
}

impl Moments {
    /// The moments of no rows.
    #[must_use]
    pub fn empty(cols: usize) -> Self {
        Self { count: 0, mean: vec![0.0; cols], squares: vec![0.0; cols] }
    }

    /// The moments of the rows of both.
    ///
    /// # Reference
    /// Chan, Golub, `LeVeque` 1983, eq. 2.1: no cancellation, whatever the mean.
    #[must_use]
    pub fn merge(self, other: &Self) -> Self {
        let (n, m) = (self.count as f64, other.count as f64);
        self.merge_weighted(n, other, m)
    }

    /// The moments of the rows of both, whose weights sum up to n and m.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{Dense, Moments, WeightedMoments};
    /// use ndarray::array;
    /// let part = |rows, weights: &[f64]| Dense::new(rows)?.weighted_moments(weights);
    /// let (a, b) = (part(array![[1.0], [3.0]], &[1.0, 1.0])?, part(array![[8.0]], &[2.0])?);
    /// let both = part(array![[1.0], [3.0], [8.0]], &[1.0, 1.0, 2.0])?;
    /// assert_eq!(a.merge_weighted(2.0, &b, 2.0), both);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    #[must_use]
    pub fn merge_weighted(mut self, n: f64, other: &Self, m: f64) -> Self {
        merge_columns((n, &mut self.mean, &mut self.squares), (m, &other.mean, &other.squares));
        self.count += other.count;
        self
    }
}

/// (weight, means, squares) of two groups together, in place of the first.
fn merge_columns(own: (f64, &mut [f64], &mut [f64]), new: (f64, &[f64], &[f64])) {
    if new.0 > 0.0 {
        for j in 0..own.1.len() {
            let groups = ((own.0, own.1[j], own.2[j]), (new.0, new.1[j], new.2[j]));
            (own.1[j], own.2[j]) = merge(groups.0, groups.1, own.0 + new.0);
        }
    }
}

/// (count, mean, squares) of two groups together.
fn merge(a: (f64, f64, f64), b: (f64, f64, f64), total: f64) -> (f64, f64) {
    let gap = b.1 - a.1;
    // μ = μₐ + δ m/(n+m);  S = Sₐ + S_b + δ² n m/(n+m)
    (a.1 + gap * (b.0 / total), a.2 + b.2 + gap * gap * (a.0 * b.0 / total))
}

/// A matrix that can compute the moments of its columns in one pass.
///
/// # Example
/// ```
/// use favard_operator::{ColumnMoments, Dense};
/// use ndarray::array;
/// let moments = Dense::new(array![[1.0, 5.0], [3.0, 5.0]])?.column_moments()?;
/// assert_eq!(moments.mean, [2.0, 5.0]);
/// assert_eq!(moments.squares, [2.0, 0.0]);
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub trait ColumnMoments<T: Scalar> {
    /// Mean and squared differences of each column.
    ///
    /// # Errors
    /// When the matrix cannot be read.
    fn column_moments(&self) -> Result<Moments>;

    /// $\lVert a_j \rVert^2 = \sum_i a_{ij}^2$ of each column, for those who need no mean: on sparse
    /// data one number a column is added up instead of four.
    ///
    /// # Errors
    /// When the matrix cannot be read.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{ColumnMoments, Csr};
    /// // [3 0; 4 2]
    /// let a = Csr::new((2, 2), vec![0, 1, 3], vec![0, 0, 1], vec![3.0, 4.0, 2.0])?;
    /// assert_eq!(a.column_squares()?, [25.0, 4.0]);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    fn column_squares(&self) -> Result<Vec<f64>> {
        let Moments { count, mean, squares } = self.column_moments()?;
        // Σ a² = Σ (a − μ)² + m μ²
        let square = |(s, m): (&f64, &f64)| s + count as f64 * m * m;
        Ok(squares.iter().zip(&mean).map(square).collect())
    }

    /// Bytes of a copy of the matrix that is stored by its longer side, for a sparse matrix in memory that is
    /// stored by the shorter one: few long rows, or few long columns. `None` for all others.
    ///
    /// With few long rows, an entry names a row of a block as long as the other side; stored the other way,
    /// one of a block that stays in cache. The copy costs about as much as two products.
    fn turned_bytes(&self) -> Option<usize> {
        None
    }

    /// That copy.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{ColumnMoments, Csr, LinearOperator, RowOperator};
    /// let a = Csr::new((1, 3), vec![0, 2], vec![0, 2], vec![5.0, 7.0])?;
    /// let turned = a.turned().unwrap();
    /// assert!(turned.is_by_columns() && turned.shape() == (1, 3) && turned.entry(0, 2) == 7.0);
    /// assert!(turned.turned().is_none());
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    fn turned(&self) -> Option<Sparse<'static, T>> {
        None
    }
}

impl<T: Scalar, A: ColumnMoments<T> + ?Sized> ColumnMoments<T> for &A {
    fn turned_bytes(&self) -> Option<usize> {
        (**self).turned_bytes()
    }

    fn turned(&self) -> Option<Sparse<'static, T>> {
        (**self).turned()
    }

    fn column_moments(&self) -> Result<Moments> {
        (**self).column_moments()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        (**self).column_squares()
    }
}

/// Moments under row weights: each row counts $w_i$ times.
///
/// # Example
/// ```
/// use favard_operator::{ColumnMoments, Dense, WeightedMoments};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0], [4.0], [9.0]])?;
/// let moments = a.weighted_moments(&[2.0, 1.0, 0.0])?; // of the rows 1, 1, 4
/// assert_eq!((moments.mean[0], moments.squares[0]), (2.0, 6.0));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub trait WeightedMoments<T: Scalar>: ColumnMoments<T> {
    /// $\mu_j = \sum_i w_i a_{ij} / \sum_i w_i$ and $\sum_i w_i (a_{ij} - \mu_j)^2$; `count` is
    /// the number of rows, whatever their weights.
    ///
    /// # Errors
    /// A [`Shape`](crate::ErrorKind::Shape) error unless there is a weight for each row, a
    /// [`Weight`](crate::ErrorKind::Weight) error when one is negative or not finite or all are
    /// zero; when the matrix cannot be read.
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments>;
}

impl<T: Scalar, A: WeightedMoments<T> + ?Sized> WeightedMoments<T> for &A {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        (**self).weighted_moments(weights)
    }
}

/// Moments of a group of rows of a total weight, which need not be a whole number.
#[derive(Debug)]
pub(crate) struct Group {
    pub total: f64,
    pub mean: Vec<f64>,
    pub(super) squares: Vec<f64>,
}

impl Group {
    pub fn empty(cols: usize) -> Self {
        Self { total: 0.0, mean: vec![0.0; cols], squares: vec![0.0; cols] }
    }

    /// The moments of the rows of both.
    pub fn merge(mut self, other: &Self) -> Self {
        self.add(other.total, &other.mean, &other.squares);
        self
    }

    /// Takes in rows of these moments.
    pub fn add(&mut self, total: f64, mean: &[f64], squares: &[f64]) {
        let own = (self.total, &mut self.mean[..], &mut self.squares[..]);
        merge_columns(own, (total, mean, squares));
        self.total += total;
    }

    pub fn into_moments(self, count: usize) -> Moments {
        Moments { count, mean: self.mean, squares: self.squares }
    }
}

/// Rows of a dense matrix whose differences to the first of them are added up together.
pub(crate) const SHORT: usize = 256;

/// Pieces of the rows at most.
const PIECES: usize = 16;

/// The rows of each piece. A piece costs a few numbers a column to set up and to merge, as a group of rows of a
/// product does.
fn cut((rows, cols): (usize, usize), entries: usize) -> Vec<Range<usize>> {
    let pieces = groups(entries, cols).min(PIECES);
    let step = rows.div_ceil(pieces).max(256);
    (0..rows).step_by(step).map(|from| from..rows.min(from + step)).collect()
}

/// The rows of each piece of a dense matrix, in which every [`SHORT`] rows are added up together.
pub(crate) fn cut_dense((rows, cols): (usize, usize)) -> Vec<Range<usize>> {
    cut((rows, cols), rows * cols)
}

/// Bytes that the moments of a matrix in memory with so many entries take while they are added up, at most: two
/// numbers a column, and for each piece of the rows two more with four sums.
///
/// # Example
/// ```
/// // One piece: 64 bytes a column.
/// assert_eq!(favard_operator::moments_memory((1000, 1000), 5000), 64_000);
/// ```
#[must_use]
pub fn moments_memory(shape: (usize, usize), entries: usize) -> usize {
    (6 * cut(shape, entries).len() + 2) * shape.1 * size_of::<f64>()
}

/// What `piece` computes of ranges of rows, in their order.
pub(super) fn by_pieces<R: Send>(
    shape: (usize, usize),
    entries: usize,
    piece: impl Fn(Range<usize>) -> R + Sync + Send,
) -> Vec<R> {
    cut(shape, entries).into_par_iter().map(piece).collect()
}

/// The moments of all pieces.
pub(super) fn merge_all((rows, cols): (usize, usize), parts: &[Group]) -> Moments {
    parts.iter().fold(Group::empty(cols), Group::merge).into_moments(rows)
}

/// x₀, Σ w, Σ w (x − x₀) and Σ w (x − x₀)² of values x with weights w, x₀ the first of them: no
/// division a value, exact zeros for a constant column, and nothing is lost to a large mean.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums(pub [f64; 4]);

impl Sums {
    fn add(&mut self, value: f64, weight: f64) {
        let [first, total, sum, squares] = &mut self.0;
        *first = if *total == 0.0 { value } else { *first };
        *total += weight;
        let gap = value - *first;
        *sum += weight * gap;
        *squares += weight * gap * gap;
    }

    /// (w, μ, S) with S = Σ w (x − x₀)² − (Σ w (x − x₀))²/w.
    pub fn moments(self) -> (f64, f64, f64) {
        let [first, total, sum, squares] = self.0;
        if total == 0.0 {
            return (0.0, 0.0, 0.0);
        }
        let left = squares - sum * sum / total;
        // Not `max`, which takes what is not a number for zero.
        (total, first + sum / total, if left < 0.0 { 0.0 } else { left })
    }
}

/// The weights of rows for the sums below: all ones, or given.
pub(super) fn weight_of(weights: Option<&[f64]>) -> impl Fn(usize) -> f64 + Sync + '_ {
    move |row| weights.map_or(1.0, |weights| weights[row])
}

pub(super) fn check(weights: &[f64], rows: usize) -> Result<()> {
    check_dim("row weights", rows, weights.len())?;
    check_weights(weights)
}

pub(crate) fn csr_moments<T: Scalar, I: Column>(
    matrix: &Csr<'_, T, I>,
    weights: Option<&[f64]>,
) -> Moments {
    if let Some(moments) = plain_moments(matrix, weights) {
        return moments;
    }
    let (rows, cols) = matrix.shape();
    let weight = weight_of(weights);
    let parts = by_pieces((rows, cols), matrix.entries(), |range| {
        let mut group = Group::empty(cols);
        let mut sums = vec![Sums::default(); cols];
        for i in range.filter(|&i| weight(i) > 0.0) {
            let weight = weight(i);
            group.total += weight;
            let (columns, values) = matrix.row(i);
            for (&col, value) in columns.iter().zip(values) {
                sums[col.at()].add(value.as_f64(), weight);
            }
        }
        for (j, sums) in sums.iter().enumerate() {
            (group.mean[j], group.squares[j]) = with_zeros(sums.moments(), group.total);
        }
        group
    });
    merge_all((rows, cols), &parts)
}

/// Σ a² of each column of a matrix stored by rows.
pub(crate) fn csr_squares<T: Scalar, I: Column>(matrix: &Csr<'_, T, I>) -> Vec<f64> {
    let shape = matrix.shape();
    let Stored { pointers, columns, values, .. } = matrix.as_stored();
    let parts = by_pieces(shape, matrix.entries(), |range| {
        let entries = pointers[range.start]..pointers[range.end];
        let columns = &columns[entries.clone()];
        let mut sums = vec![0.0; shape.1];
        if let Some(values) = values {
            for (col, value) in columns.iter().zip(&values[entries]) {
                sums[col.at()] += value.as_f64() * value.as_f64();
            }
        } else {
            columns.iter().for_each(|col| sums[col.at()] += 1.0);
        }
        sums
    });
    let mut total = vec![0.0; shape.1];
    for part in &parts {
        total.iter_mut().zip(part).for_each(|(total, sum)| *total += sum);
    }
    total
}

/// Σ a² of each row of a matrix.
fn row_squares<T: Scalar, I: Column>(matrix: &Csr<'_, T, I>) -> Vec<f64> {
    let row = |i: usize| matrix.row(i).1.iter().map(|v| v.as_f64() * v.as_f64()).sum();
    (0..matrix.shape().0).into_par_iter().with_min_len(64).map(row).collect()
}

/// The stored entries of a column and its zeros, which join as one group.
fn with_zeros(stored: (f64, f64, f64), total: f64) -> (f64, f64) {
    let zeros = ((total - stored.0).max(0.0), 0.0, 0.0);
    if total > 0.0 { merge(stored, zeros, total) } else { (0.0, 0.0) }
}

/// Each column on its own: those of a matrix stored by columns are the rows of its transpose.
pub(crate) fn columns_moments<T: Scalar, I: Column>(
    transpose: &Csr<'_, T, I>,
    weights: Option<&[f64]>,
) -> Moments {
    let (cols, rows) = transpose.shape();
    let weight = weight_of(weights);
    let total: f64 = (0..rows).map(&weight).sum();
    let column = |j: usize| {
        let (entries, values) = transpose.row(j);
        let mut sums = Sums::default();
        for (&i, value) in entries.iter().zip(values) {
            let weight = weight(i.at());
            if weight > 0.0 {
                sums.add(value.as_f64(), weight);
            }
        }
        with_zeros(sums.moments(), total)
    };
    let (mean, squares) = (0..cols).into_par_iter().with_min_len(64).map(column).unzip();
    Moments { count: rows, mean, squares }
}

impl<T: Scalar, I: Column> ColumnMoments<T> for Csr<'_, T, I> {
    /// From plain sums and sums of squares. Where these would cancel, because a column hardly differs
    /// from its mean, the stored entries about the first of them, in a second pass; the zeros of a
    /// column join as one group.
    fn column_moments(&self) -> Result<Moments> {
        Ok((T::kernels::<I>().moments)(self, None))
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        Ok((T::kernels::<I>().squares)(self))
    }

    fn turned_bytes(&self) -> Option<usize> {
        self.has_long_rows().then(|| turned_bytes(self))
    }

    fn turned(&self) -> Option<Sparse<'static, T>> {
        self.has_long_rows().then(|| Sparse::from_columns((T::kernels::<I>().turned)(self)))
    }
}

impl<T: Scalar, I: Column> WeightedMoments<T> for Csr<'_, T, I> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        check(weights, self.shape().0)?;
        Ok((T::kernels::<I>().moments)(self, Some(weights)))
    }
}

impl<T: Scalar, I: Column> ColumnMoments<T> for Sparse<'_, T, I> {
    fn column_moments(&self) -> Result<Moments> {
        Ok(match self.parts() {
            (stored, false) => (T::kernels::<I>().moments)(stored, None),
            (transpose, true) => (T::kernels::<I>().columns_moments)(transpose, None),
        })
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        Ok(match self.parts() {
            (stored, false) => (T::kernels::<I>().squares)(stored),
            (transpose, true) => row_squares(transpose),
        })
    }

    fn turned_bytes(&self) -> Option<usize> {
        let (stored, _) = self.parts();
        stored.has_long_rows().then(|| turned_bytes(stored))
    }

    fn turned(&self) -> Option<Sparse<'static, T>> {
        let (stored, is_by_columns) = self.parts();
        stored.has_long_rows().then(|| {
            let turned = (T::kernels::<I>().turned)(stored);
            if is_by_columns { turned.into() } else { Sparse::from_columns(turned) }
        })
    }
}

impl<T: Scalar, I: Column> WeightedMoments<T> for Sparse<'_, T, I> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        check(weights, self.shape().0)?;
        Ok(match self.parts() {
            (stored, false) => (T::kernels::<I>().moments)(stored, Some(weights)),
            (transpose, true) => (T::kernels::<I>().columns_moments)(transpose, Some(weights)),
        })
    }
}

/// The moments of $A - \mathbf{1}\mu^T$ from those of $A$.
fn shift<T: Scalar>(mut moments: Moments, by: &[T]) -> Moments {
    moments.mean.iter_mut().zip(by).for_each(|(mean, shift)| *mean -= shift.as_f64());
    moments
}

/// The moments of $A D^{-1}$ from those of $A$.
fn divide<T: Scalar>(mut moments: Moments, by: &[T]) -> Moments {
    for (j, scale) in by.iter().enumerate() {
        moments.mean[j] /= scale.as_f64();
        moments.squares[j] /= scale.as_f64() * scale.as_f64();
    }
    moments
}

impl<T: Scalar, A: LinearOperator<T> + ColumnMoments<T>> ColumnMoments<T> for Centered<A, T> {
    fn column_moments(&self) -> Result<Moments> {
        Ok(shift(self.inner().column_moments()?, self.mean()))
    }
}

impl<T: Scalar, A: LinearOperator<T> + WeightedMoments<T>> WeightedMoments<T> for Centered<A, T> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        Ok(shift(self.inner().weighted_moments(weights)?, self.mean()))
    }
}

impl<T: Scalar, A: LinearOperator<T> + ColumnMoments<T>> ColumnMoments<T> for Scaled<A, T> {
    fn column_moments(&self) -> Result<Moments> {
        Ok(divide(self.inner().column_moments()?, self.scale()))
    }
}

impl<T: Scalar, A: LinearOperator<T> + WeightedMoments<T>> WeightedMoments<T> for Scaled<A, T> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        Ok(divide(self.inner().weighted_moments(weights)?, self.scale()))
    }
}
