//! Least squares and Kaczmarz against exact dense solutions, the theory's rates, and bad input.

mod bad_input;
mod checkpoint;
mod checkpoint_sampled;
mod determinism;
mod exact;
mod extended;
mod kaczmarz;
mod parts;
mod ratios;
mod ratios_run;
mod recurrence;
#[path = "../resume.rs"]
mod resume;
mod sampled;
mod scale;
mod support;
