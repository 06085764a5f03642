//! [`help`]: `--help` of a measuring program.

/// Whether `--help` is among the arguments: then it prints what the source of the program begins with.
#[must_use]
pub fn help(source: &str) -> bool {
    let is_asked = std::env::args().skip(1).any(|arg| arg == "--help" || arg == "-h");
    if is_asked {
        let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
        let text = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
        text.filter(|line| !line.starts_with("```")).for_each(|line| println!("{line}"));
    }
    is_asked
}
