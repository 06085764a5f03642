//! The help of every command, as it is in files. `FAVARD_BLESS=1` writes them anew.

use std::path::Path;

use crate::support::run;

const COMMANDS: [&str; 11] = [
    "",
    "pca",
    "svd",
    "info",
    "convert",
    "plan",
    "spectrum",
    "lstsq",
    "kaczmarz",
    "complete",
    "reproduce",
];

/// Help is what the files say, goes to standard output and is no error.
#[test]
fn help_is_golden() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/help");
    for command in COMMANDS {
        let mut args = vec![command, "--help"];
        args.retain(|arg| !arg.is_empty());
        let text = run(&args).met().out;
        let name = if command.is_empty() { "favard" } else { command };
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("FAVARD_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{name}");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
        assert!(text.contains("Examples:"));
    }
}

/// The version is that of the package.
#[test]
fn version() {
    assert_eq!(run(&["--version"]).met().out, format!("favard {}\n", env!("CARGO_PKG_VERSION")));
}
