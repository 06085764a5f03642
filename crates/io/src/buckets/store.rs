//! [`Store`]: the chunks of all buckets.

use favard_operator::Scalar;
use rayon::prelude::*;

use super::arrange::arrange;
use super::group::{Form, Group};
use super::sorted::mask;
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

    /// A chunk that is not in use. Its zeros are in the cache when its first entries are put there.
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
        arrange(&mut self.columns, &order);
        arrange(&mut self.values, &order);
        if self.is_apart {
            arrange(&mut self.rows, &order);
        }
    }

    /// Sorts arranged buckets by rows and moves them together. The ends of all rows, 0 before, are set.
    /// Gives whether the columns of each row increase.
    pub fn sort(&mut self, buckets: &[Bucket], ends: &mut [usize]) -> Result<bool, ErrorKind> {
        let form = if self.is_apart { Form::Apart(&self.rows) } else { Form::Together(self.bits) };
        let lists = (&mut self.columns[..], &mut self.values[..]);
        let groups = Group::all(buckets, ends, lists, rayon::current_num_threads())?;
        let sort = |group: Group<'_, T>| group.sort(form);
        groups.into_par_iter().with_max_len(1).map(sort).try_reduce(|| true, |a, b| Ok(a && b))
    }
}

/// A row of a bucket, which has at most 16 bits.
#[allow(clippy::cast_possible_truncation)]
fn short(row: u32) -> u16 {
    row as u16
}
