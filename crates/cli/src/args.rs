//! The arguments of the program, and its help.

mod complete;
mod read;
mod reproduce;
mod save;
mod systems;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use favard_models::Solver;

use complete::COMPLETE_HELP;
pub use complete::CompleteArgs;
pub use read::{DataArgs, FileFormat, ReadArgs};
use reproduce::REPRODUCE_HELP;
pub use reproduce::{Experiment, ReproduceArgs};
pub use save::SaveArgs;
use systems::{KACZMARZ_HELP, LSTSQ_HELP};
pub use systems::{KaczmarzArgs, LstsqArgs, LstsqMethod, SystemArgs};

/// Principal components of a matrix in a file, with a proof of their accuracy.
#[derive(Debug, Parser)]
#[command(
    name = "favard",
    version,
    after_help = "\
Examples:
  favard pca                          the built-in example: topics in documents
  favard info counts.mtx.gz           what is in a file, without loading it
  favard pca counts.mtx.gz -k 10 -o out
  favard pca counts.mtx.gz --report page.html
  favard spectrum counts.mtx.gz       how the eigenvalues are spread
  favard plan --lambda1 1 --lambda2 0.9 --dim 100 --noise 10
  favard convert table.csv table.npz
  favard lstsq design.csv response.csv --intercept
  favard complete ratings.csv --rank 5 -o out
  favard reproduce --quick -o paper   the paper's claims, measured

A file is Matrix Market, NumPy .npy, SciPy .npz, CSV or TSV, libsvm, AnnData .h5ad, or a 10x folder.
Exit code: 0 when the request was met, 2 when the result is not as exact as asked for (it is written
all the same), 1 for an error. RUST_LOG=info logs to stderr."
)]
pub struct Cli {
    /// Threads to use; the result does not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,

    /// Memory that may be taken, as 500M or 8G; what the system has unless given.
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Principal components, certified.
    #[command(after_help = PCA_HELP)]
    Pca(PcaArgs),
    /// Singular values and vectors of the data as it is, certified.
    #[command(after_help = SVD_HELP)]
    Svd(SvdArgs),
    /// Says what is in a file: shape, entries, type and the memory it needs.
    #[command(after_help = INFO_HELP)]
    Info(InfoArgs),
    /// Reads a matrix in one format and writes it in another.
    #[command(after_help = CONVERT_HELP)]
    Convert(ConvertArgs),
    /// Plans a stochastic run: β, steps, batch and passes, practical and guaranteed.
    #[command(after_help = PLAN_HELP)]
    Plan(PlanArgs),
    /// The density of the eigenvalues of the covariance, and the gaps at the top.
    #[command(after_help = SPECTRUM_HELP)]
    Spectrum(SpectrumArgs),
    /// Linear least squares, certified.
    #[command(after_help = LSTSQ_HELP)]
    Lstsq(LstsqArgs),
    /// A linear system by row projections with momentum.
    #[command(after_help = KACZMARZ_HELP)]
    Kaczmarz(KaczmarzArgs),
    /// A matrix of low rank from some of its entries.
    #[command(after_help = COMPLETE_HELP)]
    Complete(CompleteArgs),
    /// The paper's experiments, and its claims beside what was measured.
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArgs),
}

const PCA_HELP: &str = "\
Examples:
  favard pca                                 the built-in example
  favard pca cells.h5ad -k 20 --scale -o out columns to unit variance; results into out/
  favard pca x.npy -k 3 --tol 1e-10 --json   for machines
  favard pca x.mtx -k 3 --solver vr --batch 500
  favard pca x.mtx -k 3 --max-passes 20 -o a; favard pca x.mtx -k 3 --start a -o b
  favard pca x.mtx -k 3 -o out --checkpoint run.favard
  favard pca x.mtx -k 3 -o out --checkpoint run.favard --resume run.favard
  favard pca cells.h5ad -k 20 --on-disk      a file that is larger than the memory

Solvers: auto, exact, krylov, power, momentum, dynamic, chebyshev, heavy-ball, inhomogeneous, oja,
oja-momentum, ada-oja, minibatch, vr-pca, vr.

