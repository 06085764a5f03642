//! [`Short`]: a sparse row of a few entries, in registers.

// Inlining carries the instruction set into the loops: see `lanes`.
#![allow(clippy::inline_always)]

use super::Values;
use super::lanes::{Source, Target};
use crate::{Column, Scalar};

/// The columns and values of a row of L entries.
///
/// With one number for each column, a row of five entries (categories, choices) is over before a loop
/// over any number of them has begun. $A^T A x$ for a million such rows in 26,250 columns takes 115
/// instructions a row instead of 180, and 1.7 ns an entry instead of 2.5 (one thread, best of 60 in
/// four runs).
#[derive(Debug, Clone, Copy)]
pub(super) struct Short<T, const L: usize> {
    columns: [usize; L],
    values: [T; L],
}

/// The entries of the longest of them. With ten, a least-squares problem of 112 steps (`--bench least_squares`, the correlated
/// one) takes 0.18 s instead of 0.22.
pub(super) const MOST: usize = 12;

/// Asks by `hint` for the rows of the columns `ahead`, if given.
#[inline(always)]
pub(super) fn ask<I: Column>(ahead: Option<&[I]>, hint: impl Fn(usize)) {
    if let Some(ahead) = ahead {
        for column in ahead {
            hint(column.at());
        }
    }
}

/// Runs an expression with the constant `$l` equal to a number from 1 to 12; for others does nothing.
macro_rules! with_length {
    ($length:expr, $l:ident => $body:expr) => {
        with_length!(@ $length, $l, $body, 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    (@ $length:expr, $l:ident, $body:expr, $($number:literal)*) => {
        match $length {
            $($number => {
                const $l: usize = $number;
                $body
            })*
            _ => {}
        }
    };
}
pub(super) use with_length;

impl<T: Scalar, const L: usize> Short<T, L> {
    /// The first L entries of a row, if it has as many.
    #[inline(always)]
    pub fn new<I: Column>(columns: &[I], values: impl Values<T>) -> Option<Self> {
        let columns = columns.first_chunk::<L>()?.map(Column::at);
        Some(Self { columns, values: values.chunks::<L>().0.next()? })
    }

    /// Σ_c v_c x_c in the order of [`gather`](super::lanes::gather) for one number a row: entry e goes to
    /// sum e mod 4.
    #[inline(always)]
    pub fn gather<const W: usize>(self, x: impl Source<T, W>) -> [T; W] {
        let mut sums = [[T::zero(); W]; 4];
        for e in 0..L {
            x.add(&mut sums[e % 4], self.columns[e], self.values[e]);
        }
        std::array::from_fn(|j| (sums[0][j] + sums[2][j]) + (sums[1][j] + sums[3][j]))
    }

    /// y_c ← y_c + v_c z
    #[inline(always)]
    pub fn scatter<const W: usize>(self, z: [T; W], y: &mut (impl Target<T, W> + ?Sized)) {
        for e in 0..L {
            let row = y.at(self.columns[e]);
            (0..W).for_each(|j| row[j] += self.values[e] * z[j]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Packed, gather_by};
    use super::*;

    /// Values that are not exact, so that another order of the sums shows; as columns, every third.
    fn numbers(count: usize, seed: f64) -> Vec<f64> {
        (0..count).map(|i| (seed + i as f64).sin()).collect()
    }

    fn compare<const L: usize>() {
        let (values, x) = (numbers(L, 0.5), numbers(3 * L + 1, 7.25));
        let x: Vec<[f64; 1]> = x.into_iter().map(|x| [x]).collect();
        let columns: Vec<u32> = (0..).step_by(3).take(L).collect();
        let row = Short::<f64, L>::new(&columns, &values[..]).unwrap();
        // As a row of any length.
        let wanted =
            gather_by::<f64, 1, u32, 4, false>(&columns, &values[..], &columns, Packed(&x));
        let found = row.gather(Packed(&x));
        assert_eq!(found[0].to_bits(), wanted[0].to_bits(), "{L}");
        let mut y = x.clone();
        row.scatter(found, &mut y[..]);
        for (i, (y, x)) in y.iter().zip(&x).enumerate() {
            let entry = columns.iter().position(|&column| column as usize == i);
            let wanted = entry.map_or(x[0], |e| x[0] + values[e] * found[0]);
            assert_eq!(y[0].to_bits(), wanted.to_bits(), "{L}");
        }
    }

    #[test]
    fn short_rows_have_the_bits_of_long_ones() {
        for length in 0..=MOST + 1 {
            let mut compared = false;
            with_length!(length, L => {
                compare::<L>();
                compared = true;
            });
            assert_eq!(compared, (1..=MOST).contains(&length));
        }
    }
}
