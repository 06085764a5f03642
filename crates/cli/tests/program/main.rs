//! The built program: every command, every kind of bad input, exit codes, interruption.

mod bad;
mod complete;
mod fits;
mod formats;
mod golden;
mod help;
#[cfg(target_os = "linux")]
mod interrupt;
mod kaczmarz;
mod lstsq;
mod matrices;
#[cfg(target_os = "linux")]
mod memory;
mod on_disk;
mod planning;
mod report;
mod reproduce;
#[cfg(target_os = "linux")]
mod resume;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
