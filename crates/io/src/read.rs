//! The ways in.

use std::path::Path;

use favard_operator::{Dense, Scalar};

use crate::describe::Description;
use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::input::Source;
use crate::loaded::{Loaded, Matrix};
use crate::options::{Limits, ReadOptions};
use crate::{csv, libsvm, mtx, npy, npz, tenx};

/// Reads a matrix from a file or a 10x folder, with numbers of type `T`.
///
/// The format is found out from the first bytes and the name. See [`read_with`] for the rest.
///
/// # Errors
/// One line that names the file and the place; see [`ErrorKind`].
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data.mtx");
/// # std::fs::write(&path, "%%MatrixMarket matrix coordinate integer general\n2 3 1\n2 3 7\n")?;
/// let loaded = favard_io::read::<f64>(&path)?;
/// assert_eq!(loaded.matrix.shape(), (2, 3));
/// let csr = loaded.matrix.into_csr()?; // a favard operator, nothing is copied
/// assert_eq!(csr.values(), &[7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<T: Scalar>(path: impl AsRef<Path>) -> Result<Loaded<T>> {
    read_with(path, &ReadOptions::new())
}

/// Reads a matrix as the options say.
///
/// # Memory
/// The matrix itself, and for each thread a few pieces of 128 KiB of the file with what is being made
/// of them (times the widening from text to numbers, at most 4). A text is never held whole. A sparse
/// text whose entries are not in the order of the rows is sorted almost in place, which takes a tenth
/// of the matrix more (a quarter from about 2^40 places on). The result has the same bits on any number of threads.
///
/// # Errors
/// One line that names the file and the place; see [`ErrorKind`].
pub fn read_with<T: Scalar>(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<T>> {
    let path = path.as_ref();
    if options.format == Some(Format::TenX) || path.is_dir() {
        return tenx::read(path, options);
    }
    dispatch(&Source::open(path, options.limits)?, options)
}

/// Reads a matrix from bytes in memory; `name` stands in messages, and for the format.
///
/// # Errors
/// Those of [`read`].
pub fn read_bytes<T: Scalar>(
    name: impl AsRef<Path>,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Loaded<T>> {
    dispatch(&Source::bytes(name.as_ref(), bytes, options.limits)?, options)
}

/// On a thread of the pool: one that is not would sleep through everything that is done in parallel, and be
/// woken after it.
fn dispatch<T: Scalar>(source: &Source<'_>, options: &ReadOptions) -> Result<Loaded<T>> {
    rayon::scope(|_| parse(source, options))
}

fn parse<T: Scalar>(source: &Source<'_>, options: &ReadOptions) -> Result<Loaded<T>> {
    let loaded = match format(source, options)? {
        Format::MatrixMarket => mtx::read(source, false)?,
        Format::Npy => npy::read(source)?,
        Format::Npz => npz::read(source)?,
        Format::Csv => csv::read(source, options)?,
        Format::Libsvm => libsvm::read(source, options)?,
        Format::TenX => return Err(source.error(ErrorKind::Directory)),
        #[cfg(feature = "h5ad")]
        Format::H5ad => crate::h5ad::read(source)?,
        #[cfg(not(feature = "h5ad"))]
        Format::H5ad => return Err(no_h5ad(source)),
    };
    checked(source, loaded)
}

/// Says what a file or a 10x folder holds: shape, entries, kind of numbers, memory needed.
///
/// Reads the header only, where there is one; a CSV or libsvm file is read once, without being
/// held.
///
/// # Errors
/// Those of [`read`], as far as they are met.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data.csv");
/// # std::fs::write(&path, "a,b\n1,2\n3,4\n5,6\n")?;
/// let description = favard_io::describe(&path)?;
/// assert_eq!((description.rows, description.cols), (3, 2));
/// assert_eq!(description.memory(8), 3 * 2 * 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn describe(path: impl AsRef<Path>) -> Result<Description> {
    describe_with(path, &ReadOptions::new())
}

/// [`describe`], as the options say.
///
/// # Errors
/// Those of [`describe`].
pub fn describe_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Description> {
    let path = path.as_ref();
    if options.format == Some(Format::TenX) || path.is_dir() {
        return tenx::describe(path, options);
    }
    describe_source(&Source::open(path, options.limits)?, options)
}

/// [`describe`] for bytes in memory.
///
/// # Errors
/// Those of [`describe`].
pub fn describe_bytes(
    name: impl AsRef<Path>,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Description> {
    describe_source(&Source::bytes(name.as_ref(), bytes, options.limits)?, options)
}

fn describe_source(source: &Source<'_>, options: &ReadOptions) -> Result<Description> {
    let format = format(source, options)?;
    let mut description = match format {
        Format::MatrixMarket => mtx::describe(source, false)?,
        Format::Npy => npy::describe(source)?,
        Format::Npz => npz::describe(source)?,
        Format::Csv => csv::describe(source, options)?,
        Format::Libsvm => libsvm::describe(source, options)?,
        Format::TenX => return Err(source.error(ErrorKind::Directory)),
        #[cfg(feature = "h5ad")]
        Format::H5ad => crate::h5ad::describe(source)?,
        #[cfg(not(feature = "h5ad"))]
        Format::H5ad => return Err(no_h5ad(source)),
    };
    description.format = format;
    Ok(description)
}

pub(crate) fn format(source: &Source<'_>, options: &ReadOptions) -> Result<Format> {
    options.format.map_or_else(|| Format::detect(source), Ok)
}

#[cfg(not(feature = "h5ad"))]
fn no_h5ad(source: &Source<'_>) -> crate::Error {
    source.error(ErrorKind::Feature { format: "AnnData", feature: "h5ad" })
}

/// What no reader may let through: numbers that are not finite, and dimensions that cost the file
/// nothing.
pub(crate) fn checked<T: Scalar>(source: &Source<'_>, loaded: Loaded<T>) -> Result<Loaded<T>> {
    let Loaded { matrix, row_names, column_names, labels } = loaded;
    let matrix = match matrix {
        Matrix::Dense(array) => {
            let (limit, found) = (source.limits().empty_rows, array.nrows().max(array.ncols()));
            if array.is_empty() && found as u64 > limit {
                let (what, found) = ("rows or columns of an empty matrix", found as u64);
                let kind = ErrorKind::Limit { what, found, limit, field: "empty_rows" };
                return Err(source.error(kind));
            }
            let dense = Dense::new(array).map_err(|error| source.error(error))?;
            Matrix::Dense(dense.into_inner().into_owned())
        }
        // Checked when it was built.
        sparse @ Matrix::Sparse(_) => sparse,
    };
    Ok(Loaded { matrix, row_names, column_names, labels })
}

/// `Ok` when a sparse matrix may have that many rows, of which `entries` can hold something.
pub(crate) fn check_rows(limits: &Limits, rows: u64, entries: u64) -> Result<(), ErrorKind> {
    check_lines(("rows", "empty_rows"), limits.empty_rows, rows, entries)
}

/// `Ok` when a sparse matrix may have that many columns, of which `entries` can hold something.
pub(crate) fn check_columns(limits: &Limits, columns: u64, entries: u64) -> Result<(), ErrorKind> {
    check_lines(("columns", "empty_columns"), limits.empty_columns, columns, entries)
}

fn check_lines(
    (what, field): (&'static str, &'static str),
    empty: u64,
    found: u64,
    entries: u64,
) -> Result<(), ErrorKind> {
    // Indices have 32 bits.
    let limit = entries.saturating_add(empty).min(1 << 32);
    if found <= limit { Ok(()) } else { Err(ErrorKind::Limit { what, found, limit, field }) }
}
