//! [`Tile`]: lines of middle length, added up as rows of sparse numbers times rows of dense ones.

// Inlining carries the instruction set of a kernel into what it calls: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use super::cut::FULL;
use crate::kernel::{Kernel, run};
use crate::{Block, BlockMut, Scalar};

/// Lines of a tile at most.
const LINES: usize = 512;

/// Cache lines of a strip: of so many numbers of each line, written out, at a time.
const STRIP: usize = 4;

/// Lines, each with the numbers that it has and their values.
///
/// Pair by pair, an addition waits for the one before it that may have been to the same place: 2 ns. Here row i of
/// the sum gets the lines that have the number i, each as a strip of numbers with all its zeros: a cache line of
/// them takes about as long as a pair, and one line has n / 2 numbers left of the diagonal in the mean.
pub(super) struct Tile<T> {
    /// The lines, one behind the other, and where each ends.
    at: Vec<u32>,
    values: Vec<T>,
    ends: Vec<u32>,
    /// The lines that have each number, one number behind the other, with its value, and where each ends.
    lines: Vec<u32>,
    factors: Vec<T>,
    last: Vec<u32>,
    /// The strip, and the first entry of each line behind it.
    strip: Block<T>,
    next: Vec<u32>,
}

impl<T: Scalar> Tile<T> {
    pub fn new() -> Self {
        Self {
            at: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
            lines: Vec::new(),
            factors: Vec::new(),
            last: Vec::new(),
            strip: Block::zeros(0, 0),
            next: Vec::new(),
        }
    }

    /// Bytes at most, for lines of so many numbers that have so many entries in all.
    pub fn memory(dim: usize, entries: usize) -> usize {
        let (entries, word) = (entries.min(LINES * dim / FULL), size_of::<u32>());
        // Lists grow by doubling.
        let lists = 2 * entries * (word + size_of::<T>()) + entries * (word + size_of::<T>());
        let strip = Block::<T>::len_for(LINES, STRIP * T::LANE) * size_of::<T>();
        lists + strip + (dim + 4 * LINES) * word
    }

    /// One more line; whether it was the last.
    #[allow(clippy::cast_possible_truncation)] // a square of more numbers fits no memory
    pub fn push(&mut self, at: &[usize], values: &[T]) -> bool {
        self.at.extend(at.iter().map(|&o| o as u32));
        self.values.extend_from_slice(values);
        self.ends.push(self.at.len() as u32);
        self.ends.len() == LINES
    }

    /// G ← G + Σ c cᵀ over the lines, the lower triangle, and what falls above it; they are gone then.
    pub fn add_to(&mut self, square: BlockMut<'_, T>) {
        if !self.at.is_empty() {
            if T::LANE == 8 {
                self.add_strips::<{ STRIP * 8 }>(square);
            } else {
                self.add_strips::<{ STRIP * 16 }>(square);
            }
        }
        self.at.clear();
        self.values.clear();
        self.ends.clear();
    }

    fn add_strips<const W: usize>(&mut self, mut square: BlockMut<'_, T>) {
        let dim = square.rows();
        self.sort(dim);
        if self.strip.rows() == 0 {
            self.strip = Block::zeros(LINES, W);
        }
        for first in (0..dim).step_by(W) {
            self.write_out::<W>(first);
            let (lines, factors, last) = (&self.lines, &self.factors, &self.last);
            let strip = self.strip.as_ref();
            let dense = strip.data().as_chunks::<W>().0;
            run(Strip { lines, factors, last, dense, first, square: square.reborrow() });
        }
    }

    /// The lines of each number.
    #[allow(clippy::cast_possible_truncation)] // LINES
    fn sort(&mut self, dim: usize) {
        self.last.clear();
        self.last.resize(dim, 0);
        self.at.iter().for_each(|&o| self.last[o as usize] += 1);
        let mut sum = 0;
        for last in &mut self.last {
            (*last, sum) = (sum, sum + *last);
        }
        self.lines.resize(self.at.len(), 0);
        self.factors.resize(self.at.len(), T::zero());
        self.next.clear();
        let mut from = 0;
        for (line, &end) in self.ends.iter().enumerate() {
            self.next.push(from);
            for entry in from as usize..end as usize {
                let place = &mut self.last[self.at[entry] as usize];
                self.lines[*place as usize] = line as u32;
                self.factors[*place as usize] = self.values[entry];
                *place += 1;
            }
            from = end;
        }
    }

    /// Numbers `first..first + W` of each line.
    fn write_out<const W: usize>(&mut self, first: usize) {
        let mut strip = self.strip.as_mut();
        let rows = strip.data_mut().as_chunks_mut::<W>().0;
        for ((row, next), &end) in rows.iter_mut().zip(&mut self.next).zip(&self.ends) {
            *row = [T::zero(); W];
            while *next < end {
                let entry = *next as usize;
                let Some(to) = row.get_mut(self.at[entry] as usize - first) else { break };
                *to = self.values[entry];
                *next += 1;
            }
        }
    }
}

struct Strip<'a, T, const W: usize> {
    lines: &'a [u32],
    factors: &'a [T],
    last: &'a [u32],
    dense: &'a [[T; W]],
    first: usize,
    square: BlockMut<'a, T>,
}

impl<T: Scalar, const W: usize> Kernel for Strip<'_, T, W> {
    #[inline(always)]
    fn run(self) {
        let Self { lines, factors, last, dense, first, mut square } = self;
        let before = if first == 0 { 0 } else { last[first - 1] };
        let mut from = before as usize;
        for (i, &to) in (first..).zip(&last[first..]) {
            let to = to as usize;
            // gᵢⱼ ← gᵢⱼ + Σ_ℓ c_ℓᵢ c_ℓⱼ for the j of the strip
            let mut sum = [T::zero(); W];
            for (&line, &factor) in lines[from..to].iter().zip(&factors[from..to]) {
                let row = &dense[line as usize];
                for l in 0..W {
                    sum[l] += factor * row[l];
                }
            }
            let row = &mut square.row_mut(i)[first..];
            row.iter_mut().zip(sum).for_each(|(g, sum)| *g += sum);
            from = to;
        }
    }
}