Results in DIR: components.csv and .npy (columns × k), scores.csv and .npy (rows × k), variances.csv,
summary.json (what --json prints). Ctrl-C finishes the step, saves the run to the checkpoint if there
is to be one, writes what is there, and says by which command it goes on.
Certified: each residual ‖Cv − λv‖, recomputed from the data, is at most T times the largest λ.";

const SVD_HELP: &str = "\
Examples:
  favard svd counts.mtx -k 20 -o out
  favard svd x.npy -k 3 --tol 1e-10 --json
  favard svd x.npy -k 3 -o out --checkpoint run.favard --resume run.favard

Results in DIR: components.csv and .npy (right vectors, columns × k), scores.csv and .npy (X V,
rows × k), variances.csv, summary.json. Nothing is subtracted; `favard pca` subtracts the mean.
Certified: each residual ‖XᵀXv − σ²v‖, recomputed from the data, is at most T times the largest σ².";

const INFO_HELP: &str = "\
Examples:
  favard info counts.mtx.gz
  favard info filtered_feature_bc_matrix/ --json

Only the header is read, where there is one: what it claims may be wrong.";

const CONVERT_HELP: &str = "\
Examples:
  favard convert counts.mtx.gz counts.npz    for scipy.sparse.load_npz
  favard convert cells.h5ad cells.csv        with names
  favard convert years.txt years.npz --header --separator ';'
  favard convert counts.mtx.gz counts.npz --stored; favard pca counts.npz --on-disk

The name of OUT decides: .mtx and .npz are sparse, .npy, .csv and .tsv dense. Names are kept in .csv
and .tsv only. OUT is replaced as a whole or not at all.";

const PLAN_HELP: &str = "\
Examples:
  favard plan --lambda1 1 --lambda2 0.9 --dim 100 --noise 10 --rows 1000000
  favard plan --lambda1 1 --lambda2 0.9 --dim 100 --noise 10 --cos2 0.5
  favard plan x.npy --epsilon 1e-4           spectrum and noise estimated from a file

The practical numbers are exact to leading order; the guaranteed ones are those of the corrected
theorems, which need a start that is close (cos² of at least 1/4, or 1/2 with variance reduction).";

const SPECTRUM_HELP: &str = "\
Examples:
  favard spectrum                            the built-in example
  favard spectrum x.mtx -k 20 --products 100 --bins 40
  favard spectrum x.npy --json

The eigenvalues at the top come from block Lanczos, with residuals as error bars. The counts come
from Chebyshev moments with random vectors; a range is blurred by about 3/products of the whole.";

/// Threads at most: far more than processors only take memory, and tens of thousands stop the machine.
const MOST_THREADS: usize = 1024;

/// A number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(threads) if threads.get() <= MOST_THREADS => Ok(threads),
        _ => Err(format!("not a number from 1 to {MOST_THREADS}")),
    }
}

