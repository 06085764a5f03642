//! [`Sum`]: the squares of some lines, added up.

use super::cut::{Cut, is_full, is_medium};
use super::line::Terms;
use super::tile::Tile;
use crate::dense::square::{add_square, width};
use crate::{Block, Scalar};

/// $\sum c c^T$, the lower triangle, $q = \sum t c$ and $r = \sum t^2$ over sparse lines; full lines are in
/// the first sum, written out.
pub(super) struct Sum<T> {
    square: Block<T>,
    q: Vec<f64>,
    r: f64,
    /// The line at hand.
    at: Vec<usize>,
    values: Vec<T>,
    /// Lines of middle length that are added up together.
    tile: Tile<T>,
    /// Lines that are written out, and how many.
    full: Block<T>,
    used: usize,
}

impl<T: Scalar> Sum<T> {
    pub fn new(dim: usize) -> Self {
        let (at, values, full) = (Vec::new(), Vec::new(), Block::zeros(0, 0));
        Self {
            square: Block::zeros(dim, dim),
            q: vec![0.0; dim],
            r: 0.0,
            at,
            values,
            tile: Tile::new(),
            full,
            used: 0,
        }
    }

    pub fn square(&self) -> &Block<T> {
        &self.square
    }

    pub fn q(&self) -> &[f64] {
        &self.q
    }

    pub fn r(&self) -> f64 {
        self.r
    }

    /// One more line, of the numbers that are stored of it, ascending.
    pub fn add(
        &mut self,
        terms: &Terms<'_, T>,
        line: usize,
        entries: impl Iterator<Item = (usize, T)>,
    ) {
        let (factor, t) = terms.of_line(line);
        self.at.clear();
        self.values.clear();
        for (o, value) in entries {
            self.at.push(o);
            self.values.push(factor * value * terms.scale(o));
        }
        let p = terms.shared();
        if is_full(self.at.len(), self.square.rows()) {
            self.write_out(t, p);
            return;
        }
        if !p.is_empty() {
            self.fill(t, p, terms.filled());
            let t = t.as_f64();
            self.r += t * t;
            for (&o, value) in self.at.iter().zip(&self.values) {
                self.q[o] += t * value.as_f64();
            }
        }
        if is_medium(self.at.len(), self.square.rows()) {
            if self.tile.push(&self.at, &self.values) {
                self.tile.add_to(self.square.as_mut());
            }
        } else {
            self.add_pairs();
        }
    }

    /// c − t p, a row of those that are squared together.
    fn write_out(&mut self, t: T, p: &[T]) {
        let (dim, height) = (self.square.rows(), Cut::height(self.square.rows()));
        if self.full.rows() == 0 {
            self.full = Block::zeros(height, width::<T>(dim));
        }
        let row = &mut self.full.row_mut(self.used)[..dim];
        row.fill(T::zero());
        row.iter_mut().zip(p).for_each(|(to, &p)| *to -= t * p);
        self.at.iter().zip(&self.values).for_each(|(&o, &value)| row[o] += value);
        self.used += 1;
        if self.used == height {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.used > 0 {
            add_square(&self.full, self.used, self.square.as_mut());
            self.used = 0;
        }
    }

    /// Everything is added up, and nothing else kept.
    pub fn finish(mut self) -> Self {
        self.flush();
        self.tile.add_to(self.square.as_mut());
        self.tile = Tile::new();
        (self.full, self.at, self.values) = (Block::zeros(0, 0), Vec::new(), Vec::new());
        self
    }

    /// The numbers that every line has, less t p: those that are not stored among the others.
    fn fill(&mut self, t: T, p: &[T], filled: &[usize]) {
        if filled.is_empty() {
            return;
        }
        // From behind: each number moves at most once.
        let mut from = self.at.len();
        let missing = filled.iter().filter(|o| self.at.binary_search(o).is_err()).count();
        let mut to = from + missing;
        self.at.resize(to, 0);
        self.values.resize(to, T::zero());
        for &o in filled.iter().rev() {
            while from > 0 && self.at[from - 1] > o {
                (from, to) = (from - 1, to - 1);
                (self.at[to], self.values[to]) = (self.at[from], self.values[from]);
            }
            let stored = from > 0 && self.at[from - 1] == o;
            let value = if stored { self.values[from - 1] } else { T::zero() };
            from -= usize::from(stored);
            to -= 1;
            (self.at[to], self.values[to]) = (o, value - t * p[o]);
        }
    }

    /// G ← G + c cᵀ, the lower triangle.
    fn add_pairs(&mut self) {
        let (at, values) = (&self.at, &self.values);
        for (number, (&i, &x)) in at.iter().zip(values).enumerate() {
            // gᵢⱼ ← gᵢⱼ + cᵢ cⱼ for j ≤ i
            let row = self.square.row_mut(i);
            for (&j, &y) in at[..=number].iter().zip(&values[..=number]) {
                row[j] += x * y;
            }
        }
    }
}
