//! Matrices and other results into files, each of which is there whole or not at all.

mod atomic;
mod json;
mod mtx;
mod npy;
mod npz;
mod number;
mod pieces;
mod table;

pub use atomic::{discard_unfinished, write_atomic};
pub use json::write_json;
pub use mtx::write_mtx;
pub use npy::write_npy;
pub use npz::{write_npz, write_npz_stored};
pub use table::{Table, write_csv, write_tsv};
