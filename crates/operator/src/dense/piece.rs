//! [`Piece`]: some rows about their own mean.

// Inlining carries the instruction set of a kernel into what it calls: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use super::lines::Lines;
use super::square::is_small;
use crate::kernel::{Kernel, run};
use crate::{Block, Scalar};

/// The rows √wᵢ (aᵢ − m) and what their sums are, m being the mean of the rows in the precision of
/// the matrix.
///
/// Two readings of rows that stay in cache, which costs less than half of one from memory: the mean
/// is known before anything is squared, so that nothing cancels, whatever the order of the rows.
#[derive(Debug)]
pub(super) struct Piece<T> {
    /// √wᵢ (aᵢ − m), padded.
    pub rows: Block<T>,
    /// Σ w.
    pub weight: f64,
    /// Σ w a / Σ w, and Σ w (a − μ)², of each column, padded.
    pub mean: Vec<f64>,
    pub squares: Vec<f64>,
}

impl<T: Scalar> Piece<T> {
    /// For at most so many rows of so many numbers, padded to whole cache lines.
    pub fn new(rows: usize, width: usize) -> Self {
        let zeros = || vec![0.0; width];
        Self { rows: Block::zeros(rows, width), weight: 0.0, mean: zeros(), squares: zeros() }
    }

    /// Takes in `len` rows. Without any weight the piece has the weight zero, and nothing else in it
    /// is meant.
    pub fn take(&mut self, x: Lines<'_, T>, len: usize, weights: Option<&[f64]>) {
        let Some(weights) = weights else {
            self.weight = len as f64;
            return self.center(x, len, 0, |_| 1.0);
        };
        self.weight = weights[..len].iter().sum();
        // The first row that counts: near enough to the mean for the sums about it.
        if let Some(first) = weights[..len].iter().position(|&weight| weight > 0.0) {
            self.center(x, len, first, |i| weights[i]);
        }
    }

    fn center(&mut self, x: Lines<'_, T>, len: usize, first: usize, weight: impl Fn(usize) -> f64) {
        if T::LANE == 8 {
            run(Center::<T, 8, _> { x, len, first, weight, piece: self });
        } else {
            run(Center::<T, 16, _> { x, len, first, weight, piece: self });
        }
    }

    /// μ = m + Σ w (a − m) / Σ w and Σ w (a − μ)² = Σ w (a − m)² − (Σ w (a − m))² / Σ w, from m and
    /// Σ w (a − m)² in their place.
    #[inline(always)]
    fn settle(&mut self, columns: std::ops::Range<usize>, sums: &[f64]) {
        let inverse = 1.0 / self.weight;
        let moments = self.mean[columns.clone()].iter_mut().zip(&mut self.squares[columns]);
        for ((mean, square), sum) in moments.zip(sums) {
            *mean += inverse * sum;
            *square -= inverse * sum * sum;
            // Not `max`, which takes what is not a number for zero.
            *square = if *square < 0.0 { 0.0 } else { *square };
        }
    }
}

struct Center<'a, T, const W: usize, F> {
    x: Lines<'a, T>,
    len: usize,
    first: usize,
    weight: F,
    piece: &'a mut Piece<T>,
}

impl<T: Scalar, const W: usize, F: Fn(usize) -> f64> Kernel for Center<'_, T, W, F> {
    #[inline(always)]
    fn run(self) {
        let width = self.piece.rows.stride();
        if is_small(width) {
            self.by_columns(width);
        } else {
            self.by_rows(width);
        }
    }
}

impl<T: Scalar, const W: usize, F: Fn(usize) -> f64> Center<'_, T, W, F> {
    /// One line of columns after the other, its sums in registers.
    #[inline(always)]
    fn by_columns(self, width: usize) {
        let Self { x, len, first, weight, piece } = self;
        let inverse = 1.0 / piece.weight;
        for from in (0..width).step_by(W) {
            let x = x.skip(from);
            let wide = |i: usize| x.at::<W>(i).map(Scalar::as_f64);
            // m ← a₀ + Σ w (a − a₀) / Σ w, rounded: exactly a₀ for a constant column
            let (start, mut sum) = (wide(first), [0.0; W]);
            for i in 0..len {
                let (a, w) = (wide(i), weight(i));
                for l in 0..W {
                    sum[l] += w * (a[l] - start[l]);
                }
            }
            let mut m = [0.0; W];
            for l in 0..W {
                m[l] = T::of(start[l] + inverse * sum[l]).as_f64();
            }
            let (mut sum, mut square) = ([0.0; W], [0.0; W]);
            let mut rows = piece.rows.as_mut();
            for (i, to) in rows.data_mut().chunks_exact_mut(width).take(len).enumerate() {
                let row = gaps(wide(i), m, weight(i), &mut sum, &mut square);
                to[from..from + W].copy_from_slice(&row);
            }
            piece.mean[from..from + W].copy_from_slice(&m);
            piece.squares[from..from + W].copy_from_slice(&square);
            piece.settle(from..from + W, &sum);
        }
    }

    /// One row after the other, as they lie in memory: many columns.
    #[inline(always)]
    fn by_rows(self, width: usize) {
        let Self { x, len, first, weight, piece } = self;
        let inverse = 1.0 / piece.weight;
        let lines = width / W;
        let wide = |i: usize, c: usize| x.skip(c * W).at::<W>(i).map(Scalar::as_f64);
        let mut sums = vec![[0.0; W]; lines];
        for i in 0..len {
            let w = weight(i);
            for (c, sum) in sums.iter_mut().enumerate() {
                let (a, start, mut new) = (wide(i, c), wide(first, c), *sum);
                for l in 0..W {
                    new[l] += w * (a[l] - start[l]);
                }
                *sum = new;
            }
        }
        let (means, _) = piece.mean.as_chunks_mut::<W>();
        for (c, (mean, sum)) in means.iter_mut().zip(&mut sums).enumerate() {
            let start = wide(first, c);
            for l in 0..W {
                mean[l] = T::of(start[l] + inverse * sum[l]).as_f64();
            }
            *sum = [0.0; W];
        }
        let (squares, _) = piece.squares.as_chunks_mut::<W>();
        squares.fill([0.0; W]);
        let mut rows = piece.rows.as_mut();
        for (i, to) in rows.data_mut().chunks_exact_mut(width).take(len).enumerate() {
            let w = weight(i);
            let moments = means.iter().zip(&mut sums).zip(&mut *squares);
            for (c, ((mean, sum), square)) in moments.enumerate() {
                let (mut new, mut more) = (*sum, *square);
                let row = gaps(wide(i, c), *mean, w, &mut new, &mut more);
                (*sum, *square) = (new, more);
                to[c * W..][..W].copy_from_slice(&row);
            }
        }
        piece.settle(0..width, sums.as_flattened());
    }
}

/// √w (a − m), with w (a − m) and w (a − m)² added to the sums.
#[inline(always)]
fn gaps<T: Scalar, const W: usize>(
    a: [f64; W],
    m: [f64; W],
    w: f64,
    sum: &mut [f64; W],
    square: &mut [f64; W],
) -> [T; W] {
    let (root, mut row) = (w.sqrt(), [T::zero(); W]);
    for l in 0..W {
        let gap = a[l] - m[l];
        sum[l] += w * gap;
        square[l] += w * gap * gap;
        row[l] = T::of(root * gap);
    }
    row
}
