//! [`Buckets`]: entries in any order become a sparse matrix in little more than its own room.

mod store;

use favard_operator::{Csr, Scalar};

use crate::csr::{self, Entry, TASK, zeros};
use crate::error::{ErrorKind, Result};
use store::Store;

/// Entries of a chunk: small beside a bucket, and long enough to be moved at the speed of the memory.
const CHUNK: usize = 1 << 10;

/// The most buckets that the rows are cut into, if these are not longer than [`LONGEST`]: what is
/// written to at the same time stays in the cache of a core.
const MOST: usize = 256;

/// A row of a bucket is stored as 16 bits.
const LONGEST: u32 = 16;

/// Entries are collected in buckets of neighbouring rows, in the order they come; then bucket after
/// bucket is sorted by rows.
///
/// A bucket is a list of chunks. All chunks live in the lists that become the matrix, and beside
/// these the entries need only 16 bits each: the row within the bucket. In the end the chunks are
/// put in the order of the buckets, in place. So the peak is 14 bytes for each entry, where
/// the matrix has 12, and 0.8 while some buckets are sorted. (Chunks that the allocator is to take
/// back one by one would have to be 16 bytes for each entry, and it may keep them.)
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    rows: usize,
    list: Vec<Bucket>,
    shift: u32,
    store: Store<T>,
}

/// Rows that follow each other: 2^shift of them from the first on, as far as there are so many.
#[derive(Debug)]
struct Bucket {
    first: usize,
    shift: u32,
    /// Where the next entry goes, unless the chunk ends there.
    next: usize,
    end: usize,
    chunks: Vec<u32>,
}

impl<T: Scalar> Buckets<T> {
    /// Buckets for about that many entries, with room for them where it is `certain` that they come.
    pub fn new(rows: usize, entries: usize, is_certain: bool) -> Result<Self, ErrorKind> {
        let shift = shift_of(rows, entries).min(LONGEST);
        let list = Bucket::cut(0, rows, shift);
        let mut store = Store::default();
        if is_certain {
            store.reserve(entries.saturating_add(CHUNK * list.len()))?;
        }
        Ok(Self { rows, list, shift, store })
    }

    /// Takes up the next entries.
    pub fn push(&mut self, entries: &[Entry<T>]) -> Result<(), ErrorKind> {
        self.store.put(&mut self.list, self.shift, entries)
    }

    /// The matrix.
    pub fn finish(mut self, cols: usize) -> Result<Csr<'static, T>, ErrorKind> {
        let total = self.list.iter().map(Bucket::count).sum::<usize>();
        // What is sorted at a time.
        let most = (total / 16).max(TASK);
        self.split(most)?;
        let Self { rows, list, mut store, .. } = self;
        store.arrange(&list);
        let mut pointers = zeros("row pointers", 0_usize, rows + 1)?;
        let (mut left, mut ends) = (&list[..], &mut pointers[1..]);
        let (mut from, mut to, mut sorted) = (0, 0, Vec::new());
        while !left.is_empty() {
            let (mut size, mut length) = (left[0].count(), 1);
            while let Some(more) = left.get(length).map(Bucket::count)
                && size + more <= most
            {
                (size, length) = (size + more, length + 1);
            }
            let wave;
            (wave, left) = left.split_at(length);
            ends = store.sort(wave, ends, (from, to), &mut sorted)?;
            from += wave.iter().map(|bucket| bucket.chunks.len() * CHUNK).sum::<usize>();
            to += size;
        }
        let Store { rows: places, mut columns, mut values, .. } = store;
        drop((places, sorted));
        columns.truncate(total);
        columns.shrink_to_fit();
        values.truncate(total);
        values.shrink_to_fit();
        csr::finish(cols, pointers, columns, values)
    }

    /// Cuts buckets of more than so many entries further, down to single rows, which need no sorting.
    fn split(&mut self, most: usize) -> Result<(), ErrorKind> {
        let mut left = std::mem::take(&mut self.list);
        left.reverse();
        while let Some(bucket) = left.pop() {
            if bucket.count() <= most || bucket.shift == 0 {
                self.list.push(bucket);
                continue;
            }
            let rows = self.rows.min(bucket.first + (1 << bucket.shift)) - bucket.first;
            let shift = shift_of(rows, bucket.count()).min(bucket.shift - 1);
            let mut parts = Bucket::cut(bucket.first, rows, shift);
            let mut chunk = Vec::with_capacity(CHUNK);
            for (&number, length) in bucket.chunks.iter().zip(bucket.lengths()) {
                let start = number as usize * CHUNK;
                chunk.clear();
                chunk.extend(self.store.entries(start, length));
                self.store.free.push(number);
                self.store.put(&mut parts, shift, &chunk)?;
            }
            left.extend(parts.into_iter().rev());
        }
        Ok(())
    }
}

