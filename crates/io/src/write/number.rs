//! Numbers as text.

use std::io::{self, Write};

use favard_operator::Scalar;

/// Writes the shortest text that reads back as the same number.
pub(super) fn write_number<T: Scalar>(to: &mut dyn Write, value: T) -> io::Result<()> {
    let size = value.as_f64().abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(to, "{value}")
    } else {
        write!(to, "{value:e}")
    }
}

/// What is not finite cannot be written: it would not be read back.
pub(super) fn check_finite<T: Scalar>(value: T) -> io::Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("value {value} is not finite")))
}
