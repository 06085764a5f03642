//! [`Cut`]: how many entries the lines have, and how the sum over them is shared out.

use std::ops::Range;

use super::tile::Tile;
use crate::adjoint::Forming;
use crate::row_ops::CHUNK;
use crate::{Block, Column, Csr, Scalar};

/// Partial sums at most.
const GROUPS: usize = 16;

/// Partial sums of which the memory is not asked: to solve the matrix takes as much again.
const SMALL_GROUPS: usize = 4;

/// A line is written out from a share of one in so many of its entries on: a pair of entries takes
/// about 1 ns, and the pairs of a matrix product 29 in that time, all of them.
pub(super) const FULL: usize = 3;

/// A line is one of a tile from a share of one in so many of its entries on: then an entry takes as long as
/// a pair for each 36 numbers of the line. Milliseconds, pair by pair and in tiles (two threads, Zen 5, in turn): 1,000 numbers a line,
/// mostly few entries but nine tenths of the pairs in lines of a tenth and more, 360 and 155; 400 numbers, a fifth of them
/// entries, 165 and 35; 1,500 numbers, 15 %, 205 and 107; 5 %, 43 and 44.
const MEDIUM: usize = 10;

/// Entries of such a line at least: the pairs of fewer do not wait for each other that often.
const LEAST: usize = 48;

/// Bytes of a sum that stays in cache, and multiply-adds that one into a larger sum takes as long as, in lines
/// that are too short for a tile: 2.2 and 1.1 for 1,500 numbers a line, 2 and 5 % of them entries (two threads).
const CACHE: usize = 3 << 19;
const FAR: f64 = 1.5;

/// Multiply-adds that take the time in which an entry is transposed, or looked at.
const MOVE: f64 = 4.0;

/// Cubes of the dimension for an entry from which on nobody needs to know what forming takes: solving takes
/// 0.1 ns for each and more, and 50 products with 8 columns take 100 ns for an entry.
const SOLVING: f64 = 2500.0;

/// Entries of a panel of transposed lines, and of each row in it, at least.
const PANEL: usize = 1 << 16;
const PANEL_ROW: usize = 64;

/// The lines of a matrix, and the sum over them in groups.
pub(super) struct Cut<'a> {
    /// Numbers of a line.
    pub dim: usize,
    pub lines: usize,
    entries: usize,
    lengths: Lengths<'a>,
    scalar: usize,
}

/// The entries of each line.
enum Lengths<'a> {
    Stored(&'a [usize]),
    Counted(Vec<usize>),
}

impl<'a> Cut<'a> {
    pub fn new<T: Scalar, I: Column>(a: &'a Csr<'_, T, I>, rows_are_lines: bool) -> Self {
        let (rows, cols) = a.shape();
        let (lines, dim) = if rows_are_lines { (rows, cols) } else { (cols, rows) };
        let lengths =
            if rows_are_lines { Lengths::Stored(a.pointers()) } else { Lengths::Counted(count(a)) };
        Self { dim, lines, entries: a.entries(), lengths, scalar: size_of::<T>() }
    }

    /// The entries of a line.
    pub fn length(&self, line: usize) -> usize {
        match &self.lengths {
            Lengths::Stored(pointers) => pointers[line + 1] - pointers[line],
            Lengths::Counted(counts) => counts[line],
        }
    }

    /// How many numbers of the lines are stored in more than half of them, and in each.
    pub fn common<T: Scalar, I: Column>(&self, a: &Csr<'_, T, I>) -> Vec<usize> {
        let mut counts = match &self.lengths {
            Lengths::Stored(_) => count(a),
            Lengths::Counted(_) => a.pointers().windows(2).map(|pair| pair[1] - pair[0]).collect(),
        };
        counts.iter_mut().for_each(|count| *count = usize::from(2 * *count > self.lines));
        let common = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        common.map(|(number, _)| number).collect()
    }

    /// Multiply-adds of a line, as pairs of entries that take as long.
    fn pairs(&self, length: usize) -> f64 {
        let (entries, dim) = (length as f64, self.dim as f64);
        if is_full(length, self.dim) {
            dim.powi(2) / 29.0
        } else if is_medium(length, self.dim) {
            entries * dim / 36.0
        } else {
            0.5 * entries.powi(2) + 1.0
        }
    }

    fn all_pairs(&self) -> f64 {
        (0..self.lines).map(|line| self.pairs(self.length(line))).sum()
    }

    /// How many partial sums: as many as the pairs are worth, and, above a few, as half of the memory
    /// of the matrix holds. A power of two, so that two or four threads end together.
    fn count(&self, pairs: f64) -> usize {
        let square = (self.dim * self.dim).max(1);
        let held = self.entries * (self.scalar + 4) / (2 * square * self.scalar);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 16
        let worth = (pairs / (8.0 * square as f64)).min(GROUPS as f64) as usize;
        1 << worth.min(held.max(SMALL_GROUPS)).clamp(1, GROUPS).ilog2()
    }