/// The bits of a row within its bucket, where so many rows hold so many entries.
fn shift_of(rows: usize, entries: usize) -> u32 {
    let buckets = (entries / TASK).clamp(1, MOST);
    usize::BITS - (rows.div_ceil(buckets).max(1) - 1).leading_zeros()
}

impl Bucket {
    /// Empty buckets of some rows.
    fn cut(first: usize, rows: usize, shift: u32) -> Vec<Self> {
        let bucket = |first| Self { first, shift, next: 0, end: 0, chunks: Vec::new() };
        (first..first + rows).step_by(1 << shift).map(bucket).collect()
    }

    /// Its entries.
    fn count(&self) -> usize {
        self.lengths().sum()
    }

    /// The entries of its chunks: all but the last are full.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        let last = self.chunks.last().map_or(0, |&last| self.next - last as usize * CHUNK);
        let full = self.chunks.len().saturating_sub(1);
        std::iter::repeat_n(CHUNK, full).chain(self.chunks.last().map(|_| last))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sorted at once, and what repeats added up in the order it has.
    fn reference(rows: usize, cols: usize, entries: &[Entry<f64>]) -> Csr<'static, f64> {
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(Entry::place);
        sorted.dedup_by(|next, kept| {
            let is_same = next.place() == kept.place();
            if is_same {
                kept.value += next.value;
            }
            is_same
        });
        let end = |row| sorted.partition_point(|entry| (entry.row as usize) < row);
        let ends: Vec<_> = (0..=rows).map(end).collect();
        let columns: Vec<_> = sorted.iter().map(|entry| entry.column).collect();
        let values: Vec<_> = sorted.iter().map(|entry| entry.value).collect();
        Csr::new((rows, cols), ends, columns, values).unwrap()
    }

    fn assert_equal(rows: usize, cols: usize, entries: &[Entry<f64>], expected: usize) {
        let wanted = reference(rows, cols, entries);
        let bits =
            |csr: &Csr<'_, f64>| csr.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        for is_certain in [false, true] {
            let mut buckets = Buckets::new(rows, expected, is_certain).unwrap();
            entries.chunks(3001).for_each(|list| buckets.push(list).unwrap());
            let found = buckets.finish(cols).unwrap();
            assert_eq!(found.shape(), wanted.shape());
            assert!(found.pointers() == wanted.pointers() && found.columns() == wanted.columns());
            assert!(bits(&found) == bits(&wanted));
        }
    }

    /// Entries whose rows a power of a uniform number decides: 1 spreads them, 20 makes most of them
    /// those of the first rows.
    fn entries(count: usize, rows: usize, cols: usize, power: i32) -> Vec<Entry<f64>> {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let below = |share: f64, most: usize| (share * most as f64) as u32;
        let mut entry = || {
            let (row, column) = (below(random().powi(power), rows), below(random(), cols));
            Entry { column, row, value: random() - 0.5 }
        };
        (0..count).map(|_| entry()).collect()
    }

    /// Several buckets and waves, with few rows and many, and buckets that are cut again; places
    /// that repeat, in a matrix of few columns.
    #[test]
    fn large_lists_are_sorted() {
        let count = 5 * TASK + 17;
        for (rows, cols, power) in [
            (1, 9, 1),
            (3, 40_000, 1),
            (700, 300, 1),
            (700, 300, 20),
            (300_000, 7, 1),
            (70_000, 2, 60),
        ] {
            let list = entries(count, rows, cols, power);
            // As the header says, and where it said too much.
            for expected in [count, 300 * TASK] {
                assert_equal(rows, cols, &list, expected);
            }
        }
    }

    proptest! {
        /// Any few entries, whatever their number was thought to be.
        #[test]
        fn small_lists_are_sorted(
            list in prop::collection::vec((0_u32..2000, 0_u32..30, -1.0..1.0), 0..3000),
            expected in 0_usize..2_000_000, rows in 2000_usize..200_000,
        ) {
            let entry = |(row, column, value)| Entry { column, row, value };
            let list: Vec<_> = list.into_iter().map(entry).collect();
            assert_equal(rows, 30, &list, expected);
        }
    }
}
