//! Arrays as plain bytes, which is what `numpy.fromfile` reads and `tofile` writes.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::Outcome;

/// Writes numbers given as their native bytes.
///
/// # Errors
/// When the file cannot be written.
pub fn write<const N: usize>(path: &Path, numbers: impl Iterator<Item = [u8; N]>) -> Outcome<()> {
    let mut file = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
    for bytes in numbers {
        file.write_all(&bytes)?;
    }
    file.flush()?;
    Ok(())
}

/// Reads numbers, each made from its native bytes by `number`.
///
/// # Errors
/// When the file cannot be read.
pub fn read<T, const N: usize>(path: &Path, number: fn([u8; N]) -> T) -> Outcome<Vec<T>> {
    Ok(fs::read(path)?.as_chunks().0.iter().map(|&bytes| number(bytes)).collect())
}
