//! Files in and out.

mod bad;
mod formats;
mod fuzz;
mod large;
mod on_disk;
mod support;
mod write;
