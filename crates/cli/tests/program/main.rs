//! The built program: every command, every kind of bad input, exit codes, interruption.

mod bad;
mod complete;
mod fits;
mod help;
#[cfg(target_os = "linux")]
mod interrupt;
mod kaczmarz;
mod lstsq;
mod matrices;
mod planning;
mod report;
mod reproduce;
#[cfg(target_os = "linux")]
mod resume;
mod support;