    /// Ranges of lines with about as many pairs each.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let pairs = self.all_pairs();
        let count = self.count(pairs);
        let (mut ranges, mut from, mut sum) = (Vec::with_capacity(count), 0, 0.0);
        for line in 0..self.lines {
            sum += self.pairs(self.length(line));
            if sum * count as f64 >= pairs * (ranges.len() + 1) as f64 && ranges.len() + 1 < count {
                ranges.push(from..line + 1);
                from = line + 1;
            }
        }
        ranges.push(from..self.lines);
        ranges
    }

    /// Where a panel ends that starts at a line.
    pub fn panel_end(&self, lines: &Range<usize>) -> usize {
        let most = PANEL.max(PANEL_ROW * self.dim);
        let mut entries = 0;
        for line in lines.clone() {
            entries += self.length(line);
            if entries > most && line > lines.start {
                return line;
            }
        }
        lines.end
    }

    /// Rows of full lines that are squared at a time.
    pub fn height(dim: usize) -> usize {
        (CHUNK / dim.max(1)).clamp(256, 512)
    }

    /// What the sum takes, from all lines.
    pub fn forming(&self) -> Forming {
        let mut found = Taken::default();
        for line in 0..self.lines {
            let length = self.length(line);
            let pairs = self.pairs(length);
            found.all += pairs;
            found.longest = found.longest.max(length);
            if is_full(length, self.dim) {
                found.full += 1;
            } else if is_medium(length, self.dim) {
                found.medium += pairs;
            } else {
                found.pairs += pairs;
            }
        }
        self.taken(&found)
    }

    fn taken(&self, taken: &Taken) -> Forming {
        let near = self.dim * self.dim * self.scalar <= CACHE;
        let across = matches!(self.lengths, Lengths::Counted(_));
        let moved = self.entries as f64 * if across { 2.0 * MOVE } else { MOVE };
        Forming {
            dense: taken.full as f64 * (self.dim as f64).powi(2),
            scattered: moved + taken.medium + if near { taken.pairs } else { FAR * taken.pairs },
            across,
            scratch: self.scratch(taken),
        }
    }

    /// Bytes beside the result.
    fn scratch(&self, taken: &Taken) -> usize {
        let across = matches!(self.lengths, Lengths::Counted(_));
        let groups = self.count(taken.all);
        let busy = rayon::current_num_threads().min(groups);
        let (word, square) = (size_of::<usize>(), Block::<f64>::len_for(self.dim, self.dim));
        let sums = (groups + 1) * (square * self.scalar + 2 * self.dim * size_of::<f64>());
        let full =
            if taken.full > 0 { Self::height(self.dim) * (self.dim + 16) * self.scalar } else { 0 };
        // Where each row has got to, the ends of the lines, and the entries of a panel.
        let panel = PANEL.max(PANEL_ROW * self.dim).min(self.entries) + taken.longest;
        let panel = if across { self.dim * word + panel * (2 * word + self.scalar) } else { 0 };
        let counts = if across { self.lines * word } else { 0 };
        // A filled line has all numbers at most; the factors of lines and numbers.
        let line = self.dim * (word + self.scalar) + 3 * self.dim * word;
        let has_tiles = taken.medium > 0.0;
        let tile = if has_tiles { Tile::<f64>::memory(self.dim, self.entries) } else { 0 };
        counts + sums + busy * (full + panel + line + tile)
    }
}

/// Whether a line of so many entries is written out.
pub(super) fn is_full(length: usize, dim: usize) -> bool {
    length * FULL > dim
}

/// Whether a line of so many entries, not full, is one of a [`Tile`](super::tile::Tile).
pub(super) fn is_medium(length: usize, dim: usize) -> bool {
    length >= LEAST && length * MEDIUM > dim
}

/// What the lines take in all.
#[derive(Default)]
struct Taken {
    /// Lines that are written out.
    full: usize,
    /// What those of tiles take, and pairs of entries of the others; with what the full ones take as long as, all.
    medium: f64,
    pairs: f64,
    all: f64,
    /// Entries of the longest.
    longest: usize,
}

/// [`Cut::forming`] as if all lines had as many entries, without a look at them: for a matrix that takes
/// far longer to solve than to form, whatever that takes.
pub(super) fn rough<T: Scalar, I: Column>(
    a: &Csr<'_, T, I>,
    rows_are_lines: bool,
) -> Option<Forming> {
    let (rows, cols) = a.shape();
    let (lines, dim) = if rows_are_lines { (rows, cols) } else { (cols, rows) };
    if (dim as f64).powi(3) < SOLVING * a.entries() as f64 {
        return None;
    }
    let lengths = if rows_are_lines { Lengths::Stored(&[]) } else { Lengths::Counted(Vec::new()) };
    let cut = Cut { dim, lines, entries: a.entries(), lengths, scalar: size_of::<T>() };
    let length = a.entries().div_ceil(lines.max(1));
    let all = lines as f64 * cut.pairs(length);
    let (medium, pairs) = if is_medium(length, dim) { (all, 0.0) } else { (0.0, all) };
    let longest = dim.min(a.entries());
    // One full line, for its memory.
    Some(cut.taken(&Taken { full: 1, medium, pairs, all, longest }))
}

/// The entries of each column.
fn count<T: Scalar, I: Column>(a: &Csr<'_, T, I>) -> Vec<usize> {
    let mut counts = vec![0; a.shape().1];
    a.columns().iter().for_each(|column| counts[column.at()] += 1);
    counts
}
