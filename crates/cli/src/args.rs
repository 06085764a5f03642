//! The arguments of the program, and its help.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use favard_models::Solver;

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
  favard convert table.csv table.npz

A file is Matrix Market, NumPy .npy, SciPy .npz, CSV or TSV, libsvm, AnnData .h5ad, or a 10x folder.
Exit code: 0 when the request was met, 2 when the result is not as exact as asked for (it is written
all the same), 1 for an error. RUST_LOG=info logs to stderr."
)]
pub struct Cli {
    /// Threads to use; all there are unless said otherwise. The result does not depend on it.
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

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
}

const PCA_HELP: &str = "\
Examples:
  favard pca                                 the built-in example
  favard pca cells.h5ad -k 20 --scale -o out columns to unit variance; results into out/
  favard pca x.npy -k 3 --tol 1e-10 --json   for machines
  favard pca x.mtx -k 3 --solver vr --batch 500
  favard pca x.mtx -k 3 --max-passes 20 -o a; favard pca x.mtx -k 3 --start a -o b

Solvers: auto, exact, krylov, power, momentum, dynamic, chebyshev, heavy-ball, inhomogeneous, oja,
oja-momentum, ada-oja, minibatch, vr-pca, vr.

Results in DIR: components.csv and .npy (columns × k), scores.csv and .npy (rows × k), variances.csv,
summary.json (what --json prints). Ctrl-C finishes the step and writes what is there.
Certified: each residual ‖Cv − λv‖, recomputed from the data, is at most T times the largest λ.";

const SVD_HELP: &str = "\
Examples:
  favard svd counts.mtx -k 20 -o out
  favard svd x.npy -k 3 --tol 1e-10 --json

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

The name of OUT decides: .mtx and .npz are sparse, .npy, .csv and .tsv dense. Names are kept in .csv
and .tsv only. OUT is replaced as a whole or not at all.";

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
}

/// Arguments of `favard convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The file to read.
    pub input: PathBuf,

    /// The file to write.
    pub output: PathBuf,
}
