//! Numbers and fields in text.

mod decimal;
mod lanes;

use favard_operator::Scalar;

use crate::error::{ErrorKind, shown};
use crate::input::Fault;
pub(crate) use decimal::nearest;
pub(crate) use lanes::{Lanes, Tail, Task, dispatch, front_digits, number_of};

/// A byte of the text; past the end, a newline.
#[inline]
pub(crate) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b'\n')
}

/// Past the spaces and tabs.
#[inline]
pub(crate) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(byte(text, at), b' ' | b'\t') {
        at += 1;
    }
    at
}

/// The unsigned integer at `at` and where it ends; `at` itself when there is none. A number of more
/// than 64 bits saturates.
#[inline]
pub(crate) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    match eight_digits(text, at) {
        Some((value, 8)) => more_digits(text, at + 8, value),
        Some((value, count)) => (value, at + count),
        None => more_digits(text, at, 0),
    }
}

/// The first of the eight bytes at `at` that are digits, as a number, and how many they are; `None`
/// when the text ends before.
#[inline]
fn eight_digits(text: &[u8], at: usize) -> Option<(u64, usize)> {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    const TO_TOP: u64 = u64::from_le_bytes([0x80 - 10; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let chunk = text.get(at..)?.first_chunk::<8>()?;
    // A digit becomes 0..=9; adding 0x76 carries all else into the top bit.
    let digits = u64::from_le_bytes(*chunk) ^ ZEROS;
    let others = (digits | digits.wrapping_add(TO_TOP)) & TOPS;
    let count = others.trailing_zeros() / 8;
    // The first digit is in the lowest byte: zeros below it are zeros in front.
    let digits = digits.checked_shl(64 - 8 * count).unwrap_or(0);
    Some((number_of(digits), count as usize))
}

fn more_digits(text: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    loop {
        let digit = byte(text, at).wrapping_sub(b'0');
        if digit > 9 {
            return (value, at);
        }
        value = value.saturating_mul(10).saturating_add(u64::from(digit));
        at += 1;
    }
}

/// The finite number at `at` and where it ends.
#[inline]
pub(crate) fn number<T: Scalar>(text: &[u8], at: usize) -> Result<(T, usize), Fault> {
    match decimal(text, at) {
        Some((value, end)) if T::of(value).is_finite() => Ok((T::of(value), end)),
        _ => slow_number(text, at),
    }
}

#[cold]
fn slow_number<T: Scalar>(text: &[u8], at: usize) -> Result<(T, usize), Fault> {
    let rest = text.get(at..).unwrap_or_default();
    match fast_float2::parse_partial::<f64, _>(rest) {
        Ok((value, length)) if T::of(value).is_finite() => Ok((T::of(value), at + length)),
        Ok((_, length)) => Err(non_finite::<T>(text, at, length)),
        Err(_) => Err(not_a_number(text, at)),
    }
}

/// The number at `at`, correctly rounded, and where it ends; `None` for the rare ones: more than 19
/// digits, a power of ten far from 1, no number at all.
#[inline]
fn decimal(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let is_negative = byte(text, at) == b'-';
    let from = at + usize::from(is_negative);
    // One digit before the point is the usual case of long numbers.
    let first = byte(text, from).wrapping_sub(b'0');
    let (mut digits, mut end) = if first <= 9 && byte(text, from + 1) == b'.' {
        (u64::from(first), from + 1)
    } else {
        digits(text, from)
    };
    let mut count = end - from;
    let mut power = 0_i64;
    if byte(text, end) == b'.' {
        let start = end + 1;
        (digits, end) = fraction(text, start, digits);
        count += end - start;
        // As many as there are bytes: far below 2^63.
        power = -((end - start).cast_signed() as i64);
    }
    if count == 0 || count > 19 {
        return None;
    }
    if matches!(byte(text, end), b'e' | b'E') {
        let sign = byte(text, end + 1);
        let start = end + 1 + usize::from(matches!(sign, b'-' | b'+'));
        let (exponent, stop) = more_digits(text, start, 0);
        if stop == start || exponent > 400 {
            return None;
        }
        // At most 400.
        let exponent = exponent.cast_signed();
        power += if sign == b'-' { -exponent } else { exponent };
        end = stop;
    }
    Some((nearest(is_negative, digits, power)?, end))
}

/// Appends the digits at `at` to those before the point; wraps around past 19 of them.
#[inline]
fn fraction(text: &[u8], mut at: usize, mut digits: u64) -> (u64, usize) {
    const TENS: [u64; 16] = [
        1,
        10,
        100,
        1000,
        10_000,
        100_000,
        1_000_000,
        10_000_000,
        100_000_000,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let append = |digits: u64, (part, count): (u64, usize)| {
        (digits.wrapping_mul(TENS[count & 15]).wrapping_add(part), count)
    };
    while let Some(first) = eight_digits(text, at) {
        let count;
        (digits, count) = append(digits, first);
        at += count;
        if count < 8 {
            return (digits, at);
        }
        // 15, 16 and 17 digits are about equally frequent: no branch tells them apart.
        let (Some(second), Some(third)) = (eight_digits(text, at), eight_digits(text, at + 8))
        else {
            break;
        };
        let count;
        (digits, count) = append(digits, second);
        let third = if count == 8 { third } else { (0, 0) };
        let more;
        (digits, more) = append(digits, third);
        at += count + more;
        if count + more < 16 {
            return (digits, at);
        }
    }
    loop {
        let digit = byte(text, at).wrapping_sub(b'0');
        if digit > 9 {
            return (digits, at);
        }
        digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
}

#[cold]
fn non_finite<T: Scalar>(text: &[u8], at: usize, length: usize) -> Fault {
    let found = shown(&text[at..at + length]);
    Fault::new(at, ErrorKind::NonFinite { what: "value", found, precision: precision::<T>() })
}

#[cold]
pub(crate) fn not_a_number(text: &[u8], at: usize) -> Fault {
    expected("value", "a number", text, at)
}

/// The name of the type of numbers.
pub(crate) fn precision<T>() -> &'static str {
    if size_of::<T>() == 4 { "f32" } else { "f64" }
}

/// Something else stands at `at`.
#[cold]
pub(crate) fn expected(
    what: &'static str,
    expected: &'static str,
    text: &[u8],
    at: usize,
) -> Fault {
    Fault::new(at, ErrorKind::Expected { what, expected, found: shown(word(text, at)) })
}

/// The bytes up to the next blank.
pub(crate) fn word(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    &rest[..end]
}

/// Where the line that `at` is in ends: at its newline.
#[inline]
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    text.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(text.len(), |end| at + end)
}

/// `Ok` past the newline, when nothing but blanks stands before it.
#[inline]
pub(crate) fn end_of_line(text: &[u8], at: usize) -> Result<usize, Fault> {
    // The usual case first.
    if byte(text, at) == b'\n' {
        return Ok(at + 1);
    }
    let mut end = skip_blanks(text, at);
    if byte(text, end) == b'\r' {
        end += 1;
    }
    if byte(text, end) == b'\n' {
        Ok(end + 1)
    } else {
        Err(expected("line", "the end of the line", text, end))
    }
}

/// Whether the whole field is a number, finite or not.
pub(crate) fn is_number(field: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(field).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{digits, number};

    #[test]
    fn integers_of_every_length_are_read() {
        for length in 0..=20 {
            let number = &"12345678901234567890"[..length];
            for behind in ["", " ", "\n", " 77777777", "x", "\u{ff}\u{ff}\u{ff}\u{ff}"] {
                let text = format!(" {number}{behind}");
                let value = number.parse().unwrap_or(0);
                assert_eq!(digits(text.as_bytes(), 1), (value, 1 + length), "{text}");
            }
        }
        assert_eq!(digits(b"99999999999999999999999", 0), (u64::MAX, 23));
    }

    #[test]
    fn numbers_are_the_nearest_of_the_standard_library() {
        for text in [
            "0",
            "-0",
            "1",
            "-17",
            "+3",
            "0.1",
            "-.5",
            "5.",
            "1e3",
            "1E-3",
            "123456789012345678",
            "2.3504962595143097E-1",
            "4.9e-324",
            "1.7976931348623157e308",
            "9007199254740993",
            "000000000000000000012",
            "1e-400",
            "-0.0",
            "0e5",
            "1.5e+2",
            "3e22",
            "3e23",
            "1e-22",
            "1e-23",
            "0.10000000000000000001",
            "9007199254740993e-3",
            "18446744073709551615e-19",
            "9223372036854775808e-27",
            "9.999999999999999999e-9",
            "1.e5",
            "12345678.12345678",
        ] {
            let (value, end) = number::<f64>(format!("{text} ").as_bytes(), 0).unwrap();
            assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            assert_eq!(end, text.len(), "{text}");
        }
        // Random digits and powers: the short way and the library must agree to the bit.
        let mut seed = 1_u64;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (digits, power) = (seed >> (seed % 60), (seed >> 40).cast_signed() % 60 - 35);
            let texts =
                [format!("-{digits}e{power}"), format!("0.{digits}E{power}"), digits.to_string()];
            for text in texts {
                let (value, end) = number::<f64>(format!("{text},").as_bytes(), 0).unwrap();
                assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
                assert_eq!(end, text.len(), "{text}");
            }
        }
        for text in ["nan", "inf", "-inf", "1e999", "", "-", "x", "--1", "e5", "."] {
            assert!(number::<f64>(text.as_bytes(), 0).is_err(), "{text}");
        }
        // Fits in f64 only.
        assert!(number::<f64>(b"1e39", 0).is_ok() && number::<f32>(b"1e39", 0).is_err());
    }
}
