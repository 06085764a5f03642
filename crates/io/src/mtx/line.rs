//! [`line`]: one entry of a sparse file in its usual form, without a branch that depends on lengths.

// Inlined into a loop that is compiled for the processor at hand.
#![allow(clippy::inline_always)]

use crate::text::{Lanes, front_digits, nearest, number_of};

/// Bytes that are looked at: a line of up to 64, and behind its end what is read along with it.
pub(super) const WINDOW: usize = 96;

/// An entry as it stands in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// Counted from 1, as the column.
    pub row: u32,
    pub col: u32,
    pub value: f64,
    /// Bytes of the line, its end included.
    pub length: usize,
}

/// 10^0, …, 10^16.
const TENS: [u64; 17] = {
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

#[inline(always)]
fn word(text: &[u8; WINDOW], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// The entry that the text starts with: two indices of at most eight digits and, with a value, a
/// number of at most 64 bits, with one blank between them and nothing behind. `None` for anything
/// else: longer, padded, not an entry at all. Those are for a parser that takes its time.
///
/// All bytes that are not digits are found at once; they say where everything starts and how long it
/// is. The indices and the last 16 digits of the value become numbers in one go. So the time does
/// not depend on what a processor could guess wrong, how many digits the next number has.
#[inline(always)]
pub(super) fn line<L: Lanes, const HAS_VALUE: bool>(
    lanes: L,
    text: &[u8; WINDOW],
) -> Option<Line> {
    let others = lanes.others(text.first_chunk()?);
    let row_end = first(others);
    let others = rest(others);
    let col_end = first(others);
    let mut others = rest(others);
    let col_count = col_end.wrapping_sub(row_end + 1);
    // From 1 to 8 digits.
    let is_long = (row_end.wrapping_sub(1) >= 8) | (col_count.wrapping_sub(1) >= 8);
    if is_long || text[row_end] != b' ' {
        return None;
    }
    let row = front_digits(word(text, 0)?, row_end);
    let col = front_digits(word(text, row_end + 1)?, col_count);
    if !HAS_VALUE {
        let [row, col, ..] = lanes.numbers([row, col], text.first_chunk()?, 0);
        return Some(Line { row, col, value: 1.0, length: line_length(text, col_end)? });
    }
    let mut at = col_end + 1;
    let is_negative = text[at] == b'-';
    others = if is_negative { rest(others) } else { others };
    at += usize::from(is_negative);
    // Digits before the point, and behind it.
    let point = first(others);
    let before = point.wrapping_sub(at);
    let has_point = text[point] == b'.';
    others = if has_point { rest(others) } else { others };
    let mut end = first(others);
    let behind = end.wrapping_sub(point + usize::from(has_point));
    // The last 16 behind the point, and those in front of them: fewer than 8, the point not counted.
    let tail = behind.min(16);
    let front = before.wrapping_add(behind - tail);
    if front >= 8 || before >= 8 || (before | behind) == 0 || text[col_end] != b' ' {
        return None;
    }
    let digits = word(text, at)?;
    let mask = (1 << (8 * before)) - 1;
    let head = number_of(front_digits(digits & mask | digits >> 8 & !mask, front));
    let bytes = text.get(end.wrapping_sub(tail)..)?.first_chunk()?;
    let [row, col, high, low] = lanes.numbers([row, col], bytes, tail);
    let digits = head
        .checked_mul(TENS[tail])?
        .checked_add(u64::from(high) * 100_000_000 + u64::from(low))?;
    // At most 64.
    let mut power = -(behind.cast_signed() as i64);
    if text[end] | 0x20 == b'e' {
        others = rest(others);
        let sign = text[end + 1];
        let is_signed = (sign == b'-') | (sign == b'+');
        others = if is_signed { rest(others) } else { others };
        let start = end + 1 + usize::from(is_signed);
        end = first(others);
        let count = end.wrapping_sub(start);
        if count.wrapping_sub(1) >= 3 {
            return None;
        }
        let exponent = number_of(front_digits(word(text, start)?, count)).cast_signed();
        power += if sign == b'-' { -exponent } else { exponent };
    }
    let value = nearest(digits, power)?;
    let value = f64::from_bits(value.to_bits() | u64::from(is_negative) << 63);
    Some(Line { row, col, value, length: line_length(text, end)? })
}

/// The length with the line's end, which must be at `end`, and in the part whose digits are known.
#[inline(always)]
fn line_length(text: &[u8; WINDOW], end: usize) -> Option<usize> {
    if end >= 64 {
        return None;
    }
    if text[end] == b'\n' {
        return Some(end + 1);
    }
    (text[end] == b'\r' && text[end + 1] == b'\n').then_some(end + 2)
}
