//! [`Terms`]: what makes the lines of B from those of A.

use num_traits::Float;

use super::cut::Cut;
use super::sum::Sum;
use crate::adjoint::{Side, Standardized};
use crate::dense::square::mirror;
use crate::{Block, Column, Csr, Scalar};

/// Line ℓ of B is $c_\ell - t_\ell p$ with $c_{\ell o} = L_\ell a_{\ell o} O_o$.
pub(super) struct Terms<'a, T> {
    side: Side,
    by: Standardized<'a, T>,
    /// O; ones when it is empty.
    scale: Vec<T>,
    /// p; nothing is subtracted when it is empty.
    shared: Vec<T>,
    /// The numbers that every line gets, stored or not, less t p: ascending.
    filled: Vec<usize>,
}

impl<'a, T: Scalar> Terms<'a, T> {
    pub fn new<I: Column>(
        a: &Csr<'_, T, I>,
        cut: &Cut<'_>,
        side: Side,
        by: &Standardized<'a, T>,
    ) -> Self {
        let scale: Vec<T> = match side {
            Side::Columns => by.factor.map_or_else(Vec::new, <[T]>::to_vec),
            Side::Rows => {
                by.weights.map_or_else(Vec::new, |w| w.iter().map(|&w| Float::sqrt(w)).collect())
            }
        };
        let scaled = |o: usize| scale.get(o).copied().unwrap_or_else(T::one);
        let shared: Vec<T> = match (by.shift, side) {
            (None, _) => Vec::new(),
            (Some(m), Side::Columns) => m.iter().enumerate().map(|(o, &m)| m * scaled(o)).collect(),
            (Some(_), Side::Rows) => (0..cut.dim).map(scaled).collect(),
        };
        let filled = if shared.is_empty() { Vec::new() } else { cut.common(a) };
        Self { side, by: *by, scale, shared, filled }
    }

    /// L and t.
    pub fn of_line(&self, line: usize) -> (T, T) {
        match self.side {
            Side::Columns => {
                let root = self.by.weights.map_or_else(T::one, |w| Float::sqrt(w[line]));
                (root, root)
            }
            Side::Rows => {
                let factor = self.by.factor.map_or_else(T::one, |f| f[line]);
                (factor, self.by.shift.map_or_else(T::zero, |m| factor * m[line]))
            }
        }
    }

    pub fn scale(&self, o: usize) -> T {
        self.scale.get(o).copied().unwrap_or_else(T::one)
    }

    pub fn shared(&self) -> &[T] {
        &self.shared
    }

    pub fn filled(&self) -> &[usize] {
        &self.filled
    }

    /// $\sum c c^T - p q^T - q p^T + r\, p p^T$, with zeros for p where the lines are filled.
    pub fn collect(&self, sums: &[Sum<T>]) -> Block<T> {
        let dim = sums.first().map_or(0, |sum| sum.square().rows());
        let mut p: Vec<f64> = self.shared.iter().map(|p| p.as_f64()).collect();
        self.filled.iter().for_each(|&o| p[o] = 0.0);
        let r: f64 = sums.iter().map(Sum::r).sum();
        let q: Vec<f64> = (0..p.len()).map(|o| sums.iter().map(|sum| sum.q()[o]).sum()).collect();
        let mut all = Block::zeros(dim, dim);
        for i in 0..dim {
            for j in 0..=i {
                let mut entry: T = sums.iter().map(|sum| sum.square().row(i)[j]).sum();
                if !p.is_empty() {
                    entry += T::of(r * p[i] * p[j] - p[i] * q[j] - q[i] * p[j]);
                }
                all.row_mut(i)[j] = entry;
            }
        }
        mirror(&mut all);
        all
    }
}
