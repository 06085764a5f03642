//! Arguments of `favard complete`.

use std::path::PathBuf;

use clap::Args;

use super::{ReadArgs, SaveArgs};

pub const COMPLETE_HELP: &str = "\
Examples:
  favard complete ratings.csv --rank 5 -o out
  favard complete ratings.tsv --rank 5 --predict wanted.tsv -o out
  favard complete known.mtx --rank 3 --holdout 0.1 --tol 1e-10 --json
  favard complete ratings.csv --rank 5 -o out --checkpoint run.favard
  favard complete ratings.csv --rank 5 -o out --checkpoint run.favard --resume run.favard

ENTRIES is a table of three columns, row, column and value, with or without a header: rows and columns
are told by their names, which may be numbers, and are kept. Or a .mtx file, whose stored entries are
the known ones. --predict is such a table, of two columns or more.

Results in DIR: left.csv and .npy (rows × rank, orthonormal), values.csv, right.csv and .npy (columns ×
rank), info.json, and with --predict predictions.csv. A predicted entry is Σ left · value · right.
Met: the misfit of the entries that were fitted, recomputed, is at most T, or no direction improves it.
The held-out error is over entries that nothing was fitted to: it says how good predictions are.";

/// Arguments of `favard complete`.
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The known entries.
    pub entries: PathBuf,

    /// The rank of the matrix.
    #[arg(short, long, value_name = "R")]
    pub rank: usize,

    /// The share of the entries kept aside to measure the error.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.05)]
    pub holdout: f64,

    /// Predict the entries of this table.
    #[arg(long, value_name = "FILE", requires = "output")]
    pub predict: Option<PathBuf>,

    /// The matrix is symmetric: entries of one triangle are enough.
    #[arg(long)]
    pub symmetric: bool,

    /// The relative misfit that is asked for.
    #[arg(long, value_name = "T", default_value_t = 1e-8)]
    pub tol: f64,

    /// Steps of the refinement at most.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_steps: u64,

    /// Seed of the start, the batches and what is kept aside.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,

    /// Write the results into this folder, which is made if need be.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub save: SaveArgs,
}
