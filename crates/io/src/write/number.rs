//! Numbers as text.

use std::io::{self, Write};

use favard_operator::Scalar;

/// Appends the shortest text that reads back as the same number; a whole number has no point.
///
/// # Errors
/// What is not finite cannot be written: it would not be read back.
pub(super) fn push_number<T: Scalar>(to: &mut Vec<u8>, value: T) -> io::Result<()> {
    if !value.is_finite() {
        let message = format!("value {value} is not finite");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let wide = value.as_f64();
    // Beyond these, an f32 has its exponent earlier.
    if (1e-5..1e12).contains(&wide.abs()) {
        let mut buffer = zmij::Buffer::new();
        let text = if size_of::<T>() == 4 {
            // It was an f32.
            #[allow(clippy::cast_possible_truncation)]
            buffer.format_finite(wide as f32)
        } else {
            buffer.format_finite(wide)
        };
        to.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
        return Ok(());
    }
    if wide == 0.0 || (1e12..1e16).contains(&wide.abs()) {
        write!(to, "{value}")
    } else {
        write!(to, "{value:e}")
    }
}

/// Appends a whole number.
pub(super) fn push_count(to: &mut Vec<u8>, count: u64) {
    to.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the standard library, with an exponent for the very large and the very small.
    fn plain<T: Scalar>(value: T) -> String {
        let size = value.as_f64().abs();
        if size == 0.0 || (1e-5..1e16).contains(&size) {
            format!("{value}")
        } else {
            format!("{value:e}")
        }
    }

    fn text<T: Scalar>(value: T) -> String {
        let mut to = Vec::new();
        push_number(&mut to, value).unwrap();
        String::from_utf8(to).unwrap()
    }

    /// As short as the text of the standard library, with an exponent where that has one, and the
    /// same number when it is read: where two texts are as near and as short, either may come.
    fn check<T: Scalar + std::str::FromStr<Err: std::fmt::Debug>>(value: T) {
        let (text, plain) = (text(value), plain(value));
        assert_eq!(text.len(), plain.len(), "{text} {plain}");
        assert_eq!(text.find('e'), plain.find('e'), "{text} {plain}");
        let back = text.parse::<T>().unwrap().as_f64();
        assert_eq!(back.to_bits(), value.as_f64().to_bits(), "{text} {plain}");
    }

    #[test]
    fn numbers_are_the_shortest_that_read_back() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..100_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            #[allow(clippy::cast_possible_truncation)]
            let (wide, narrow) = (f64::from_bits(bits), f32::from_bits(bits as u32));
            if wide.is_finite() {
                check(wide);
            }
            if narrow.is_finite() {
                check(narrow);
            }
            // Of ordinary size, where exponents begin and end among them.
            let power = 10.0_f64.powf((bits % 24) as f64 - 7.0);
            let ordinary = (1.0 + (bits >> 12) as f64 / 2.0_f64.powi(52)) * power;
            check(ordinary);
            check(-f32::of(ordinary));
            check((bits >> 20) as f64);
        }
        for value in [0.0, -0.0, 1.0, 1e-5, 9.9e-6, 1e12, 1e15, 1e16, 1e22, f64::MAX, 5e-324, -0.1]
        {
            check(value);
            assert_eq!(text(value), plain(value));
        }
        assert!(push_number(&mut Vec::new(), f64::NAN).is_err());
    }
}
