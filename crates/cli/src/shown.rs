//! How numbers and names are printed.

use std::io::Write;

use crate::error::Result;

/// The text without line breaks and other control characters.
pub fn one_line(text: &str) -> String {
    let shown = |character: char| {
        if character.is_control() {
            character.escape_default().to_string()
        } else {
            character.to_string()
        }
    };
    text.chars().map(shown).collect()
}

/// At most `most` characters of a name, on one line.
pub fn short(name: &str, most: usize) -> String {
    let line = one_line(name);
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Bytes in the unit that gives one to three digits before the point.
pub fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["bytes", "kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            return if unit == "bytes" {
                format!("{value} {unit}")
            } else {
                format!("{value:.1} {unit}")
            };
        }
        value /= 1000.0;
    }
    format!("{value:.0} PB")
}

/// Four significant digits, without an exponent where that is readable.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let before = if size >= 1.0 { size.log10().floor() } else { 0.0 };
    let digits = (0_u8..8).take_while(|&d| f64::from(d) < 4.0 - before).count();
    format!("{value:.digits$}")
}

/// Prints to standard output, all at once. Who has closed it has seen enough: that is no error, and
/// whether the request was met does not depend on it.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed?),
    }
}

/// One line on standard error; nobody may be reading it.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "favard: {line}");
}

/// Prints a value as JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    print(&(text + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each unit begins where the one before it would need four digits.
    #[test]
    fn bytes_have_the_right_unit() {
        let shown = [0, 999, 1_000, 1_500_000, 2_000_000_000].map(bytes);
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "1.5 MB", "2.0 GB"]);
    }

    /// A name from a file cannot break a line or hide one.
    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(one_line("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(short("abcdef", 4), "abc…");
    }
}
