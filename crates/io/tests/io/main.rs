//! Files in and out.

mod bad;
mod formats;
mod fuzz;
mod large;
mod support;
mod write;
