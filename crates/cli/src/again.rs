//! The command of this run, and how a run goes on.

use std::path::Path;

use favard_models::Checkpoints;

use crate::args::FitArgs;
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

/// What is saved, and what is taken up.
pub fn checkpoints(args: &FitArgs) -> Checkpoints {
    let mut checkpoints = Checkpoints::new().every(args.checkpoint_every);
    if let Some(file) = &args.checkpoint {
        checkpoints = checkpoints.save(file);
    }
    if let Some(file) = &args.resume {
        checkpoints = checkpoints.resume(file);
    }
    checkpoints
}

/// Says how a run that was interrupted, or ran out of passes, goes on; `otherwise` where it was not
/// saved.
pub fn say(args: &FitArgs, stop: &str, otherwise: &str) {
    let interrupted = stop == "cancelled";
    match &args.checkpoint {
        Some(file) if interrupted => {
            let command = shown::one_line(&resuming(file));
            eprintln!("favard: interrupted; it goes on, to the same bits, by: {command}");
        }
        Some(file) if matches!(stop, "passes" | "iterations") => {
            let command = shown::one_line(&resuming(file));
            eprintln!("favard: it goes on with a larger --max-passes by: {command}");
        }
        None if interrupted => eprintln!("favard: interrupted; {otherwise}"),
        _ => {}
    }
}
