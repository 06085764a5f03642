//! The problems and counts behind the tests of this folder and behind `benches/facts`, which runs
//! them at full size.

pub mod counts;
pub mod data;
pub mod problems;
