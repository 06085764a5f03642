//! NumPy arrays.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::Scalar;
use ndarray::ArrayView2;

use super::write_atomic;
use crate::error::Result;

/// Writes a matrix as a NumPy array of `T`, in the order of the rows; see [`write_atomic`].
///
/// # Errors
/// What the system says.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.npy");
/// use ndarray::array;
/// favard_io::write_npy(&path, array![[1.0, 2.0], [3.0, 4.0]].view())?;
/// assert_eq!(favard_io::read::<f64>(&path)?.matrix.shape(), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_npy<T: Scalar>(path: impl AsRef<Path>, array: ArrayView2<'_, T>) -> Result<()> {
    write_atomic(path, |to| {
        let (rows, cols) = array.dim();
        header(to, &format!("<f{}", size_of::<T>()), &format!("({rows}, {cols})"))?;
        array.iter().try_for_each(|&value| number(to, value))
    })
}

/// The magic bytes and the dictionary, filled up so that the numbers start at a multiple of 64.
pub(super) fn header(to: &mut dyn Write, descr: &str, shape: &str) -> io::Result<()> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // 10 bytes before it and a newline behind.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let short = u16::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
    to.write_all(b"\x93NUMPY\x01\x00")?;
    to.write_all(&short.to_le_bytes())?;
    writeln!(to, "{text:width$}", width = length - 1)
}

/// One number, lowest byte first.
pub(super) fn number<T: Scalar>(to: &mut dyn Write, value: T) -> io::Result<()> {
    let wide = value.as_f64();
    if size_of::<T>() == 4 {
        // It was an f32.
        #[allow(clippy::cast_possible_truncation)]
        to.write_all(&(wide as f32).to_le_bytes())
    } else {
        to.write_all(&wide.to_le_bytes())
    }
}
