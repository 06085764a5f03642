//! The engine against plain loops, reference traces and failures.

mod checkpoint;
mod failure;
mod gauge;
mod golden;
mod maps;
mod observe;
mod readout;
mod support;
mod table1;
