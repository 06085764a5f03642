//! [`line`]: one entry of a sparse file in its usual form, without a branch that depends on lengths.

// Inlined into a loop that is compiled for the processor at hand. One branch for several questions is
// cheaper there than one for each.
#![allow(clippy::inline_always, clippy::needless_bitwise_bool)]

use crate::text::{Lanes, Tail, front_digits, nearest, number_of};

/// Bytes that are looked at: a line of up to 64, and behind its end what is read along with it.
pub(super) const WINDOW: usize = 96;

/// An entry as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Counted from 1, as the column.
    pub row: u32,
    pub col: u32,
    pub value: f64,
    /// Bytes of the line, its end included.
    pub length: usize,
}

/// 10^0, …, 10^16.
static TENS: [u64; 17] = {
    let mut tens = [1; 17];
    let mut i = 1;
    while i < tens.len() {
        tens[i] = 10 * tens[i - 1];
        i += 1;
    }
    tens
};

/// Without the lowest bit that is set.
#[inline(always)]
fn rest(mask: u64) -> u64 {
    mask & mask.wrapping_sub(1)
}

/// Where the lowest bit is, 64 when there is none.
#[inline(always)]
fn first(mask: u64) -> usize {
    mask.trailing_zeros() as usize
}

/// The entry that the text starts with when its value, if it has one, is written as a whole number of
/// at most eight digits without a sign, and nothing stands behind it: a count, as most files of whole
/// numbers have nothing else. `None` for anything else.
///
/// 27 bytes are the most that such a line has. With half the bytes to look at, no point, no exponent
/// and nothing to round, this takes less than half the instructions of [`line`].
#[inline(always)]
pub(super) fn whole<L: Lanes, const HAS_VALUES: bool>(
    lanes: L,
    text: &[u8; WINDOW],
) -> Option<Line> {
    let (others, feeds) = lanes.short_classes(text.first_chunk()?);
    let [others, feeds] = [others, feeds].map(u64::from);
    let length = first(feeds) + 1;
    let row_end = first(others);
    let others = rest(others);
    let col_end = first(others);
    let end = if HAS_VALUES { first(rest(others)) } else { col_end };
    // Below 64 all of them, or their differences are too large.
    let counts = [row_end, col_end.wrapping_sub(row_end + 1), end.wrapping_sub(col_end + 1)];
    let [row, col, value] = counts.map(|count| count.wrapping_sub(1));
    let longest = row | col | if HAS_VALUES { value } else { 0 };
    let byte = |at: usize| text[at & 63];
    let blanks = (byte(row_end) ^ b' ') | if HAS_VALUES { byte(col_end) ^ b' ' } else { 0 };
    if (longest >= 8) | (col_end > 16) | (blanks != 0) | (end + 1 != length) {
        return None;
    }
    let third = text.get((col_end & 31) + 1..)?.first_chunk()?;
    let [row, col, value] = lanes.short_numbers(text.first_chunk()?, third, counts);
    let value = if HAS_VALUES { f64::from(value) } else { 1.0 };
    Some(Line { row, col, value, length })
}

