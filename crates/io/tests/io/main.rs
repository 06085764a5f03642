//! Files in and out.

mod bad;
#[cfg(feature = "h5ad")]
mod chunks;
mod formats;
mod fuzz;
mod large;
mod on_disk;
mod support;
mod write;
