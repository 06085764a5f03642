//! [`Store`]: the chunks of all buckets.

use favard_operator::Scalar;
use rayon::prelude::*;

use super::sorted::{Sorted, mask};
use super::{Bucket, CHUNK, Cut};
use crate::csr::{Entry, reserve};
use crate::error::{ErrorKind, Result};

/// Chunks of entries.
#[derive(Debug)]
pub(super) struct Store<T> {
    /// Whether rows and columns are in lists of their own.
    is_apart: bool,
    /// The bits of a column.
    bits: u32,
    /// Rows, counted from the first of the bucket.
    rows: Vec<u16>,
    /// Columns; above them the rows, where these have no list.
    columns: Vec<u32>,
    values: Vec<T>,
    /// Chunks that are not in use.
    pub free: Vec<u32>,
}

impl<T: Scalar> Store<T> {
    /// No chunks yet, of a matrix whose columns have so many bits.
    pub fn new(bits: u32, is_apart: bool) -> Self {
        let (rows, columns, values, free) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { is_apart, bits, rows, columns, values, free }
    }

    /// The columns and the values.
    pub fn into_lists(self) -> (Vec<u32>, Vec<T>) {
        (self.columns, self.values)
    }

    pub fn reserve(&mut self, more: usize) -> Result<(), ErrorKind> {
        if self.is_apart {
            reserve("row indices", &mut self.rows, more)?;
        }
        reserve("column indices", &mut self.columns, more)?;
        reserve("values", &mut self.values, more)
    }

    /// A chunk that is not in use.
    #[cold]
    fn chunk(&mut self) -> Result<u32, ErrorKind> {
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        let (what, size) = ("chunks of entries", self.columns.len());
        let too_many = |_| ErrorKind::Memory { what, bytes: size as u64 };
        let number = u32::try_from(size / CHUNK).map_err(too_many)?;
        self.reserve(CHUNK)?;
        if self.is_apart {
            self.rows.resize(size + CHUNK, 0);
        }
        self.columns.resize(size + CHUNK, 0);
        self.values.resize(size + CHUNK, T::zero());
        Ok(number)
    }

    /// Puts entries into their buckets; the rows are counted from the first of the cut.
    pub fn put(&mut self, cut: &mut Cut, entries: &[Entry<T>]) -> Result<(), ErrorKind> {
        let mut left = entries;
        while !left.is_empty() {
            let done = if self.is_apart {
                self.put_until_full::<true>(cut, left)
            } else {
                self.put_until_full::<false>(cut, left)
            };
            left = &left[done..];
            let Some((entry, later)) = left.split_first() else { break };
            let (bucket, row) = cut.place(entry.row);
            let number = self.chunk()?;
            cut.chunks[bucket].push(number);
            let next = number as usize * CHUNK;
            cut.next[bucket] = next + 1;
            if self.is_apart {
                self.rows[next] = short(row);
                self.columns[next] = entry.column;
            } else {
                self.columns[next] = row << self.bits | entry.column;
            }
            self.values[next] = entry.value;
            left = later;
        }
        Ok(())
    }

    /// Stops at the first entry that has no chunk: so far the lists stay where they are. Gives the number
    /// of those before it.
    fn put_until_full<const IS_APART: bool>(
        &mut self,
        cut: &mut Cut,
        entries: &[Entry<T>],
    ) -> usize {
        // Of the same length, as the compiler should know.
        let (bits, size) = (self.bits, self.columns.len());
        let rows = if IS_APART { &mut self.rows[..size] } else { &mut [] };
        let (columns, values) = (&mut self.columns[..size], &mut self.values[..size]);
        for (i, entry) in entries.iter().enumerate() {
            let (bucket, row) = cut.place(entry.row);
            let next = cut.next[bucket];
            if next.is_multiple_of(CHUNK) {
                return i;
            }
            cut.next[bucket] = next + 1;
            if IS_APART {
                rows[next] = short(row);
                columns[next] = entry.column;
            } else {
                columns[next] = row << bits | entry.column;
            }
            values[next] = entry.value;
        }
        entries.len()
    }

    /// The first entries of a chunk, rows counted from the first of their bucket.
    pub fn entries(&self, chunk: u32, count: usize) -> impl Iterator<Item = Entry<T>> {
        let start = chunk as usize * CHUNK;
        (start..start + count).map(|at| {
            let (place, value) = (self.columns[at], self.values[at]);
            if self.is_apart {
                Entry { column: place, row: self.rows[at].into(), value }
            } else {
                Entry { column: place & mask(self.bits), row: place >> self.bits, value }
            }
        })
    }

