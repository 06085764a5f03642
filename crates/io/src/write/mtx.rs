//! Matrix Market files.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::{Csr, Scalar};

use super::number::write_number;
use super::write_atomic;
use crate::error::Result;

/// Writes a sparse matrix as a coordinate file, row by row; see [`write_atomic`].
///
/// Each number is the shortest text that reads back as the same number.
///
/// # Errors
/// What the system says.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.mtx");
/// use favard_operator::Csr;
/// let a = Csr::new((2, 3), vec![0, 1, 2], vec![1, 2], vec![0.5, -1e-9])?;
/// favard_io::write_mtx(&path, &a)?;
/// let back = favard_io::read::<f64>(&path)?.matrix.into_csr()?;
/// assert_eq!(back.values(), a.values());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_mtx<T: Scalar>(path: impl AsRef<Path>, matrix: &Csr<'_, T>) -> Result<()> {
    write_atomic(path, |to| write(to, matrix))
}

fn write<T: Scalar>(to: &mut dyn Write, matrix: &Csr<'_, T>) -> io::Result<()> {
    let (rows, cols) = matrix.shape();
    writeln!(to, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(to, "{rows} {cols} {}", matrix.entries())?;
    for row in 0..rows {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            write!(to, "{} {} ", row + 1, u64::from(column) + 1)?;
            write_number(to, value)?;
            writeln!(to)?;
        }
    }
    Ok(())
}
