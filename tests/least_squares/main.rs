//! Least squares and Kaczmarz against exact dense solutions, the theory's rates, and bad input.

mod bad_input;
mod checkpoint;
mod determinism;
mod exact;
mod extended;
mod kaczmarz;
mod ratios;
mod recurrence;
mod sampled;
mod support;