    /// Puts the chunks in the order of the buckets, those that are not in use behind them.
    pub fn arrange(&mut self, buckets: &[Bucket]) {
        let used = buckets.iter().flat_map(|bucket| &bucket.chunks);
        let order: Vec<u32> = used.chain(&self.free).copied().collect();
        let Self { is_apart, rows, columns, values, .. } = self;
        rayon::join(
            || arrange(values, &order),
            || {
                arrange(columns, &order);
                if *is_apart {
                    arrange(rows, &order);
                }
            },
        );
    }

    /// Sorts some buckets by rows. Their chunks stand at `from`, where nothing is left of them; their
    /// entries go to `to`, which is not behind it. `ends` are those of their rows and of all that follow,
    /// which are given back.
    pub fn sort<'e>(
        &mut self,
        wave: &[Bucket],
        mut ends: &'e mut [usize],
        (mut from, to): (usize, usize),
        sorted: &mut Vec<Sorted<T>>,
    ) -> Result<&'e mut [usize], ErrorKind> {
        if let [bucket @ Bucket { shift: 0, .. }] = wave {
            // One row, which may be most of the matrix: it only moves.
            let range = from..from + bucket.count;
            let (end, later) = ends.split_at_mut(1);
            end[0] = to + range.len();
            self.columns.copy_within(range.clone(), to);
            self.values.copy_within(range, to);
            return Ok(later);
        }
        sorted.resize_with(wave.len().max(sorted.len()), Sorted::default);
        let (mut tasks, mut base) = (Vec::with_capacity(wave.len()), to);
        let (mut columns, mut values) = (&mut self.columns[from..], &mut self.values[from..]);
        for (bucket, sorted) in wave.iter().zip(&mut *sorted) {
            let (count, room) = (bucket.count, bucket.chunks.len() * CHUNK);
            sorted.resize(count)?;
            let (here, of_columns, of_values);
            (here, ends) = ends.split_at_mut(ends.len().min(1 << bucket.shift));
            (of_columns, columns) = columns.split_at_mut(room);
            (of_values, values) = values.split_at_mut(room);
            tasks.push((
                sorted,
                here,
                base,
                from,
                &mut of_columns[..count],
                &mut of_values[..count],
            ));
            (from, base) = (from + room, base + count);
        }
        let (is_apart, bits, rows) = (self.is_apart, self.bits, &self.rows);
        tasks.into_par_iter().with_max_len(1).for_each(|task| {
            let (sorted, ends, base, from, columns, values) = task;
            if is_apart {
                let rows = rows[from..].iter().map(|&row| usize::from(row));
                sorted.fill(ends, base, rows.zip(columns.iter().copied()), values);
            } else {
                sorted.fill_together(ends, base, bits, columns, values);
            }
        });
        // Only now, when all that stood there was read.
        let (mut columns, mut values) = (&mut self.columns[to..], &mut self.values[to..]);
        let mut tasks = Vec::with_capacity(wave.len());
        for sorted in &sorted[..wave.len()] {
            let (to_columns, to_values);
            (to_columns, columns) = columns.split_at_mut(sorted.columns.len());
            (to_values, values) = values.split_at_mut(sorted.values.len());
            tasks.push((to_columns, to_values, sorted));
        }
        tasks.into_par_iter().with_max_len(1).for_each(|(columns, values, sorted)| {
            columns.copy_from_slice(&sorted.columns);
            values.copy_from_slice(&sorted.values);
        });
        Ok(ends)
    }
}

/// A row of a bucket, which has at most 16 bits.
#[allow(clippy::cast_possible_truncation)]
fn short(row: u32) -> u16 {
    row as u16
}

/// Chunk i of the list becomes what chunk `order[i]` was.
fn arrange<V: Copy + Default>(list: &mut [V], order: &[u32]) {
    let mut is_done = vec![false; order.len()];
    let mut first = [V::default(); CHUNK];
    for start in 0..order.len() {
        if is_done[start] {
            continue;
        }
        // Along the cycle of chunks that take each other's place.
        first.copy_from_slice(&list[start * CHUNK..][..CHUNK]);
        let mut at = start;
        loop {
            is_done[at] = true;
            let next = order[at] as usize;
            if next == start {
                break;
            }
            list.copy_within(next * CHUNK..(next + 1) * CHUNK, at * CHUNK);
            at = next;
        }
        list[at * CHUNK..][..CHUNK].copy_from_slice(&first);
    }
}
