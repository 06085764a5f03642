//! Matrices in and out of files.

#[cfg(feature = "h5ad")]
mod h5ad;

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
mod options;
mod read;
mod tenx;
mod text;

pub use describe::{Description, Layout};
pub use error::{Error, ErrorKind, Position, Result};
pub use format::Format;
pub use loaded::{Loaded, Matrix};
pub use options::{Detect, Limits, ReadOptions};
pub use read::{describe, describe_bytes, describe_with, read, read_bytes, read_with};
