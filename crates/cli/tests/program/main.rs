//! The built program: every command, every kind of bad input, exit codes, interruption.

mod bad;
mod fits;
mod help;
#[cfg(target_os = "linux")]
mod interrupt;
mod matrices;
mod planning;
mod report;
#[cfg(target_os = "linux")]
mod resume;
mod support;
