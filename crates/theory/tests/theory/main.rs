//! The tests of the theory crate: golden values, counterexamples to the printed statements, and
//! property tests of every bound.
//!
//! Property tests run 256 cases each; `PROPTEST_CASES=10000` makes the long run.

mod chain;
mod contraction;
mod deterministic;
mod golden;
mod invariance;
mod limits;
mod planner;
mod polynomials;
mod printed;
mod second_moment;
mod support;
