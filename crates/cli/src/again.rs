//! The command of this run, and how a run goes on.

use std::path::Path;

use crate::args::SaveArgs;
use crate::shown;

/// The command of this run, quoted for a shell.
pub fn command() -> String {
    line(words())
}

/// The same, to take up the run that is saved in a file.
fn resuming(file: &Path) -> String {
    let mut kept = Vec::new();
    let mut words = words();
    while let Some(word) = words.next() {
        if word == "--resume" {
            // Its file.
            words.next();
        } else if !word.starts_with("--resume=") {
            kept.push(word);
        }
    }
    kept.extend(["--resume".to_string(), file.display().to_string()]);
    line(kept.into_iter())
}

fn words() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

fn line(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    let quoted = |word: String| {
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    ["favard".to_string()].into_iter().chain(words.map(quoted)).collect::<Vec<_>>().join(" ")
}

/// Says how a run that was interrupted, or ran out of its budget, goes on: with a larger `budget`, an
/// option; `otherwise` where it was not saved: nobody asked for it, or the method has no state.
pub fn say(save: &SaveArgs, stop: &str, budget: &str, otherwise: &str) {
    let interrupted = stop == "cancelled";
    match save.checkpoint.as_ref().filter(|file| file.exists()) {
        Some(file) if interrupted => {
            let command = shown::one_line(&resuming(file));
            shown::note(&format!("interrupted; it goes on, to the same bits, by: {command}"));
        }
        Some(file) if matches!(stop, "passes" | "iterations") => {
            let command = shown::one_line(&resuming(file));
            shown::note(&format!("it goes on with a larger {budget} by: {command}"));
        }
        None if interrupted => shown::note(&format!("interrupted; {otherwise}")),
        _ => {}
    }
}
