//! SciPy's sparse matrices.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::{Csr, Scalar};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::npy::{header, number};
use super::write_atomic;
use crate::error::Result;

/// Writes a sparse matrix so that `scipy.sparse.load_npz` reads it (format CSR); see
/// [`write_atomic`].
///
/// Indices are `int32` where they fit, else `int64`.
///
/// # Errors
/// What the system says.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.npz");
/// use favard_operator::Csr;
/// let a = Csr::new((2, 3), vec![0, 1, 2], vec![1, 2], vec![0.5_f32, 2.0])?;
/// favard_io::write_npz(&path, &a)?;
/// assert_eq!(favard_io::read::<f32>(&path)?.matrix.into_csr()?.values(), a.values());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_npz<T: Scalar>(path: impl AsRef<Path>, matrix: &Csr<'_, T>) -> Result<()> {
    write_atomic(path, |to| write(to, matrix))
}

fn write<T: Scalar>(to: &mut dyn Write, matrix: &Csr<'_, T>) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(to);
    let (rows, cols) = matrix.shape();
    let largest = matrix.entries().max(rows).max(cols);
    let is_short = i32::try_from(largest).is_ok();
    let indices = if is_short { "<i4" } else { "<i8" };
    let index = |to: &mut dyn Write, value: u64| {
        if is_short {
            // Checked above.
            to.write_all(&u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes())
        } else {
            to.write_all(&value.to_le_bytes())
        }
    };
    member(&mut zip, "indices", indices, &list(matrix.entries()), |to| {
        matrix.columns().iter().try_for_each(|&column| index(to, u64::from(column)))
    })?;
    member(&mut zip, "indptr", indices, &list(rows + 1), |to| {
        matrix.pointers().iter().try_for_each(|&pointer| index(to, pointer as u64))
    })?;
    member(&mut zip, "format", "|S3", "()", |to| to.write_all(b"csr"))?;
    member(&mut zip, "shape", "<i8", "(2,)", |to| {
        to.write_all(&(rows as u64).to_le_bytes())?;
        to.write_all(&(cols as u64).to_le_bytes())
    })?;
    let descr = format!("<f{}", size_of::<T>());
    member(&mut zip, "data", &descr, &list(matrix.entries()), |to| {
        matrix.values().iter().try_for_each(|&value| number(to, value))
    })?;
    zip.finish().map_err(io::Error::from)?;
    Ok(())
}

fn list(length: usize) -> String {
    format!("({length},)")
}

fn member<W: Write + io::Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    descr: &str,
    shape: &str,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .large_file(true);
    zip.start_file(format!("{name}.npy"), options).map_err(io::Error::from)?;
    let mut buffered = io::BufWriter::with_capacity(1 << 16, zip);
    header(&mut buffered, descr, shape)?;
    fill(&mut buffered)?;
    buffered.flush()
}
