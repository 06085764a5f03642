//! The favard program: principal components of a matrix in a file, with their proof.
//!
//! `main` only parses, runs one command and turns its outcome into an exit code: 0 when the request
//! was met, 2 when it was not (results are written all the same), 1 for an error, which is one line.

mod again;
mod args;
mod command;
mod covariance;
mod data;
mod density;
mod error;
mod example;
mod fit;
mod memory;
mod output;
mod progress;
mod report;
mod shown;
mod system;
mod triplets;
mod watch;

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::Cli;
use error::{Error, Result};

/// Whether a request was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// What was asked for is there.
    Met,
    /// There are results, and they are not as exact as was asked for.
    NotConverged,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match run(cli) {
        Ok(Outcome::Met) => ExitCode::SUCCESS,
        Ok(Outcome::NotConverged) => ExitCode::from(2),
        Err(error) => fail(&error.to_string()),
    }
}

/// Bytes of the stack of a thread, as a main thread has: products recurse.
const STACK: usize = 8 << 20;

fn run(cli: Cli) -> Result<Outcome> {
    log();
    // 0: as many as there are processors, or as RAYON_NUM_THREADS says.
    let threads = cli.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK);
    pool.build_global().map_err(|error| Error::System(error.to_string()))?;
    if let Some(bytes) = cli.memory {
        memory::limit(bytes);
    }
    // On a thread of the pool: one that is not would sleep through every product, and be woken after it.
    rayon::scope(|_| command::run(cli.command))
}

/// `RUST_LOG` decides what is logged to stderr; nothing without it.
fn log() {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // It fails only where a subscriber is set already.
    let _ = subscriber.try_init();
}

/// Help and version are answers; everything else is one line and the exit code 1.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Who reads the output may have seen enough.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return fail("a command is missing (see --help)");
    }
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    let message = words.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    fail(&format!("{message} (see --help)"))
}

/// One line, whatever the names in it are.
fn fail(message: &str) -> ExitCode {
    shown::note(&shown::one_line(message));
    ExitCode::FAILURE
}
