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
    /// The row in the upper half and the column, counted from 1; 0 where they are not as they should
    /// be.
    pub place: u64,
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

/// The two indices that a line starts with.
struct Indices {
    /// Where they end.
    ends: [usize; 2],
    /// Behind the second, what are not digits.
    others: u64,
}

impl Indices {
    /// Of a line whose bytes `others` are not digits; `None` without a blank behind the first one and,
    /// if there is a value, behind the second. That they are numbers is yet to be seen.
    #[inline(always)]
    fn find<const HAS_VALUES: bool>(text: &[u8; WINDOW], others: u64) -> Option<Self> {
        let row_end = first(others);
        let others = rest(others);
        let col_end = first(others);
        let blanks = (text[row_end] ^ b' ') | if HAS_VALUES { text[col_end] ^ b' ' } else { 0 };
        (blanks == 0).then_some(Self { ends: [row_end, col_end], others })
    }
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
    let (others, feed) = (u64::from(others), first(feeds.into()));
    let Indices { ends, others } = Indices::find::<HAS_VALUES>(text, others)?;
    let col_end = ends[1];
    let end = if HAS_VALUES { first(rest(others)) } else { col_end };
    let count = if HAS_VALUES { end.wrapping_sub(col_end + 1) } else { 0 };
    if (HAS_VALUES & (count.wrapping_sub(1) >= 8)) | (end != feed) {
        return None;
    }
    let tail = Tail { text: text[col_end + 1..].first_chunk()?, count, point: Tail::NONE };
    let (place, value) = lanes.numbers(text.first_chunk()?, ends, tail);
    let value = if HAS_VALUES { value.cast_signed() as f64 } else { 1.0 };
    Some(Line { place, value, length: feed + 1 })
}

/// The entry that the text starts with when its value has a point, at most 15 digits around it and no
/// exponent, and the line at most 32 bytes; `None` for anything else.
///
/// The digits and the power of ten behind the point are numbers without error: their quotient is
/// rounded once, as it should be.
#[inline(always)]
pub(super) fn short<L: Lanes>(lanes: L, text: &[u8; WINDOW]) -> Option<Line> {
    let (others, feeds) = lanes.short_classes(text.first_chunk()?);
    let (others, feed) = (u64::from(others), first(feeds.into()));
    let Indices { ends, .. } = Indices::find::<true>(text, others)?;
    let Value { is_negative, at, before, end } = Value::find(text, ends[1], others);
    let behind = end.wrapping_sub(before + 1);
    // A digit and the point at least.
    let is_long = end.wrapping_sub(2) > 14;
    if is_long | (text[(at + before) & 63] != b'.') | (at + end != feed) {
        return None;
    }
    let tail = tail(text, at, end - 1, before);
    let (place, digits) = lanes.numbers(text.first_chunk()?, ends, tail);
    let value = digits.cast_signed() as f64 / POWERS[behind & 15];
    let value = f64::from_bits(value.to_bits() | (u64::from(is_negative) << 63));
    Some(Line { place, value, length: feed + 1 })
}

/// 10^0, …, 10^15.
static POWERS: [f64; 16] = {
    let mut powers = [1.0; 16];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = TENS[i] as f64;
        i += 1;
    }
    powers
};

/// `count` digits from `at` on, with a point behind `before` of them.
#[inline(always)]
fn tail(text: &[u8; WINDOW], at: usize, count: usize, before: usize) -> Tail<'_> {
    // At most 64.
    #[allow(clippy::cast_possible_truncation)]
    let point = before as u8;
    let (text, _) = text[at & 63..].split_first_chunk().unwrap_or((&[0; 16], &[]));
    Tail { text, count, point }
}

/// Where a value is in its line.
struct Value {
    is_negative: bool,
    /// Where the first digit stands, or the point.
    at: usize,
    /// Digits in front of the first byte that is none.
    before: usize,
    /// Bytes in front of the second.
    end: usize,
}

impl Value {
    /// Behind a blank.
    #[inline(always)]
    fn find(text: &[u8; WINDOW], blank: usize, others: u64) -> Self {
        let is_negative = text[blank + 1] == b'-';
        let at = blank + 1 + usize::from(is_negative);
        #[allow(clippy::cast_possible_truncation)]
        let others = others.wrapping_shr(at as u32);
        Self { is_negative, at, before: first(others), end: first(rest(others)) }
    }
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
    let Indices { ends, .. } = Indices::find::<HAS_VALUES>(text, others)?;
    if !HAS_VALUES {
        let pair = text.first_chunk()?;
        let none = Tail { text: pair, count: 0, point: Tail::NONE };
        let (place, _) = lanes.numbers(pair, ends, none);
        let line = Line { place, value: 1.0, length: feed + 1 };
        return (ends[1] == line_end(text, feed)).then_some(line);
    }
    let Value { is_negative, at, before, end } = Value::find(text, ends[1], others);
    let point = (at + before) & 63;
    let behind = end.wrapping_sub(before + 1);
    let found = Found { text, feed, ends, is_negative };
    if text[point] != b'.' {
        let is_count = (point == feed) & (before <= 8) & !is_negative;
        if (before.wrapping_sub(1) >= 16) | is_count {
            return None;
        }
        let tail = tail(text, at, before, NONE);
        return found.read(lanes, Digits { head: 0, tail, behind: 0, end: point });
    }
    // One digit in front of the point and up to 16 behind it: the usual form of long numbers, for
    // which the rest is compiled by itself.
    if end > 16 && before == 1 && behind <= 16 {
        let head = u64::from(text[at & 63] & 15) * TENS[behind];
        let tail = tail(text, at + 2, behind, NONE);
        return found.read(lanes, Digits { head, tail, behind, end: at + end });
    }
    let digits = if end > 16 {
        around_point(text, at, before, behind)?
    } else if end > 1 {
        // All of them, around the point.
        Digits { head: 0, tail: tail(text, at, end - 1, before), behind, end: at + end }
    } else {
        return None;
    };
    found.read(lanes, digits)
}

