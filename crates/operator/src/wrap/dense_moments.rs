//! [`ColumnMoments`] of dense matrices.

use ndarray::ArrayView1;

use super::moments::{Group, SHORT, Sums, by_pieces, check, merge_all, weight_of};
use crate::{ColumnMoments, Dense, LinearOperator, Moments, Result, Scalar, WeightedMoments};

/// The columns of some rows of a dense matrix: as [`Sums`], one list for each of its numbers, so that
/// the columns are worked on side by side.
struct Columns {
    total: f64,
    first: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Columns {
    fn new(cols: usize) -> Self {
        let zeros = || vec![0.0; cols];
        Self { total: 0.0, first: zeros(), sum: zeros(), squares: zeros() }
    }

    fn clear(&mut self) {
        self.total = 0.0;
        self.sum.fill(0.0);
        self.squares.fill(0.0);
    }

    fn add<T: Scalar>(&mut self, row: ArrayView1<'_, T>, weight: f64) {
        if self.total == 0.0 {
            self.first.iter_mut().zip(row).for_each(|(first, value)| *first = value.as_f64());
        }
        self.total += weight;
        match row.to_slice() {
            Some(row) => self.add_entries(row.iter(), weight),
            None => self.add_entries(row.iter(), weight),
        }
    }

    #[inline]
    fn add_entries<'a, T: Scalar>(&mut self, row: impl Iterator<Item = &'a T>, weight: f64) {
        let lists = self.first.iter().zip(&mut self.sum).zip(&mut self.squares);
        for (((first, sum), squares), value) in lists.zip(row) {
            let gap = value.as_f64() - first;
            *sum += weight * gap;
            *squares += weight * gap * gap;
        }
    }

    fn write(&self, group: &mut Group) {
        group.total = self.total;
        for j in 0..self.sum.len() {
            let sums = Sums([self.first[j], self.total, self.sum[j], self.squares[j]]);
            (_, group.mean[j], group.squares[j]) = sums.moments();
        }
    }
}

pub(crate) fn dense_moments<T: Scalar>(matrix: &Dense<'_, T>, weights: Option<&[f64]>) -> Moments {
    let ((rows, cols), array) = (matrix.shape(), matrix.view());
    let weight = weight_of(weights);
    let parts = by_pieces((rows, cols), rows * cols, |range| {
        let (mut group, mut part) = (Group::empty(cols), Group::empty(cols));
        let mut columns = Columns::new(cols);
        for from in range.clone().step_by(SHORT) {
            columns.clear();
            for i in (from..range.end.min(from + SHORT)).filter(|&i| weight(i) > 0.0) {
                columns.add(array.row(i), weight(i));
            }
            columns.write(&mut part);
            group = group.merge(&part);
        }
        group
    });
    merge_all((rows, cols), &parts)
}

impl<T: Scalar> ColumnMoments<T> for Dense<'_, T> {
    /// Short pieces of rows, each about its first row, merged.
    fn column_moments(&self) -> Result<Moments> {
        let moments = T::dense_moments(self, None);
        self.check_means(&moments.mean)?;
        Ok(moments)
    }
}

impl<T: Scalar> WeightedMoments<T> for Dense<'_, T> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        check(weights, self.shape().0)?;
        Ok(T::dense_moments(self, Some(weights)))
    }
}