/// A number of bytes, with a unit or without.
fn bytes(text: &str) -> Result<u64, String> {
    let units = [("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
    let unit = units.into_iter().find_map(|(name, size)| Some((text.strip_suffix(name)?, size)));
    let (number, size) = unit.unwrap_or((text, 1));
    let number: u64 = number.parse().map_err(|_| "not a number of bytes, as 500M".to_string())?;
    number.checked_mul(size).ok_or("more than there can be".to_string())
}

/// Ranges of a density: more would not fit on any screen.
const MOST_BINS: u64 = 100_000;

/// What a fit is told, whichever it is.
#[derive(Debug, Args)]
pub struct FitArgs {
    /// The data, a row for each observation; without it, a built-in example.
    pub file: Option<PathBuf>,

    /// How many components; 6 unless said otherwise, or what the data has.
    #[arg(short, long = "components", value_name = "K")]
    pub k: Option<usize>,

    /// The method.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub solver: Solver,

    /// Residuals at most, relative to the largest eigenvalue.
    #[arg(long, value_name = "T", default_value_t = 1e-6)]
    pub tol: f64,

    /// Passes over the data at most.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_passes: u64,

    /// Rows of a batch, for solvers that sample; chosen from the noise unless given.
    #[arg(long, value_name = "S")]
    pub batch: Option<NonZeroUsize>,

    /// Momentum, for solvers that take it; chosen from the spectrum unless given.
    #[arg(long, value_name = "B")]
    pub beta: Option<f64>,

    /// Seed of the start and of the samples.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,

    /// Write the results into this folder, which is made if need be.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Write a page to look at: one HTML file that needs nothing else.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub save: SaveArgs,

    #[command(flatten)]
    pub data: DataArgs,
}

/// Arguments of `favard pca`.
#[derive(Debug, Args)]
pub struct PcaArgs {
    #[command(flatten)]
    pub fit: FitArgs,

    /// Do not subtract the mean.
    #[arg(long)]
    pub no_center: bool,

    /// Divide each column by its standard deviation.
    #[arg(long)]
    pub scale: bool,

    /// Start from the components that an earlier run wrote into this folder.
    #[arg(long, value_name = "DIR")]
    pub start: Option<PathBuf>,
}

/// Arguments of `favard svd`.
#[derive(Debug, Args)]
pub struct SvdArgs {
    #[command(flatten)]
    pub fit: FitArgs,
}

/// Arguments of `favard info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The file or the 10x folder.
    pub file: PathBuf,

    /// Print as JSON.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// Arguments of `favard convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The file to read.
    pub input: PathBuf,

    /// The file to write.
    pub output: PathBuf,

    /// Do not pack an .npz, so that other commands can leave it on disk.
    #[arg(long)]
    pub stored: bool,

    /// Print as JSON what was written.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// Arguments of `favard plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A file to estimate the spectrum and the noise from.
    pub file: Option<PathBuf>,

    /// The largest eigenvalue.
    #[arg(long, value_name = "L")]
    pub lambda1: Option<f64>,

    /// The second largest eigenvalue.
    #[arg(long, value_name = "L")]
    pub lambda2: Option<f64>,

    /// The dimension.
    #[arg(long, value_name = "D", default_value_t = 100)]
    pub dim: usize,

    /// The noise of one sample, ‖E N²‖.
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    pub noise: f64,

    /// The noise that leaves the first direction, E ‖N u₁‖² beside u₁; at most the noise.
    #[arg(long, value_name = "K")]
    pub kappa: Option<f64>,

    /// The number of rows; without it, a stream.
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,

    /// cos² of the angle between the start and the first direction; 1/D unless given.
    #[arg(long, value_name = "C")]
    pub cos2: Option<f64>,

    /// sin² of the angle that is asked for.
    #[arg(long, value_name = "E", default_value_t = 1e-3)]
    pub epsilon: f64,

    /// Probability of failure.
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    pub delta: f64,

    /// The largest batch that can be had.
    #[arg(long, value_name = "S")]
    pub largest_batch: Option<usize>,

    /// Do not subtract the mean of the file.
    #[arg(long)]
    pub no_center: bool,

    /// Divide each column of the file by its standard deviation.
    #[arg(long)]
    pub scale: bool,

    /// Seed of the estimates.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print as JSON.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: DataArgs,
}

/// Arguments of `favard spectrum`.
#[derive(Debug, Args)]
pub struct SpectrumArgs {
    /// The data; without it, a built-in example.
    pub file: Option<PathBuf>,

    /// Eigenvalues at the top.
    #[arg(short, value_name = "K", default_value_t = 8)]
    pub k: usize,

    /// Block products for the density; twice as many moments.
    #[arg(long, value_name = "N", default_value = "50")]
    pub products: NonZeroUsize,

    /// Random vectors.
    #[arg(long, value_name = "N", default_value = "8")]
    pub probes: NonZeroUsize,

    /// Ranges of equal length.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(1..=MOST_BINS))]
    pub bins: u64,

    /// Do not subtract the mean.
    #[arg(long)]
    pub no_center: bool,

    /// Divide each column by its standard deviation.
    #[arg(long)]
    pub scale: bool,

    /// Seed of the random vectors.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print as JSON.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: DataArgs,
}
