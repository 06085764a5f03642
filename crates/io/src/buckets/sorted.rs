//! [`Sorted`]: room that the entries of a bucket are sorted in.

use favard_operator::Scalar;

use super::Lists;
use crate::csr::{reserve, starts};
use crate::error::{ErrorKind, Result};

/// Room for the entries of a bucket, used for one after the other.
#[derive(Debug, Default)]
pub(super) struct Sorted<T> {
    columns: Vec<u32>,
    values: Vec<T>,
    /// Where the next entry with each digit goes.
    next: Vec<usize>,
}

/// Some bits of a place: so many, from a lowest one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digit {
    pub bits: u32,
    pub lowest: u32,
}

impl<T: Scalar> Sorted<T> {
    /// Makes room for so many.
    pub fn resize(&mut self, count: usize) -> Result<(), ErrorKind> {
        if let Some(more) = count.checked_sub(self.columns.len()) {
            reserve("column indices", &mut self.columns, more)?;
            reserve("values", &mut self.values, more)?;
            self.columns.resize(count, 0);
            self.values.resize(count, T::zero());
        }
        Ok(())
    }

    /// Takes entries up by rows; those of a row keep their order. `ends`, where the rows start, become
    /// where they end.
    #[inline]
    pub fn take_by_rows(
        &mut self,
        ends: &mut [usize],
        base: usize,
        places: impl Iterator<Item = (usize, u32)>,
        values: &[T],
    ) {
        // Of the same length, and nothing that could change as they are written to.
        let (to_columns, to_values) = (&mut self.columns[..], &mut self.values[..]);
        let to_values = &mut to_values[..to_columns.len()];
        for ((row, column), &value) in places.zip(values) {
            let end = &mut ends[row];
            let at = *end - base;
            *end += 1;
            (to_columns[at], to_values[at]) = (column, value);
        }
    }

    /// Takes entries up by a digit of their places; those alike keep their order.
    pub fn take(&mut self, digit: Digit, (places, values): Lists<'_, T>) {
        let to = (&mut self.columns[..], &mut self.values[..]);
        by_digit(&mut self.next, digit, u32::MAX, (places, values), to);
    }

    /// Hands entries on by a digit of their places; those alike keep their order.
    pub fn give(&mut self, digit: Digit, to: Lists<'_, T>) {
        self.give_masked(digit, u32::MAX, to);
    }

    /// The same, of each place only the bits of a mask.
    pub fn give_masked(&mut self, digit: Digit, mask: u32, to: Lists<'_, T>) {
        let from = (&self.columns[..to.0.len()], &self.values[..to.0.len()]);
        by_digit(&mut self.next, digit, mask, from, to);
    }

    /// Hands entries on.
    pub fn copy_to(&self, (columns, values): Lists<'_, T>) {
        columns.copy_from_slice(&self.columns[..columns.len()]);
        values.copy_from_slice(&self.values[..values.len()]);
    }
}

fn by_digit<T: Scalar>(
    next: &mut Vec<usize>,
    digit: Digit,
    kept: u32,
    (places, values): (&[u32], &[T]),
    (to_places, to_values): Lists<'_, T>,
) {
    let (lowest, digits) = (digit.lowest, mask(digit.bits));
    let of = move |place: u32| ((place >> lowest) & digits) as usize;
    next.clear();
    next.resize(1 << digit.bits, 0);
    let next = &mut next[..];
    places.iter().for_each(|&place| next[of(place)] += 1);
    starts(0, next);
    let to_values = &mut to_values[..to_places.len()];
    for (&place, &value) in places.iter().zip(values) {
        let next = &mut next[of(place)];
        (to_places[*next], to_values[*next]) = (place & kept, value);
        *next += 1;
    }
}

/// The lowest so many bits, at most 32.
pub(super) fn mask(bits: u32) -> u32 {
    u32::MAX.checked_shr(u32::BITS - bits).unwrap_or(0)
}
