//! Matrices in and out of files.
//!
//! [`read`] takes a file or a folder in any [`Format`] and gives a [`Loaded`]: a sparse or dense
//! [`Matrix`] that moves into favard's operators without a copy, and the names that came with it.
//! [`describe`] says what is in a file without loading it. The `write_` functions replace a file
//! as a whole or leave it alone.
//!
//! The key decision is that a file is never believed and its text never held. Texts are cut at line
//! ends and parsed by all threads, in pieces; a sparse text that is not in the order of the rows is
//! sorted almost in place. So the peak of memory is little more than the matrix. A header only says what to expect:
//! memory is taken for what is there, up to [`Limits`], and an [`Error`] is one line with the
//! file, the line and the column.
//!
//! # Example
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("data.mtx");
//! # std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 0.5\n")?;
//! let x = favard_io::read::<f64>(&path)?.matrix.into_csr()?;
//! assert_eq!(x.shape(), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "h5ad")]
mod h5ad;
#[cfg(feature = "h5ad")]
mod quiet;

mod buckets;
mod csr;
mod csv;
mod describe;
mod error;
mod format;
mod input;
mod libsvm;
mod loaded;
mod mtx;
mod npy;
mod npz;
mod on_disk;
mod options;
mod read;
mod tenx;
mod text;
mod write;

pub use describe::{Description, Layout};
pub use error::{Error, ErrorKind, Position, Result};
pub use format::Format;
pub use loaded::{Loaded, Matrix};
pub use on_disk::OnDisk;
pub use options::{Detect, Limits, ReadOptions};
pub use read::{describe, describe_bytes, describe_with, read, read_bytes, read_with};
pub use write::{
    Table, discard_unfinished, write_atomic, write_csv, write_json, write_mtx, write_npy,
    write_npz, write_npz_stored, write_tsv,
};

/// The chapter's code, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/files.md")]
struct Files;
