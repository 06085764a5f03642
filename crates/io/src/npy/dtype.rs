//! [`Dtype`]: what the bytes of an array are.

use favard_operator::Scalar;

use crate::error::ErrorKind;

/// The kinds of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
    /// Characters of one byte; only read as a word.
    Bytes,
    /// Characters of four bytes; only read as a word.
    Unicode,
}

/// A kind of number, its width in bytes and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub kind: Kind,
    pub width: usize,
    pub is_big_endian: bool,
}

/// One number of `$width` bytes in the order of the machine.
macro_rules! native {
    ($type:ty, $bytes:expr, $swap:expr) => {{
        let mut bytes = [0; size_of::<$type>()];
        bytes.copy_from_slice($bytes);
        if $swap { <$type>::from_be_bytes(bytes) } else { <$type>::from_le_bytes(bytes) }
    }};
}

impl Dtype {
    /// Reads `<f8`, `>i4`, `|b1`, `|S3`, `<U3`.
    pub fn parse(descr: &str) -> Result<Self, ErrorKind> {
        let unsupported = || ErrorKind::Unsupported {
            what: "dtype",
            found: crate::error::shown(descr.as_bytes()),
        };
        let bytes = descr.as_bytes();
        let (order, rest) = bytes.split_first().ok_or_else(unsupported)?;
        let is_big_endian = match order {
            b'<' | b'|' => false,
            b'>' => true,
            b'=' => cfg!(target_endian = "big"),
            _ => return Err(unsupported()),
        };
        let (kind, width) = rest.split_first().ok_or_else(unsupported)?;
        let width = std::str::from_utf8(width).ok().and_then(|width| width.parse().ok());
        let (kind, width) = match (kind, width) {
            (b'f', Some(width @ (2 | 4 | 8))) => (Kind::Float, width),
            (b'i', Some(width @ (1 | 2 | 4 | 8))) => (Kind::Signed, width),
            (b'u', Some(width @ (1 | 2 | 4 | 8))) => (Kind::Unsigned, width),
            (b'b', Some(1)) => (Kind::Bool, 1),
            (b'S', Some(width @ 1..=64)) => (Kind::Bytes, width),
            (b'U', Some(count @ 1..=64_usize)) => (Kind::Unicode, 4 * count),
            _ => return Err(unsupported()),
        };
        Ok(Self { kind, width, is_big_endian })
    }

    /// Half precision, as HDF5 files have it, too.
    #[cfg(feature = "h5ad")]
    pub fn half(is_big_endian: bool) -> Self {
        Self { kind: Kind::Float, width: 2, is_big_endian }
    }

    /// Appends the numbers; the position of one that is not finite, and what it is, as error.
    pub fn numbers<T: Scalar>(self, bytes: &[u8], to: &mut Vec<T>) -> Result<(), (usize, f64)> {
        let from = to.len();
        macro_rules! extend {
            ($type:ty) => {{
                let swap = self.is_big_endian;
                let numbers = bytes.chunks_exact(size_of::<$type>());
                // Integers beyond 2^53 are rounded to the nearest number.
                #[allow(clippy::cast_lossless)]
                to.extend(numbers.map(|bytes| T::of(native!($type, bytes, swap) as f64)));
            }};
        }
        match (self.kind, self.width) {
            (Kind::Float, 2) => {
                let numbers = bytes.chunks_exact(2);
                let bits = |bytes| native!(u16, bytes, self.is_big_endian);
                to.extend(numbers.map(|bytes| T::of(half(bits(bytes)))));
            }
            (Kind::Float, 4) => extend!(f32),
            (Kind::Float, _) => extend!(f64),
            (Kind::Signed, 1) => extend!(i8),
            (Kind::Signed, 2) => extend!(i16),
            (Kind::Signed, 4) => extend!(i32),
            (Kind::Signed, _) => extend!(i64),
            (Kind::Unsigned, 2) => extend!(u16),
            (Kind::Unsigned, 4) => extend!(u32),
            (Kind::Unsigned, 8) => extend!(u64),
            (Kind::Bool, _) => to.extend(bytes.iter().map(|&b| T::of(f64::from(u8::from(b != 0))))),
            _ => extend!(u8),
        }
        // Without a way out of the loop, it is compiled to vector code.
        if to[from..].iter().fold(true, |so_far, value| so_far & value.is_finite()) {
            return Ok(());
        }
        match to[from..].iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err((at, to[from + at].as_f64())),
        }
    }

    /// Appends the indices; the position of one that is negative or no integer as error.
    pub fn indices(self, bytes: &[u8], to: &mut Vec<u64>) -> Result<(), (usize, i64)> {
        let from = to.len();
        macro_rules! extend {
            ($type:ty) => {{
                let swap = self.is_big_endian;
                let numbers = bytes.chunks_exact(size_of::<$type>());
                to.extend(
                    numbers.map(|bytes| i64::from(native!($type, bytes, swap)).cast_unsigned()),
                );
            }};
        }
        match (self.kind, self.width) {
            (Kind::Signed, 1) => extend!(i8),
            (Kind::Signed, 2) => extend!(i16),
            (Kind::Signed, 4) => extend!(i32),
            (Kind::Unsigned, 2) => extend!(u16),
            (Kind::Unsigned, 4) => extend!(u32),
            (Kind::Unsigned, 1) => extend!(u8),
            // The top bit of an unsigned one means as much as a sign: too large.
            _ => extend!(i64),
        }
        if to[from..].iter().fold(0, |all, &value| all | value).cast_signed() >= 0 {
            return Ok(());
        }
        match to[from..].iter().position(|&value| value.cast_signed() < 0) {
            None => Ok(()),
            Some(at) => Err((at, to[from + at].cast_signed())),
        }
    }

    /// Whether the numbers can be indices.
    pub fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned)
    }

    /// Whether these are numbers at all.
    pub fn is_number(self) -> bool {
        !matches!(self.kind, Kind::Bytes | Kind::Unicode)
    }
}

/// A number of half precision: a sign, five bits of exponent with a bias of 15, ten of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}
