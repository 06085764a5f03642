//! The engine against plain loops, reference traces and failures.

// Step counts are computed as floats, and a coefficient that is passed on must be equal to the bit.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::float_cmp)]

mod checkpoint;
mod failure;
mod fits;
mod gauge;
mod golden;
mod maps;
mod observe;
mod readout;
mod support;
mod table1;