/// No point.
const NONE: usize = Tail::NONE as usize;

/// A line, of which it is known where its digits are.
#[derive(Clone, Copy)]
struct Found<'t> {
    text: &'t [u8; WINDOW],
    feed: usize,
    ends: [usize; 2],
    is_negative: bool,
}

impl Found<'_> {
    /// The entry with these digits.
    #[inline(always)]
    fn read<L: Lanes>(self, lanes: L, digits: Digits<'_>) -> Option<Line> {
        let Self { text, feed, ends, is_negative } = self;
        let Digits { head, tail, behind, end } = digits;
        let (place, digits) = lanes.numbers(text.first_chunk()?, ends, tail);
        // At most 64 digits.
        let mut power = -(behind.cast_signed() as i64);
        if end != feed {
            power += exponent(text, end, feed)?;
        }
        let value = nearest(is_negative, head + digits, power)?;
        Some(Line { place, value, length: feed + 1 })
    }
}

/// The end of a line without the carriage return that may stand there.
#[inline(always)]
fn line_end(text: &[u8; WINDOW], feed: usize) -> usize {
    let last = feed.wrapping_sub(1);
    if text.get(last) == Some(&b'\r') { last } else { feed }
}

/// The digits of a number: `head`, and at most 16 more, for which it has zeros.
struct Digits<'t> {
    head: u64,
    tail: Tail<'t>,
    /// How many of them all are behind the point.
    behind: usize,
    /// Where the digits end: at the end of the line, or at an exponent.
    end: usize,
}

/// The digits before a point and behind it, where the last 16 behind it are not all but one.
#[inline(always)]
fn around_point(
    text: &[u8; WINDOW],
    at: usize,
    before: usize,
    behind: usize,
) -> Option<Digits<'_>> {
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
    let end = at + before + 1 + behind;
    Some(Digits { head, tail: tail(text, end - count, count, NONE), behind, end })
}

/// An exponent of one digit, as it stands behind the digits of a number.
#[derive(Clone, Copy)]
struct Exponent {
    /// It and the end of the line.
    text: u32,
    /// The bits that have to be so: not that between small and large letters, nor what is behind a line
    /// feed.
    mask: u32,
    power: i64,
}

/// At the lower five bits of the byte behind the mark and four of the next.
static EXPONENTS: [Exponent; 512] = {
    // What nothing is equal to.
    let mut table = [Exponent { text: 1, mask: 0, power: 0 }; 512];
    let mut digit = 0;
    while digit < 10 {
        let character = b'0' + digit;
        let power = digit as i64;
        let (minus, plus) = ([b'E', b'-', character, b'\n'], [b'E', b'+', character, b'\n']);
        let none = [b'E', character, b'\n', 0];
        let mask = !0x20;
        table[place_of(minus)] = Exponent { text: u32::from_le_bytes(minus), mask, power: -power };
        table[place_of(plus)] = Exponent { text: u32::from_le_bytes(plus), mask, power };
        let mask = mask >> 8 & mask;
        table[place_of(none)] = Exponent { text: u32::from_le_bytes(none), mask, power };
        digit += 1;
    }
    table
};

/// Where an exponent is in the table.
#[inline(always)]
const fn place_of(text: [u8; 4]) -> usize {
    let word = u32::from_le_bytes(text);
    (((word >> 8) & 0x1f) | ((word >> 11) & 0x1e0)) as usize
}

/// The exponent that is all from `at` to the end of the line: a mark, a sign or none, one digit or two;
/// 0 where there is nothing.
#[inline(always)]
fn exponent(text: &[u8; WINDOW], at: usize, feed: usize) -> Option<i64> {
    let bytes = *text[at & 63..].first_chunk()?;
    let Exponent { text: wanted, mask, power } = EXPONENTS[place_of(bytes)];
    if u32::from_le_bytes(bytes) & mask == wanted {
        return Some(power);
    }
    longer_exponent(text, at, line_end(text, feed))
}

/// Nothing, or a mark, a sign or none, one digit or two, and any end of the line.
#[inline(always)]
fn longer_exponent(text: &[u8; WINDOW], at: usize, end: usize) -> Option<i64> {
    if at == end {
        return Some(0);
    }
    let is_marked = text.get(at)? & 0xdf == b'E';
    let sign = text.get(at + 1)?;
    let is_negative = *sign == b'-';
    let at = at + 1 + usize::from(is_negative | (*sign == b'+'));
    let is_long = end.wrapping_sub(at).wrapping_sub(1);
    let last = text.get(end.wrapping_sub(1))?.wrapping_sub(b'0');
    let first = if is_long == 1 { text.get(at)?.wrapping_sub(b'0') } else { 0 };
    let is_number = is_marked & (is_long < 2) & (first <= 9) & (last <= 9);
    let size = 10 * i64::from(first) + i64::from(last);
    is_number.then_some(if is_negative { -size } else { size })
}
