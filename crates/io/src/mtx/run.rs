//! [`Run`]: lines in their usual form, read one after the other.

// What carries the instruction set into the loops; and one branch for several questions is cheaper
// there than one for each.
#![allow(clippy::inline_always, clippy::needless_bitwise_bool)]

use favard_operator::Scalar;

use super::line::{Line, WINDOW, line, short, whole};
use crate::csr::Entry;
use crate::text::Lanes;

/// Lines that follow each other, on their way into the list.
pub(super) struct Run<'a, T> {
    pub text: &'a [u8],
    /// Where the next line starts.
    pub next: usize,
    pub slots: &'a mut [Entry<T>],
    /// Where its entry goes.
    pub at: usize,
    pub rows: u64,
    pub cols: u64,
}

impl<T: Scalar> Run<'_, T> {
    /// Reads lines as long as they are of a usual form, there is room, and nothing is wrong.
    #[inline(always)]
    pub fn lines<L: Lanes, const HAS_VALUES: bool>(&mut self, lanes: L) {
        // Most files have values of one form in all their lines: one loop for each.
        loop {
            let before = self.at;
            self.all(|text| whole::<L, HAS_VALUES>(lanes, text));
            if HAS_VALUES {
                self.all(|text| short(lanes, text));
            }
            self.all(|text| line::<L, HAS_VALUES>(lanes, text));
            if self.at == before {
                break;
            }
        }
    }

    /// Reads lines of the form that is asked for.
    #[inline(always)]
    fn all(&mut self, read: impl Fn(&[u8; WINDOW]) -> Option<Line>) {
        let limits = self.limits();
        let mut left = self.text.get(self.next..).unwrap_or_default();
        let slots = self.slots.get_mut(self.at..).unwrap_or_default();
        let mut count = 0;
        for slot in slots {
            let Some(line) = left.first_chunk().and_then(&read) else { break };
            let Some(entry) = entry(&line, limits) else { break };
            *slot = entry;
            left = &left[line.length..];
            count += 1;
        }
        self.next = self.text.len() - left.len();
        self.at += count;
    }

    /// The numbers of rows and columns.
    fn limits(&self) -> [u32; 2] {
        [self.rows, self.cols].map(|size| u32::try_from(size).unwrap_or(u32::MAX))
    }
}

/// The entry of a line, when it is one of the matrix and its value is finite.
#[inline(always)]
fn entry<T: Scalar>(line: &Line, [rows, cols]: [u32; 2]) -> Option<Entry<T>> {
    // An index that is 0 becomes the largest one, which is never below these limits.
    let place = line.place.wrapping_sub((1 << 32) | 1);
    // The halves.
    #[allow(clippy::cast_possible_truncation)]
    let (row, column) = ((place >> 32) as u32, place as u32);
    let value = T::of(line.value);
    // No number of these forms is infinite in f64.
    let is_finite = size_of::<T>() == size_of::<f64>() || value.is_finite();
    ((row < rows) & (column < cols) & is_finite).then_some(Entry { column, row, value })
}
