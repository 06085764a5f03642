//! Matrix Market files.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::{Csr, Scalar};

use super::number::{push_count, push_number};
use super::pieces::write_pieces;
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
    let (pointers, columns, values) = (matrix.pointers(), matrix.columns(), matrix.values());
    write_pieces(to, matrix.entries(), &|range, text| {
        // The row of the first entry is the last one that starts at it or before it.
        let mut row = pointers.partition_point(|&start| start <= range.start) - 1;
        for entry in range {
            while pointers[row + 1] <= entry {
                row += 1;
            }
            push_count(text, row as u64 + 1);
            text.push(b' ');
            push_count(text, u64::from(columns[entry]) + 1);
            text.push(b' ');
            push_number(text, values[entry])?;
            text.push(b'\n');
        }
        Ok(())
    })
}
