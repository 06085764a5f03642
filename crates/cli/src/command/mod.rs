//! The commands, one a file.

mod convert;
mod info;
mod pca;
mod plan;
mod spectrum;
mod svd;

use crate::Outcome;
use crate::args::Command;
use crate::error::Result;

/// Runs a command.
pub fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Pca(args) => pca::run(&args),
        Command::Svd(args) => svd::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Spectrum(args) => spectrum::run(&args),
    }
}
