//! [`Piece`]: some rows about their own mean.

// Inlining carries the instruction set of a kernel into what it calls: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use super::lines::Lines;
use super::square::is_small;
use crate::kernel::{Kernel, run};
use crate::wrap::Sums;
use crate::{Block, Scalar};

/// The rows √wᵢ (aᵢ − m) and the moments of their columns, m being the mean in the precision of the
/// matrix.
///
/// Two readings of rows that stay in cache, which costs less than half of one from memory: the mean
/// is known before anything is squared, so that nothing cancels, whatever the order of the rows. The
/// moments have the bits of [`ColumnMoments`](crate::ColumnMoments), which adds up in the same order.
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

    /// Mean and squares of W columns from their sums about a row, and the mean as it is subtracted:
    /// exactly that row's value for a constant column.
    #[inline(always)]
    fn settle<const W: usize>(&mut self, from: usize, start: [f64; W], sums: &Pair<W>) -> [f64; W] {
        let mut subtracted = [0.0; W];
        for l in 0..W {
            let sums = Sums([start[l], self.weight, sums.0[l], sums.1[l]]);
            let (_, mean, squares) = sums.moments();
            (self.mean[from + l], self.squares[from + l]) = (mean, squares);
            subtracted[l] = T::of(mean).as_f64();
        }
        subtracted
    }
}

/// Σ w (a − a₀) and Σ w (a − a₀)² of W columns.
#[derive(Debug, Clone, Copy)]
struct Pair<const W: usize>([f64; W], [f64; W]);

impl<const W: usize> Pair<W> {
    const ZERO: Self = Self([0.0; W], [0.0; W]);

    #[inline(always)]
    fn add(mut self, a: [f64; W], start: [f64; W], w: f64) -> Self {
        for l in 0..W {
            let gap = a[l] - start[l];
            self.0[l] += w * gap;
            self.1[l] += w * gap * gap;
        }
        self
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
        for from in (0..width).step_by(W) {
            let x = x.skip(from);
            let wide = |i: usize| x.at::<W>(i).map(Scalar::as_f64);
            let (start, mut sums) = (wide(first), Pair::ZERO);
            for i in 0..len {
                sums = sums.add(wide(i), start, weight(i));
            }
            let m = piece.settle(from, start, &sums);
            let mut rows = piece.rows.as_mut();
            for (i, to) in rows.data_mut().chunks_exact_mut(width).take(len).enumerate() {
                to[from..from + W].copy_from_slice(&standardize::<T, W>(wide(i), m, weight(i)));
            }
        }
    }

    /// One row after the other, as they lie in memory: many columns.
    #[inline(always)]
    fn by_rows(self, width: usize) {
        let Self { x, len, first, weight, piece } = self;
        let wide = |i: usize, c: usize| x.skip(c * W).at::<W>(i).map(Scalar::as_f64);
        let mut sums = vec![Pair::ZERO; width / W];
        for i in 0..len {
            let w = weight(i);
            for (c, sums) in sums.iter_mut().enumerate() {
                *sums = sums.add(wide(i, c), wide(first, c), w);
            }
        }
        let settle = |(c, sums): (usize, &Pair<W>)| piece.settle(c * W, wide(first, c), sums);
        let means: Vec<[f64; W]> = sums.iter().enumerate().map(settle).collect();
        let mut rows = piece.rows.as_mut();
        for (i, to) in rows.data_mut().chunks_exact_mut(width).take(len).enumerate() {
            let (w, (lines, _)) = (weight(i), to.as_chunks_mut::<W>());
            for (c, (to, &m)) in lines.iter_mut().zip(&means).enumerate() {
                *to = standardize(wide(i, c), m, w);
            }
        }
    }
}

/// √w (a − m).
#[inline(always)]
fn standardize<T: Scalar, const W: usize>(a: [f64; W], m: [f64; W], w: f64) -> [T; W] {
    let (root, mut row) = (w.sqrt(), [T::zero(); W]);
    for l in 0..W {
        row[l] = T::of(root * (a[l] - m[l]));
    }
    row
}
