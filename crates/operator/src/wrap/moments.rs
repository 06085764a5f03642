//! [`ColumnMoments`]: means and deviations of columns.

use rayon::prelude::*;

use crate::{Centered, Csr, Dense, LinearOperator, Result, Scalar, Scaled};

/// The mean of each column, and the sum of the squared differences from it.
///
/// In `f64` whatever the matrix holds: they are sums over all its rows.
#[derive(Debug, Clone, PartialEq)]
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
    pub fn merge(mut self, other: &Self) -> Self {
        let (n, m) = (self.count as f64, other.count as f64);
        let total = (n + m).max(1.0);
        let columns = self.mean.iter_mut().zip(&mut self.squares);
        for ((mean, squares), (&other_mean, &other_squares)) in
            columns.zip(other.mean.iter().zip(&other.squares))
        {
            let (left, right) = merge((n, *mean, *squares), (m, other_mean, other_squares), total);
            (*mean, *squares) = (left, right);
        }
        self.count += other.count;
        self
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
}

impl<T: Scalar, A: ColumnMoments<T> + ?Sized> ColumnMoments<T> for &A {
    fn column_moments(&self) -> Result<Moments> {
        (**self).column_moments()
    }
}

/// Rows of a dense matrix whose differences to the first of them are added up together.
const SHORT: usize = 256;

/// Pieces of the rows at most.
const PIECES: usize = 16;

/// Merges the moments of pieces of rows; `piece` computes those of a range. A piece costs a few
/// numbers a column to set up and to merge: there is one for every eight entries a column.
pub(crate) fn by_pieces(
    rows: usize,
    cols: usize,
    entries: usize,
    piece: impl Fn(std::ops::Range<usize>) -> Moments + Sync,
) -> Moments {
    let pieces = (entries / (8 * cols).max(1)).clamp(1, PIECES);
    let step = rows.div_ceil(pieces).max(256);
    let pieces = rows.div_ceil(step);
    let range = |index: usize| index * step..rows.min((index + 1) * step);
    let parts: Vec<_> = (0..pieces).into_par_iter().map(|index| piece(range(index))).collect();
    parts.iter().fold(Moments::empty(cols), Moments::merge)
}

impl<T: Scalar> ColumnMoments<T> for Dense<'_, T> {
    /// Sums of the differences to the first row of a piece, and of their squares, over short pieces
    /// that are then merged: exact zeros for constant columns, and nothing is lost to a large mean.
    fn column_moments(&self) -> Result<Moments> {
        let (rows, cols) = self.shape();
        let array = self.view();
        Ok(by_pieces(rows, cols, rows * cols, |range| {
            let mut moments = Moments::empty(cols);
            let mut first = vec![0.0; cols];
            for from in range.clone().step_by(SHORT) {
                let to = range.end.min(from + SHORT);
                first.iter_mut().zip(array.row(from)).for_each(|(x, v)| *x = v.as_f64());
                // Σ (x − x₀) and Σ (x − x₀)²
                let mut part = Moments::empty(cols);
                for i in from..to {
                    let columns = part.mean.iter_mut().zip(&mut part.squares).zip(&first);
                    for (((sum, squares), first), value) in columns.zip(array.row(i)) {
                        let gap = value.as_f64() - first;
                        *sum += gap;
                        *squares += gap * gap;
                    }
                }
                part.count = to - from;
                let count = part.count as f64;
                let columns = part.mean.iter_mut().zip(&mut part.squares).zip(&first);
                for ((mean, squares), first) in columns {
                    // Σ (x − x̄)² = Σ (x − x₀)² − (Σ (x − x₀))²/n
                    *squares = (*squares - *mean * *mean / count).max(0.0);
                    *mean = first + *mean / count;
                }
                moments = moments.merge(&part);
            }
            moments
        }))
    }
}

impl<T: Scalar> ColumnMoments<T> for Csr<'_, T> {
    /// Sums over the stored entries of the differences to the first of them, and of their squares;
    /// the zeros of a column join as one group. All four numbers of a column lie in one cache line.
    fn column_moments(&self) -> Result<Moments> {
        let (rows, cols) = self.shape();
        Ok(by_pieces(rows, cols, self.entries(), |range| {
            let mut moments = Moments { count: range.len(), ..Moments::empty(cols) };
            // x₀, n, Σ (x − x₀), Σ (x − x₀)²
            let mut sums = vec![[0.0; 4]; cols];
            for i in range {
                let (columns, values) = self.row(i);
                for (&col, value) in columns.iter().zip(values) {
                    let [first, count, sum, squares] = &mut sums[col as usize];
                    let value = value.as_f64();
                    *first = if *count == 0.0 { value } else { *first };
                    *count += 1.0;
                    let gap = value - *first;
                    *sum += gap;
                    *squares += gap * gap;
                }
            }
            let total = moments.count as f64;
            let columns = moments.mean.iter_mut().zip(&mut moments.squares);
            for ((mean, squares), [first, count, sum, sum_of_squares]) in columns.zip(sums) {
                let share = count.max(1.0);
                let stored =
                    (count, first + sum / share, (sum_of_squares - sum * sum / share).max(0.0));
                (*mean, *squares) = merge(stored, (total - count, 0.0, 0.0), total);
            }
            moments
        }))
    }
}

impl<T: Scalar, A: LinearOperator<T> + ColumnMoments<T>> ColumnMoments<T> for Centered<A, T> {
    fn column_moments(&self) -> Result<Moments> {
        let mut moments = self.inner().column_moments()?;
        moments.mean.iter_mut().zip(self.mean()).for_each(|(mean, shift)| *mean -= shift.as_f64());
        Ok(moments)
    }
}

impl<T: Scalar, A: LinearOperator<T> + ColumnMoments<T>> ColumnMoments<T> for Scaled<A, T> {
    fn column_moments(&self) -> Result<Moments> {
        let mut moments = self.inner().column_moments()?;
        for (j, scale) in self.scale().iter().enumerate() {
            moments.mean[j] /= scale.as_f64();
            moments.squares[j] /= scale.as_f64() * scale.as_f64();
        }
        Ok(moments)
    }
}
