//! Arguments of `favard reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub const REPRODUCE_HELP: &str = "\
Examples:
  favard reproduce --quick -o paper          every experiment, small: under a minute
  favard reproduce fig1b -o paper            one of them at full size: 10⁶ rows, ten runs
  favard reproduce all -o paper              all of them at full size: minutes
  favard reproduce table1 --quick -o paper --json

Each claim of the paper has a number that is measured here and a range for it: in range, it \"holds\";
else, if its corrected form has its own number in range, it \"holds in corrected form\"; else it \"does
not hold\". The errata are listed in docs/reproduce.md.

Results in DIR: index.html (claims and plots, needs nothing else), claims.json (what --json prints)
and the data as CSV (−1: not reached). Ctrl-C writes the experiments that are finished.";

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Table 1 and the theorems behind it
    Table1,
    /// Figure 1(a): Oja with momentum
    Fig1a,
    /// Figure 1(b): mini-batches
    Fig1b,
    /// Figure 1(c): variance reduction
    Fig1c,
    /// Regions of the polynomial recurrence
    Regions,
    /// Stability, and the ghosts of Lanczos
    Stability,
    /// Best Heavy Ball
    Bestball,
    /// The inhomogeneous recurrence
    Inhomogeneous,
    /// All of them
    All,
}

/// Arguments of `favard reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Which experiment.
    #[arg(default_value = "all")]
    pub experiment: Experiment,

    /// Smaller sizes and fewer runs.
    #[arg(long)]
    pub quick: bool,

    /// Write the page and the data into this folder, which is made if need be.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Seed of the data, the starts and the samples.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the claims as JSON.
    #[arg(long)]
    pub json: bool,
}
