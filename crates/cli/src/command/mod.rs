//! The commands, one a file.

mod complete;
mod convert;
mod info;
mod kaczmarz;
mod lstsq;
mod pca;
mod plan;
mod reproduce;
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
        Command::Lstsq(args) => lstsq::run(&args),
        Command::Kaczmarz(args) => kaczmarz::run(&args),
        Command::Complete(args) => complete::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    }
}
