//! Arguments of `favard lstsq` and `favard kaczmarz`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DataArgs, SaveArgs};

pub const LSTSQ_HELP: &str = "\
Examples:
  favard lstsq design.csv response.csv --intercept
  favard lstsq A.mtx b.npy --ridge 0.1 -o out
  favard lstsq A.npz b.csv --weights w.csv --tol 1e-10 --json
  favard lstsq A.npz b.csv --method svrg --batch 256
  favard lstsq A.npz b.csv -o out --checkpoint run.favard
  favard lstsq A.npz b.csv -o out --checkpoint run.favard --resume run.favard

A is in any format; b is a .npy, .csv, .tsv or .mtx file with a row for each row of A and a column for
each right-hand side. How a file is to be read is said of A; of b and the weights it is found out.

Methods: auto, direct, cg, lsmr, heavy-ball, chebyshev; and two that read a few rows a step: minibatch, for
systems that have a solution (else it ends at the noise, above T, and says so), and svrg, for any.

Results in DIR: solution.csv and .npy (columns of A × right-hand sides; with --intercept the last row
of the .csv is the intercept, which intercept.npy has, too), info.json (what --json prints).
Certified: for each b, ‖Aᵀr‖/(‖A‖‖r‖) or ‖r‖/‖b‖, recomputed from the data, is at most T.";

pub const KACZMARZ_HELP: &str = "\
Examples:
  favard kaczmarz A.mtx b.npy                rows drawn by their norms, one a step
  favard kaczmarz A.npz b.csv --batch 64 -o out
  favard kaczmarz A.csv b.csv --batch 64 --inconsistent
  favard kaczmarz A.csv b.csv --batch 16 --step 1 --momentum 0.5
  favard kaczmarz A.npz b.csv -o out --checkpoint run.favard
  favard kaczmarz A.npz b.csv -o out --checkpoint run.favard --resume run.favard

Step ω and momentum γ are chosen for the batch unless given. Given ones that diverge in mean square are
refused, with the batch from which they converge: momentum accelerates the mean for any batch, but the
mean square only from a batch on that grows with the condition of A.

Results in DIR: solution.csv and .npy, info.json. Certified: ‖Ax − b‖/‖b‖, recomputed from the data, is
at most T; with --inconsistent, the certificate of least squares.";

/// What both are told.
#[derive(Debug, Args)]
pub struct SystemArgs {
    /// The matrix.
    #[arg(value_name = "A")]
    pub matrix: PathBuf,

    /// The right-hand sides.
    #[arg(value_name = "B")]
    pub rhs: PathBuf,

    /// The certificate that is asked for.
    #[arg(long, value_name = "T", default_value_t = 1e-8)]
    pub tol: f64,

    /// Passes over the data at most.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_passes: u64,

    /// Seed of probes and samples.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,

    /// Write the results into this folder, which is made if need be.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub data: DataArgs,
}

/// A method of least squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LstsqMethod {
    /// Chosen by the size and the condition
    Auto,
    /// The Gram matrix, formed and refined
    Direct,
    /// Conjugate gradients
    Cg,
    /// LSMR
    Lsmr,
    /// Polyak's heavy ball
    HeavyBall,
    /// The Chebyshev semi-iteration
    Chebyshev,
    /// Heavy ball on batches of rows
    Minibatch,
    /// SVRG with momentum
    Svrg,
}

/// Arguments of `favard lstsq`.
#[derive(Debug, Args)]
pub struct LstsqArgs {
    #[command(flatten)]
    pub system: SystemArgs,

    /// The method.
    #[arg(long, value_name = "NAME", default_value = "auto", hide_possible_values = true)]
    pub method: LstsqMethod,

    /// Rows of a step of minibatch and svrg; 64 unless given.
    #[arg(long, value_name = "S")]
    pub batch: Option<NonZeroUsize>,

    /// λ of ‖Ax − b‖² + λ‖x‖².
    #[arg(long, value_name = "L", default_value_t = 0.0)]
    pub ridge: f64,

    /// Fit an intercept, which is not penalised.
    #[arg(long)]
    pub intercept: bool,

    /// A weight for each row, in a file like b.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,

    #[command(flatten)]
    pub save: SaveArgs,
}

/// Arguments of `favard kaczmarz`.
#[derive(Debug, Args)]
pub struct KaczmarzArgs {
    #[command(flatten)]
    pub system: SystemArgs,

    /// Rows of a step, their projections averaged.
    #[arg(long, value_name = "S", default_value = "1")]
    pub batch: NonZeroUsize,

    /// Project onto all equations of a batch at once.
    #[arg(long, conflicts_with = "inconsistent")]
    pub blocks: bool,

    /// The system may have no solution: find that of least squares.
    #[arg(long)]
    pub inconsistent: bool,

    /// The step ω; chosen unless given, with --momentum.
    #[arg(long, value_name = "W", requires = "momentum")]
    pub step: Option<f64>,

    /// The momentum γ; 0 alone for none.
    #[arg(long, value_name = "G")]
    pub momentum: Option<f64>,

    #[command(flatten)]
    pub save: SaveArgs,
}
