//! Memory: the peak of the program, and what a command needs beside what there is.

use std::sync::OnceLock;

use crate::error::{Error, Result};

/// What `--memory` says.
static GIVEN: OnceLock<u64> = OnceLock::new();

/// The largest resident set so far, in bytes, where the system tells it (Linux).
pub fn peak() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// From here on no command may need more than this.
pub fn limit(bytes: u64) {
    // It is set once, by `main`.
    let _ = GIVEN.set(bytes);
}

/// Bytes that can still be had: `--memory` less what is taken, or what the system says (Linux: what
/// is free or can be freed, and no more than the control group allows).
fn available() -> Option<u64> {
    if let Some(&given) = GIVEN.get() {
        return Some(given.saturating_sub(resident().unwrap_or(0)));
    }
    let free = kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse::<u64>().ok());
    let group = group.map(|most| most.saturating_sub(resident().unwrap_or(0)));
    Some(group.map_or(free, |most| most.min(free)))
}

fn resident() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// `Ok` when so many bytes can be had, as far as the system tells: a process that takes more is
/// killed without a word.
pub fn check(name: &str, what: &str, bytes: u64) -> Result<()> {
    match available() {
        Some(available) if bytes > available => {
            let problem =
                format!("{what} needs {bytes} bytes of memory, and {available} can be had");
            Err(Error::argument(name, problem))
        }
        _ => Ok(()),
    }
}

/// Bytes of so many vectors of 64-bit numbers.
pub fn vectors(length: usize, count: usize) -> u64 {
    (length as u64).saturating_mul(count as u64).saturating_mul(8)
}
