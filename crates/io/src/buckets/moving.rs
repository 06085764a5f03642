//! [`Moving`]: a bucket on its way to where its rows belong.

use favard_operator::Scalar;

use super::Lists;
use super::sorted::{Digit, Sorted, mask};
use crate::csr::starts;

/// A bucket, where it stands and where it goes: no further to the back, and maybe into itself.
pub(super) struct Moving<'a, T> {
    /// The lists it goes to, and from where on.
    pub lists: Lists<'a, T>,
    pub to: usize,
    /// Where it stands in the same lists, unless it has lists of its own.
    pub from: usize,
    pub own: Option<Lists<'a, T>>,
    pub count: usize,
}

/// Where the rows of a bucket end.
pub(super) struct Ends<'a> {
    /// Of each row: 0 so far.
    pub list: &'a mut [usize],
    /// What comes first has this number in the matrix.
    pub base: usize,
}

/// Bits of a digit at most where two of them hold a place: entries of a bucket are few for each, but they and
/// where the next of each digit goes stay in a second-level cache.
const HALF: u32 = 13;

impl Ends<'_> {
    /// From where each row starts to where it ends; the last one behind so many entries.
    fn close(&mut self, count: usize) {
        self.list.rotate_left(1);
        if let Some(last) = self.list.last_mut() {
            *last = self.base + count;
        }
    }

    /// Counts rows, and sums up: each end is where its row starts.
    fn start(&mut self, rows: impl Iterator<Item = usize>) {
        let list = &mut *self.list;
        rows.for_each(|row| list[row] += 1);
        starts(self.base, list);
    }

    /// Whether the columns of each row increase.
    fn increase(&self, columns: &[u32]) -> bool {
        let pairs = columns.iter().zip(columns.iter().skip(1));
        let mut falls = pairs.fold(0_u64, |falls, (a, b)| falls + u64::from(a >= b));
        // Between two rows it may fall: each such place once, however many rows without entries end
        // there.
        let mut before = 0;
        for end in self.list.iter().map(|end| end - self.base) {
            if end > before && end < columns.len() {
                falls -= u64::from(columns[end - 1] >= columns[end]);
            }
            before = end;
        }
        falls == 0
    }
}

impl<T: Scalar> Moving<'_, T> {
    fn source(&mut self) -> Lists<'_, T> {
        let from = self.from..self.from + self.count;
        match &mut self.own {
            Some((columns, values)) => (columns, values),
            None => (&mut self.lists.0[from.clone()], &mut self.lists.1[from]),
        }
    }

    fn target(&mut self) -> Lists<'_, T> {
        let to = self.to..self.to + self.count;
        (&mut self.lists.0[to.clone()], &mut self.lists.1[to])
    }

    /// A single row, in the order it has. Here and below: whether the columns of each row increase.
    pub fn one_row(mut self, ends: Ends<'_>) -> bool {
        ends.list[0] = ends.base + self.count;
        let (from, to) = (self.from..self.from + self.count, self.to);
        if let Some((columns, values)) = self.own.take() {
            self.target().0.copy_from_slice(columns);
            self.target().1.copy_from_slice(values);
        } else {
            self.lists.0.copy_within(from.clone(), to);
            self.lists.1.copy_within(from, to);
        }
        ends.increase(self.target().0)
    }

    /// Sorted by rows, which have a list of their own; those of a row keep their order.
    pub fn by_rows(mut self, rows: &[u16], mut ends: Ends<'_>, room: &mut Sorted<T>) -> bool {
        let rows = rows[..self.count].iter().map(|&row| usize::from(row));
        ends.start(rows.clone());
        let (columns, values) = self.source();
        room.take_by_rows(ends.list, ends.base, rows.zip(columns.iter().copied()), values);
        room.copy_to(self.target());
        ends.increase(self.target().0)
    }

    /// Sorted by places: rows above columns, which have so many bits.
    pub fn by_places(mut self, bits: u32, mut ends: Ends<'_>, room: &mut Sorted<T>) -> bool {
        let (mask, row) = (mask(bits), move |place: u32| (place >> bits) as usize);
        let (places, _) = self.source();
        ends.start(places.iter().map(|&place| row(place)));
        if !is_sorted(places, mask) {
            let all = bits + super::bits(ends.list.len());
            if all <= 2 * HALF {
                // Rows and columns in two digits: out of the way, and to where they go.
                let low = all.div_ceil(2);
                room.take(Digit { bits: low, lowest: 0 }, self.source());
                room.give_masked(Digit { bits: all - low, lowest: low }, mask, self.target());
                ends.close(self.count);
                return ends.increase(self.target().0);
            }
            // Columns digit by digit, there and back, once or twice; the highest digit may have bits of the
            // row in it, which do not change the order in a row.
            let count = if bits <= 24 { 2 } else { 4 };
            let each = bits.div_ceil(count);
            let digit = |number: u32| Digit { bits: each, lowest: number * each };
            for number in (0..count).step_by(2) {
                room.take(digit(number), self.source());
                room.give(digit(number + 1), self.source());
            }
        }
        let (places, values) = self.source();
        let places = places.iter().map(|&place| (row(place), place & mask));
        room.take_by_rows(ends.list, ends.base, places, values);
        room.copy_to(self.target());
        ends.increase(self.target().0)
    }
}

/// Whether places do not decrease, only the bits of the mask looked at.
// Without a way out of the inner loop, it is compiled to vector code.
#[allow(clippy::needless_bitwise_bool)]
fn is_sorted(places: &[u32], mask: u32) -> bool {
    let parts = (0..places.len()).step_by(256).map(|start| &places[start..]);
    parts.into_iter().all(|later| {
        let pairs = later.iter().zip(later.iter().skip(1)).take(256);
        !pairs.fold(false, |falls, (a, b)| falls | (a & mask > b & mask))
    })
}