/// The entry that the text starts with: two indices of at most eight digits and, if it has one, a
/// number of at most 64 bits, with one blank between them and nothing behind. `None` for anything
/// else: longer, padded, not an entry at all, which are for a parser that takes its time; and for
/// counts, which are for [`whole`].
///
/// All bytes that are not digits are found at once; they say where everything starts and how long it
/// is. The indices and the last 16 digits of the value become numbers in one go. So the time does
/// not depend on what a processor could guess wrong, how many digits the next number has. The end of
/// the line is found by itself, first: the next line need not wait for this one.
#[inline(always)]
pub(super) fn line<L: Lanes, const HAS_VALUES: bool>(
    lanes: L,
    text: &[u8; WINDOW],
) -> Option<Line> {
    let (others, feeds) = lanes.classes(text.first_chunk()?);
    let feed = first(feeds);
    // Of the bytes behind, it is not known whether they are digits.
    if feed >= 64 {
        return None;
    }
    let length = feed + 1;
    let line_end =
        if text[feed.wrapping_sub(1) & 63] == b'\r' { feed.wrapping_sub(1) } else { feed };
    let row_end = first(others);
    let others = rest(others);
    let col_end = first(others);
    let others = rest(others);
    // From 1 to 8 digits each, and both within 16 bytes.
    let counts = [row_end, col_end.wrapping_sub(row_end + 1)];
    let is_long = (counts[0].wrapping_sub(1) | counts[1].wrapping_sub(1)) >= 8;
    if is_long | (col_end > 16) {
        return None;
    }
    let pair = text.first_chunk()?;
    if !HAS_VALUES {
        let is_entry = text[row_end] == b' ' && col_end == line_end;
        let [row, col, ..] =
            lanes.numbers(pair, counts, Tail { text: pair, count: 0, point: Tail::NONE });
        return is_entry.then_some(Line { row, col, value: 1.0, length });
    }
    if (text[row_end] ^ b' ') | (text[col_end] ^ b' ') != 0 {
        return None;
    }
    let is_negative = text[col_end + 1] == b'-';
    let at = col_end + 1 + usize::from(is_negative);
    let others = if is_negative { rest(others) } else { others };
    let point = first(others);
    let before = point.wrapping_sub(at);
    let Digits { head, start, count, point, behind, end } = if text[point] == b'.' {
        let end = first(rest(others));
        let behind = end.wrapping_sub(point + 1);
        if end.wrapping_sub(at) <= 16 {
            // All of them, around the point.
            #[allow(clippy::cast_possible_truncation)]
            let point = before as u8;
            if end == at + 1 {
                return None;
            }
            Digits { head: 0, start: at, count: before + behind, point, behind, end }
        } else if before == 1 && behind <= 16 {
            let head = u64::from(text[at] & 15) * TENS[behind];
            let (start, point) = (point + 1, Tail::NONE);
            Digits { head, start, count: behind, point, behind, end }
        } else {
            around_point(text, at, before, behind)?
        }
    } else {
        let is_count = (point + 1 == length) & (before <= 8) & !is_negative;
        if (before.wrapping_sub(1) >= 16) | is_count {
            return None;
        }
        Digits { head: 0, start: at, count: before, point: Tail::NONE, behind: 0, end: point }
    };
    let tail = Tail { text: text.get(start..)?.first_chunk()?, count, point };
    let [row, col, high, low] = lanes.numbers(pair, counts, tail);
    let digits = head + (u64::from(high) * 100_000_000 + u64::from(low));
    // At most 64 digits.
    let mut power = -(behind.cast_signed() as i64);
    if end != line_end {
        power += exponent(text, end, line_end)?;
    }
    let value = nearest(is_negative, digits, power)?;
    Some(Line { row, col, value, length })
}

/// The digits of a number: `head`, and `count` ≤ 16 more from `start` on, for which it has zeros.
struct Digits {
    head: u64,
    start: usize,
    count: usize,
    /// Where the point is among those.
    point: u8,
    /// How many of them all are behind the point.
    behind: usize,
    /// Where the digits end: at the end of the line, or at an exponent.
    end: usize,
}

/// The digits before a point and behind it, where the last 16 behind it are not all but one.
#[inline(always)]
fn around_point(text: &[u8; WINDOW], at: usize, before: usize, behind: usize) -> Option<Digits> {
    let count = behind.min(16);
    let front = before.wrapping_add(behind - count);
    // At most 7 in front, the point not counted.
    if (front | before) >= 8 || (before | behind) == 0 {
        return None;
    }
    let digits = u64::from_le_bytes(*text.get(at..)?.first_chunk()?);
    let mask = (1 << (8 * before)) - 1;
    let digits = (digits & mask) | ((digits >> 8) & !mask);
    let ten = TENS[count];
    let head = number_of(front_digits(digits, front)).checked_mul(ten)?;
    // The others are fewer than 10^count.
    head.checked_add(ten - 1)?;
    let (end, point) = (at + before + 1 + behind, Tail::NONE);
    Some(Digits { head, start: end - count, count, point, behind, end })
}

/// The exponent that is all from `at` to `end`: a mark, a sign or none, one digit or two.
#[inline(always)]
fn exponent(text: &[u8; WINDOW], at: usize, end: usize) -> Option<i64> {
    // What is behind the mark: a sign or none, a digit and the end of the line, all at once.
    const ONE: u64 = u64::from_le_bytes([b'0', b'\n', 0, 0, 0, 0, 0, 0]);
    let word = u64::from_le_bytes(*text.get(at..)?.first_chunk()?);
    let sign = (word >> 8) & 0xff;
    let is_negative = sign == u64::from(b'-');
    let is_signed = is_negative | (sign == u64::from(b'+'));
    let digit = (((word >> 8) >> (8 * u32::from(is_signed))) ^ ONE) & 0xffff;
    let is_marked = word & 0xdf == u64::from(b'E');
    let size = if is_marked & (digit <= 9) {
        digit.cast_signed()
    } else {
        longer_exponent(text, at + 1 + usize::from(is_signed), end).filter(|_| is_marked)?
    };
    Some(if is_negative { -size } else { size })
}

/// One digit or two, and any end of the line.
#[inline(always)]
fn longer_exponent(text: &[u8; WINDOW], at: usize, end: usize) -> Option<i64> {
    let is_long = end.wrapping_sub(at).wrapping_sub(1);
    let last = text.get(end.wrapping_sub(1))?.wrapping_sub(b'0');
    let first = if is_long == 1 { text.get(at)?.wrapping_sub(b'0') } else { 0 };
    let is_number = (is_long < 2) & (first <= 9) & (last <= 9);
    is_number.then(|| 10 * i64::from(first) + i64::from(last))
}
