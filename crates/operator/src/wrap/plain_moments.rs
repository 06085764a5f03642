//! Moments of the columns of a sparse matrix from plain sums, where these lose no digits.

// Inlining carries the instruction set into the loop: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use std::ops::Range;

use super::moments::{Moments, by_pieces, weight_of};
use crate::hints::prefetch;
use crate::kernel::{Kernel, STREAM, run};
use crate::{Column, Csr, Scalar};

/// Entries between two requests for a later part of the matrix: a cache line of `f64`.
const STEP: usize = 8;

/// What is left of $\sum w a^2$ when $W \mu^2$ is taken off, at least: ten of the 52 bits of a sum are
/// lost then at most.
const LEFT: f64 = 1.0 / 1024.0;

/// Sums of squares below this may have lost digits to the smallest numbers there are.
const LEAST: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// The moments from $s_j = \sum_i w_i a_{ij}$ and $q_j = \sum_i w_i a_{ij}^2$, by
/// $\mu_j = s_j / W$ and $\sum_i w_i (a_{ij} - \mu_j)^2 = q_j - s_j \mu_j$; `None` when that
/// difference is too small a part of $q_j$ for some column, or $q_j$ too large or small a number.
///
/// Zeros add nothing to either sum, and few columns of sparse data are nearly constant: then this is
/// the whole work, 16 bytes a column and one addition of two numbers for an entry. Sums about a value
/// of each column take three times as long (3.0 to 4.2 ns an entry against 1.0 to 1.8, one thread,
/// best of 9, three sets of a million entries).
pub(super) fn plain_moments<T: Scalar, I: Column>(
    matrix: &Csr<'_, T, I>,
    weights: Option<&[f64]>,
) -> Option<Moments> {
    let (rows, cols) = matrix.shape();
    let weight = weight_of(weights);
    let parts = by_pieces((rows, cols), matrix.entries(), |range| {
        let mut part = Part { total: 0.0, sums: vec![[0.0; 2]; cols] };
        run(Fill { matrix, range, weight: &weight, part: &mut part });
        part
    });
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    let Part { total, sums } = parts.fold(first, Part::merge);
    let mut moments = Moments::empty(cols);
    moments.count = rows;
    let results = moments.mean.iter_mut().zip(&mut moments.squares);
    for ((mean, square), [sum, squares]) in results.zip(sums) {
        *mean = sum / total;
        *square = squares - sum * *mean;
        let holds = *square >= LEFT * squares && (LEAST..=f64::MAX).contains(&squares);
        if !holds && (sum, squares) != (0.0, 0.0) {
            return None;
        }
    }
    Some(moments)
}

/// $\sum_i w_i$ and, for each column, $s_j$ and $q_j$ of some rows.
struct Part {
    total: f64,
    sums: Vec<[f64; 2]>,
}

impl Part {
    fn merge(mut self, other: Self) -> Self {
        self.total += other.total;
        for (own, new) in self.sums.iter_mut().zip(other.sums) {
            own.iter_mut().zip(new).for_each(|(own, new)| *own += new);
        }
        self
    }
}

struct Fill<'a, 'm, T: Scalar, I: Column, W> {
    matrix: &'a Csr<'m, T, I>,
    range: Range<usize>,
    weight: &'a W,
    part: &'a mut Part,
}

impl<T: Scalar, I: Column, W: Fn(usize) -> f64> Kernel for Fill<'_, '_, T, I, W> {
    #[inline(always)]
    fn run(self) {
        let Self { matrix, range, weight, part } = self;
        for i in range {
            let weight = weight(i);
            if weight > 0.0 {
                part.total += weight;
                let (columns, values) = matrix.row(i);
                for (columns, values) in columns.chunks(STEP).zip(values.chunks(STEP)) {
                    prefetch(columns, STREAM);
                    prefetch(values, STREAM);
                    for (&column, value) in columns.iter().zip(values) {
                        // (s_j, q_j) ← (s_j, q_j) + (w a, w a²)
                        let value = value.as_f64();
                        let share = weight * value;
                        let sums = &mut part.sums[column.at()];
                        *sums = [sums[0] + share, sums[1] + share * value];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(values: &[f64]) -> Csr<'static, f64> {
        let stored: Vec<(usize, f64)> =
            values.iter().copied().enumerate().filter(|entry| entry.1 != 0.0).collect();
        let starts: Vec<usize> =
            (0..=values.len()).map(|i| stored.iter().filter(|e| e.0 < i).count()).collect();
        let entries: Vec<f64> = stored.iter().map(|entry| entry.1).collect();
        Csr::new((values.len(), 1), starts, vec![0; stored.len()], entries).unwrap()
    }

    /// Columns whose plain sums would lose digits, overflow or underflow are left to others.
    #[test]
    fn gives_up_where_digits_are_lost() {
        let refused = [
            vec![1e6, 1e6 + 1.0, 1e6 - 1.0],   // hardly varies
            vec![3.0, 3.0, 3.0],               // constant
            vec![1e200, 0.0, -1e200],          // squares overflow
            vec![1e-200, 0.0, 3e-200],         // squares underflow
            vec![f64::MIN_POSITIVE, 0.0, 0.0], // squares are zero
        ];
        for values in refused {
            assert_eq!(plain_moments(&single(&values), None), None, "{values:?}");
        }
    }

    /// Whole numbers are added up exactly: mean and squares of 0, 1, 0, 5, 0, 0 and, with the weight
    /// of the row of 5 three times and that of the last row none, of 0, 1, 0, 5, 5, 5, 0.
    #[test]
    fn agrees_with_the_definition() {
        let matrix = single(&[0.0, 1.0, 0.0, 5.0, 0.0, 0.0]);
        let plain = plain_moments(&matrix, None).unwrap();
        assert_eq!((plain.count, plain.mean[0], plain.squares[0]), (6, 1.0, 20.0));
        let weights = [1.0, 1.0, 1.0, 3.0, 1.0, 0.0];
        let weighted = plain_moments(&matrix, Some(&weights)).unwrap();
        let (mean, squares) = (16.0 / 7.0, 76.0 - 16.0 * (16.0 / 7.0));
        assert_eq!((weighted.count, weighted.mean[0], weighted.squares[0]), (6, mean, squares));
    }

    /// A column of zeros has no moments to speak of, and is no reason to give up.
    #[test]
    fn zeros_are_zeros() {
        let moments = plain_moments(&single(&[0.0; 4]), None).unwrap();
        assert_eq!((moments.mean[0], moments.squares[0]), (0.0, 0.0));
    }
}
