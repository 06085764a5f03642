//! What is shown on a terminal.

use std::fmt::Write as _;
use std::process::Command;

use crate::support::Folder;

/// Runs the program on a pseudo-terminal, as `script` makes one; gives all that was written to it.
fn on_terminal(args: &[&str]) -> String {
    let words = args.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let command = format!("{} {words}", env!("CARGO_BIN_EXE_favard"));
    let output = Command::new("script").args(["-qefc", &command, "/dev/null"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The line has passes, the residual and its goal, and the peak of memory; with `lstsq`, `kaczmarz`
/// and `complete`, too. It goes when the run ends, and what is said after it stands alone.
#[test]
fn progress_is_shown() {
    let folder = Folder::new();
    let [a, b] = crate::interrupt::system(&folder);
    let mut entries = String::new();
    for i in 0..120_u32 {
        for j in (0..120_u32).filter(|j| (i * 31 + j * 17) % 5 < 2) {
            let _ = writeln!(entries, "r{i},c{j},{}", f64::from((i * 37 + j * 91 + i * j) % 101));
        }
    }
    let entries = folder.file("entries.csv", entries);
    let many = "20000";
    let runs: [(&[&str], &str); 4] = [
        (
            &["pca", "-k", "2", "--solver", "power", "--tol", "0", "--max-passes", "400"],
            "of at most 400 passes, residual ",
        ),
        (
            &["lstsq", &a, &b, "--method", "heavy-ball", "--tol", "1e-300", "--max-passes", many],
            "of at most 20000 passes, certificate ",
        ),
        (
            &["kaczmarz", &a, &b, "--tol", "1e-300", "--max-passes", many],
            "of at most 20000 passes, certificate ",
        ),
        (
            &["complete", &entries, "--rank", "20", "--tol", "0", "--max-steps", "300"],
            " passes, residual ",
        ),
    ];
    for (args, words) in runs {
        let seen = on_terminal(args);
        assert!(seen.contains(words) && seen.contains(", peak "), "{args:?}: {seen}");
    }
}
