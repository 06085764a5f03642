//! [`Group`]: buckets that one task sorts.

use std::mem;

use favard_operator::Scalar;

use super::moving::{Ends, Moving};
use super::sorted::Sorted;
use super::{Bucket, CHUNK, Lists, SHARE};
use crate::csr::reserve;
use crate::error::ErrorKind;

/// Buckets that follow each other. Their entries go to where the first of them stands or before it, one
/// behind the other: each over what was there, which has moved by then.
pub(super) struct Group<'a, T> {
    buckets: &'a [Bucket],
    /// Of all rows of the buckets.
    ends: &'a mut [usize],
    /// Where the entries go, and where they stand but for the last ones.
    lists: Lists<'a, T>,
    /// Copies of those that stand where the entries of the next group go.
    late: (Vec<u32>, Vec<T>),
    /// Where the first bucket stands, the first with a copy, and the first entry goes.
    from: usize,
    late_from: usize,
    to: usize,
}

/// Where places and rows are.
#[derive(Clone, Copy)]
pub(super) enum Form<'a> {
    /// Rows in lists of their own.
    Apart(&'a [u16]),
    /// Rows above columns of so many bits.
    Together(u32),
}

/// Where each bucket stands and where its entries go; and the ends of both.
struct Places(Vec<(usize, usize)>);

impl Places {
    fn new(buckets: &[Bucket]) -> Self {
        let mut at = (0, 0);
        let mut next = |bucket: &Bucket| {
            let room = bucket.chunks.len() * CHUNK;
            let next = (at.0 + room, at.1 + bucket.count);
            mem::replace(&mut at, next)
        };
        let mut list: Vec<_> = buckets.iter().map(&mut next).collect();
        list.push(at);
        Self(list)
    }

    /// The first bucket with entries that stand where those of number `cut` go, or behind.
    fn late(&self, buckets: &[Bucket], cut: usize) -> usize {
        let (_, to) = self.0[cut];
        let is_late = |i: &usize| self.0[*i].0 + buckets[*i].count > to;
        (0..cut).rev().take_while(is_late).last().unwrap_or(cut)
    }

    /// Entries that are copied for a group to begin at that bucket.
    fn cost(&self, buckets: &[Bucket], cut: usize) -> usize {
        self.0[cut].0 - self.0[self.late(buckets, cut)].0
    }

    /// The first buckets of groups of about the same size, for so many threads.
    fn cuts(&self, buckets: &[Bucket], threads: usize) -> Vec<usize> {
        let total = self.0[buckets.len()].1;
        let most = total / SHARE;
        let mut groups = 4 * threads;
        loop {
            let at = |i: usize| self.0.partition_point(|&(_, to)| to < total / groups * i);
            let mut cuts: Vec<usize> = (1..groups).map(at).collect();
            cuts.dedup();
            let is_cut = |&cut: &usize| cut > 0 && cut < buckets.len();
            cuts.retain(|cut| is_cut(cut) && self.cost(buckets, *cut) <= most);
            if cuts.iter().map(|&cut| self.cost(buckets, cut)).sum::<usize>() <= most {
                cuts.insert(0, 0);
                return cuts;
            }
            groups = groups.div_ceil(2);
        }
    }
}

impl<'a, T: Scalar> Group<'a, T> {
    /// Groups for so many threads.
    pub fn all(
        buckets: &'a [Bucket],
        mut ends: &'a mut [usize],
        (mut columns, mut values): Lists<'a, T>,
        threads: usize,
    ) -> Result<Vec<Self>, ErrorKind> {
        let places = Places::new(buckets);
        let mut cuts = places.cuts(buckets, threads);
        cuts.push(buckets.len());
        let mut groups = Vec::with_capacity(cuts.len());
        for pair in cuts.windows(2) {
            let (first, end) = (pair[0], pair[1]);
            let ((from, to), (end_from, end_to)) = (places.0[first], places.0[end]);
            // Behind the last group nothing is written to.
            let is_last = end == buckets.len();
            let late_from = if is_last { end_from } else { places.0[places.late(buckets, end)].0 };
            let late_from = late_from.max(from);
            let copied = late_from - to..end_from - to;
            let mut late = (Vec::new(), Vec::new());
            reserve("column indices", &mut late.0, copied.len())?;
            reserve("values", &mut late.1, copied.len())?;
            late.0.extend_from_slice(&columns[copied.clone()]);
            late.1.extend_from_slice(&values[copied]);
            let size = if is_last { columns.len() } else { end_to - to };
            let buckets = &buckets[first..end];
            let rows = buckets.iter().map(|bucket| 1 << bucket.shift).sum::<usize>();
            let (here_columns, here_values, here_ends);
            (here_columns, columns) = columns.split_at_mut(size);
            (here_values, values) = values.split_at_mut(size);
            (here_ends, ends) = ends.split_at_mut(rows.min(ends.len()));
            let lists = (here_columns, here_values);
            groups.push(Self { buckets, ends: here_ends, lists, late, from, late_from, to });
        }
        Ok(groups)
    }

    /// Sorts the buckets; whether the columns of each row increase.
    pub fn sort(self, form: Form<'_>) -> Result<bool, ErrorKind> {
        let Self { buckets, mut ends, lists, mut late, from, late_from, to } = self;
        let (start, mut from, mut to) = (to, from, to);
        let (mut room, mut increase) = (Sorted::default(), true);
        for bucket in buckets {
            let (count, list);
            count = bucket.count;
            (list, ends) = ends.split_at_mut(ends.len().min(1 << bucket.shift));
            let ends = Ends { list, base: to };
            let own = from.checked_sub(late_from).map(|at| {
                let at = at..at + count;
                (&mut late.0[at.clone()], &mut late.1[at])
            });
            let lists = (&mut *lists.0, &mut *lists.1);
            let moving = Moving { lists, to: to - start, from: from - start, own, count };
            increase &= if bucket.shift == 0 {
                moving.one_row(ends)
            } else {
                room.resize(count)?;
                match form {
                    Form::Apart(rows) => moving.by_rows(&rows[from..], ends, &mut room),
                    Form::Together(bits) => moving.by_places(bits, ends, &mut room),
                }
            };
            (from, to) = (from + bucket.chunks.len() * CHUNK, to + count);
        }
        Ok(increase)
    }
}
