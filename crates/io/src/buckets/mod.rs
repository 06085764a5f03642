//! [`Buckets`]: entries in any order become a sparse matrix in little more than its own room.

mod arrange;
mod group;
mod moving;
mod sorted;
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

/// About as many entries as a bucket has at least: a chunk that is half empty does not count there.
const LEAST: usize = TASK / 4;

/// A row of a bucket is stored as 16 bits at most, where it has a list of its own.
const LONGEST: u32 = 16;

/// Of all entries, the part that more room is taken for while they are sorted; and again for groups of
/// buckets to be sorted at the same time.
const SHARE: usize = 32;

/// Places, or columns, and values of entries.
type Lists<'a, T> = (&'a mut [u32], &'a mut [T]);

/// Entries are collected in buckets of neighbouring rows, in the order they come; then bucket after
/// bucket is sorted by rows.
///
/// A bucket is a list of chunks. All chunks live in the lists that become the matrix: the row within
/// the bucket stands above the column in the same 32 bits, or, where it does not fit there, in
/// 16 bits beside them. In the end the chunks are put in the order of the buckets, in
/// place. So the peak is 12 bytes for each entry, as many as the matrix has (or 14), and at most 0.8
/// while the buckets are sorted. (Chunks that the allocator is to take back one by one would have to be
/// 16 bytes for each entry, and it may keep them.)
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    rows: usize,
    cols: usize,
    cut: Cut,
    store: Store<T>,
}

/// Some rows, cut into buckets that are being filled.
#[derive(Debug)]
struct Cut {
    first: usize,
    shift: u32,
    /// Where the next entry of each bucket goes; at a multiple of [`CHUNK`] it needs another chunk.
    next: Vec<usize>,
    chunks: Vec<Vec<u32>>,
}

/// Rows that follow each other: 2^shift of them from the first on, as far as there are so many.
#[derive(Debug)]
struct Bucket {
    first: usize,
    shift: u32,
    /// Its entries. All chunks but the last are full.
    count: usize,
    chunks: Vec<u32>,
}

impl<T: Scalar> Buckets<T> {
    /// Buckets for about that many entries, with room for them where `is_certain` says that they come.
    pub fn new(
        (rows, cols): (usize, usize),
        entries: usize,
        is_certain: bool,
    ) -> Result<Self, ErrorKind> {
        let (shift, column_bits) = (shift_of(rows, entries), bits(cols));
        let is_apart = shift + column_bits >= u32::BITS;
        let shift = if is_apart { shift.min(LONGEST) } else { shift };
        let cut = Cut::new(0, rows, shift);
        let mut store = Store::new(column_bits, is_apart);
        if is_certain {
            store.reserve(entries.saturating_add(CHUNK * cut.next.len()))?;
        }
        Ok(Self { rows, cols, cut, store })
    }

    /// Takes up the next entries.
    pub fn push(&mut self, entries: &[Entry<T>]) -> Result<(), ErrorKind> {
        self.store.put(&mut self.cut, entries)
    }

    /// The matrix.
    pub fn finish(self) -> Result<Csr<'static, T>, ErrorKind> {
        let Self { rows, cols, cut, mut store } = self;
        let list: Vec<Bucket> = cut.buckets().collect();
        let total = list.iter().map(|bucket| bucket.count).sum::<usize>();
        // What the threads sort at a time, in room of its own.
        let most = (total / SHARE / rayon::current_num_threads()).max(TASK);
        let list = split(list, rows, most, &mut store)?;
        store.arrange(&list);
        let mut pointers = zeros("row pointers", 0_usize, rows + 1)?;
        let is_increasing = store.sort(&list, &mut pointers[1..])?;
        let (mut columns, mut values) = store.into_lists();
        columns.truncate(total);
        columns.shrink_to_fit();
        values.truncate(total);
        values.shrink_to_fit();
        if is_increasing {
            return Ok(Csr::new((rows, cols), pointers, columns, values)?);
        }
        csr::finish(cols, pointers, columns, values)
    }
}

/// Cuts buckets of more than so many entries further, down to single rows, which need no sorting.
fn split<T: Scalar>(
    mut left: Vec<Bucket>,
    rows: usize,
    most: usize,
    store: &mut Store<T>,
) -> Result<Vec<Bucket>, ErrorKind> {
    let mut list = Vec::with_capacity(left.len());
    left.reverse();
    while let Some(bucket) = left.pop() {
        if bucket.count <= most || bucket.shift == 0 {
            list.push(bucket);
            continue;
        }
        let rows = rows.min(bucket.first + (1 << bucket.shift)) - bucket.first;
        let shift = shift_of(rows, bucket.count).min(bucket.shift - 1);
        let (mut cut, mut chunk) = (Cut::new(bucket.first, rows, shift), Vec::new());
        for (i, &number) in bucket.chunks.iter().enumerate() {
            chunk.clear();
            chunk.extend(store.entries(number, CHUNK.min(bucket.count - i * CHUNK)));
            store.free.push(number);
            store.put(&mut cut, &chunk)?;
        }
        let start = left.len();
        left.extend(cut.buckets());
        left[start..].reverse();
    }
    Ok(list)
}

/// The bits of a row within its bucket, where so many rows hold so many entries.
fn shift_of(rows: usize, entries: usize) -> u32 {
    let buckets = (entries / LEAST).clamp(1, MOST);
    bits(rows.div_ceil(buckets))
}

/// The bits of an index below a number.
fn bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

impl Cut {
    /// Empty buckets.
    fn new(first: usize, rows: usize, shift: u32) -> Self {
        let count = rows.div_ceil(1 << shift);
        Self { first, shift, next: vec![0; count], chunks: vec![Vec::new(); count] }
    }

    /// The bucket of a row, and the row in it.
    #[inline]
    fn place(&self, row: u32) -> (usize, u32) {
        ((row >> self.shift) as usize, row & ((1 << self.shift) - 1))
    }

    /// What they were filled with.
    fn buckets(self) -> impl Iterator<Item = Bucket> {
        let Self { first, shift, next, chunks } = self;
        let firsts = (first..).step_by(1 << shift);
        firsts.zip(next.into_iter().zip(chunks)).map(move |(first, (next, chunks))| {
            let count = chunks
                .split_last()
                .map_or(0, |(&last, full)| full.len() * CHUNK + next - last as usize * CHUNK);
            Bucket { first, shift, count, chunks }
        })
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
            let mut buckets = Buckets::new((rows, cols), expected, is_certain).unwrap();
            entries.chunks(3001).for_each(|list| buckets.push(list).unwrap());
            let found = buckets.finish().unwrap();
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

    /// Several buckets, with few rows and many, and buckets that are cut again; places
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
            // Long columns: more digits.
            (40, 1 << 28, 1),
            // Rows and columns that do not fit in one number.
            (300_000, 1 << 25, 1),
            (700, 1 << 32, 20),
            (1 << 20, 1 << 31, 60),
        ] {
            let list = entries(count, rows, cols, power);
            // As the header says, and where it said too much.
            for expected in [count, 300 * TASK] {
                assert_equal(rows, cols, &list, expected);
            }
        }
    }

    /// So many that there are groups, of which one begins where another one's entries stand.
    #[test]
    fn groups_do_not_wait_for_each_other() {
        let count = 40 * TASK;
        for (rows, cols, power) in [
            (50_000, 3_000, 1),
            // In the first rows nearly all, and a row with more than a share of them.
            (50_000, 3_000, 40),
            (1 << 20, 1 << 31, 3),
        ] {
            assert_equal(rows, cols, &entries(count, rows, cols, power), count);
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
