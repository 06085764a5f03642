//! SciPy's sparse matrices.

use std::io::{self, Write};
use std::path::Path;

use favard_operator::{Csr, Scalar};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

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
    write_atomic(path, |to| write(to, matrix, CompressionMethod::Deflated))
}

/// [`write_npz`] without packing: a larger file, from which any row can be read by itself
/// ([`OnDisk`](crate::OnDisk)).
///
/// # Errors
/// What the system says.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.npz");
/// use favard_operator::Csr;
/// let a = Csr::new((2, 3), vec![0, 1, 2], vec![1, 2], vec![0.5_f64, 2.0])?;
/// favard_io::write_npz_stored(&path, &a)?;
/// assert_eq!(favard_io::OnDisk::<f64>::open(&path)?.shape(), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_npz_stored<T: Scalar>(path: impl AsRef<Path>, matrix: &Csr<'_, T>) -> Result<()> {
    write_atomic(path, |to| write(to, matrix, CompressionMethod::Stored))
}

fn write<T: Scalar>(
    to: &mut dyn Write,
    matrix: &Csr<'_, T>,
    packing: CompressionMethod,
) -> io::Result<()> {
    let mut zip = Archive { zip: ZipWriter::new_stream(to), packing };
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
    zip.member("indices", indices, &list(matrix.entries()), |to| {
        matrix.columns().iter().try_for_each(|&column| index(to, u64::from(column)))
    })?;
    zip.member("indptr", indices, &list(rows + 1), |to| {
        matrix.pointers().iter().try_for_each(|&pointer| index(to, pointer as u64))
    })?;
    zip.member("format", "|S3", "()", |to| to.write_all(b"csr"))?;
    zip.member("shape", "<i8", "(2,)", |to| {
        to.write_all(&(rows as u64).to_le_bytes())?;
        to.write_all(&(cols as u64).to_le_bytes())
    })?;
    let descr = format!("<f{}", size_of::<T>());
    zip.member("data", &descr, &list(matrix.entries()), |to| {
        matrix.values().iter().try_for_each(|&value| number(to, value))
    })?;
    zip.zip.finish().map_err(io::Error::from)?;
    Ok(())
}

fn list(length: usize) -> String {
    format!("({length},)")
}

struct Archive<W: Write + io::Seek> {
    zip: ZipWriter<W>,
    packing: CompressionMethod,
}

impl<W: Write + io::Seek> Archive<W> {
    fn member(
        &mut self,
        name: &str,
        descr: &str,
        shape: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let options =
            SimpleFileOptions::default().compression_method(self.packing).large_file(true);
        self.zip.start_file(format!("{name}.npy"), options).map_err(io::Error::from)?;
        let mut buffered = io::BufWriter::with_capacity(1 << 16, &mut self.zip);
        header(&mut buffered, descr, shape)?;
        fill(&mut buffered)?;
        buffered.flush()
    }
}
