//! The tests of the theory crate: golden values, counterexamples to the printed statements, and
//! property tests of every bound.
//!
//! Property tests run 256 cases each; `PROPTEST_CASES=10000` makes the long run.

// Formulas in $…$ are full of underscores, which the lint takes for identifiers.
#![allow(clippy::doc_markdown)]
// Where a test compares numbers with `==`, equality to the last bit is the claim.
#![allow(clippy::float_cmp)]

mod chain;
mod contraction;
mod deterministic;
mod golden_bounds;
mod golden_moments;
mod invariance;
mod limits;
mod planner;
mod polynomials;
mod printed;
mod second_moment;
mod support;
