//! [`Sorted`]: the entries of a bucket, sorted.

use favard_operator::Scalar;

use crate::csr::reserve;
use crate::error::{ErrorKind, Result};

/// A bucket that was sorted.
#[derive(Debug, Default)]
pub(super) struct Sorted<T> {
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Scalar> Sorted<T> {
    pub fn resize(&mut self, count: usize) -> Result<(), ErrorKind> {
        let more = count.saturating_sub(self.columns.len());
        reserve("column indices", &mut self.columns, more)?;
        reserve("values", &mut self.values, more)?;
        self.columns.resize(count, 0);
        self.values.resize(count, T::zero());
        Ok(())
    }

    /// Sorts entries by rows; those of a row keep their order. What comes first is number `base` of
    /// the matrix; the ends of the rows, all 0 before, are set.
    pub fn fill(
        &mut self,
        ends: &mut [usize],
        base: usize,
        places: impl Iterator<Item = (usize, u32)> + Clone,
        values: &[T],
    ) {
        places.clone().zip(values).for_each(|((row, _), _)| ends[row] += 1);
        // Where each row starts, which becomes its end as the entries are placed.
        let mut sum = base;
        for end in &mut *ends {
            sum += std::mem::replace(end, sum);
        }
        for ((row, column), &value) in places.zip(values) {
            let end = &mut ends[row];
            let at = *end - base;
            *end += 1;
            (self.columns[at], self.values[at]) = (column, value);
        }
    }

    /// [`fill`](Self::fill) for places with the row above a column of so many bits. Where they do not come
    /// in the order of the columns, those of a row are sorted too: digit by digit, between the lists
    /// of this bucket and those of the places, which are lost.
    pub fn fill_together(
        &mut self,
        ends: &mut [usize],
        base: usize,
        bits: u32,
        places: &mut [u32],
        values: &mut [T],
    ) {
        let mask = mask(bits);
        if !places.iter().map(|place| place & mask).is_sorted() {
            let count = if bits <= 24 { 2 } else { 4 };
            let digit = bits.div_ceil(count);
            // The highest digit may have bits of the row in it: the order in a row is the same.
            for number in (0..count).step_by(2) {
                let own = (&mut self.columns[..], &mut self.values[..]);
                by_digit(number * digit, digit, (places, values), own);
                let own = (&self.columns[..], &self.values[..]);
                by_digit((number + 1) * digit, digit, own, (places, values));
            }
        }
        let place = move |&place: &u32| ((place >> bits) as usize, place & mask);
        self.fill(ends, base, places.iter().map(place), values);
    }
}

/// The lowest so many bits, at most 32.
pub(super) fn mask(bits: u32) -> u32 {
    u32::MAX.checked_shr(u32::BITS - bits).unwrap_or(0)
}

/// Sorts entries by some bits of their places; those alike keep their order.
fn by_digit<T: Scalar>(
    shift: u32,
    bits: u32,
    (places, values): (&[u32], &[T]),
    (to_places, to_values): (&mut [u32], &mut [T]),
) {
    let mask = mask(bits);
    let digit = |place: u32| ((place >> shift) & mask) as usize;
    let mut next = vec![0; 1 << bits];
    places.iter().for_each(|&place| next[digit(place)] += 1);
    let mut sum = 0;
    for next in &mut next {
        sum += std::mem::replace(next, sum);
    }
    for (&place, &value) in places.iter().zip(values) {
        let next = &mut next[digit(place)];
        (to_places[*next], to_values[*next]) = (place, value);
        *next += 1;
    }
}
