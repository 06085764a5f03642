//! How long do principal components of a given accuracy take, here and elsewhere?
//!
//! ```text
//! cargo bench -p favard-benches --bench pca -- [--quick] [--rounds N] [--threads N] [--only NAME]
//!                                              [FILE.npz …]
//! ```
//!
//! Data sets are generated from fixed seeds; files of `scipy.sparse.save_npz` are added. Each is
//! solved for k components, centred (implicitly) and as it is, to a residual
//!
//! ```text
//! max_j ‖AᵀA v_j − s_j² v_j‖ / s_1² ≤ τ,     τ = 1e-4 and 1e-8,
//! ```
//!
//! which one function measures for everybody, in f64 and outside of the timing. favard is
//! `Pca::new(k).center(c).tolerance(τ)` as it comes. For a peer the loosest parameter that reaches τ
//! is searched on a ladder first, then that one is timed. Rounds are interleaved (favard, each peer,
//! again) and the shortest counts; a peer more than 10 times as slow is timed once. Everybody has
//! the same number of threads.
//!
//! What favours the peers: the transpose and the mean that scipy and PRIMME are given are made
//! outside of the timing, and the search for the parameter is not timed.
//!
//! | peer | with |
//! |---|---|
//! | ARPACK, PROPACK, LOBPCG | `scipy.sparse.linalg.svds` on an operator with a transpose stored by rows |
//! | PRIMME | `primme.svds` on the same operator, one vector at a time and blocks of 8 |
//! | scikit-learn | `TruncatedSVD` (randomized, raw), `PCA`: arpack (sparse), randomized (dense), `covariance_eigh` (up to 3000 columns) |
//! | numpy | `eigh(X.T @ X)` for dense data as it is |
//! | single-svdlib | `irlba`, `randomized` with subspace iteration and with block Krylov, for sparse data |
//!
//! SLEPc is not here: its installation builds PETSc.
//!
//! A check comes for free: eigenvalues that two solvers found to residuals ρ and ρ' differ by at most
//! ρ + ρ', or one of the two has missed one. `OTHER VALUES` marks such a peer.
//!
//! The numbers are also written as JSON to `favard-benches/pca/results.json` in the target
//! directory.

mod case;
mod data;
mod options;
mod peer;
mod python;
mod report;
mod search;
mod svdlib;

use std::fs;
use std::process::ExitCode;

use favard_benches::{Outcome, folder};
use rayon::ThreadPoolBuilder;
use serde_json::json;

use crate::data::{COMPONENTS, Matrix, RECIPES};
use crate::options::Options;
use crate::peer::{Bench, Problem};
use crate::python::Python;
use crate::report::{Case, markdown};

fn main() -> ExitCode {
    if favard_benches::help(include_str!("main.rs")) {
        return ExitCode::SUCCESS;
    }
    let outcome =
        Options::parse(std::env::args().skip(1)).map_err(Into::into).and_then(|o| run(&o));
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("{failed} problems could not be measured");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// All data sets; the number of problems that could not be measured.
fn run(options: &Options) -> Outcome<usize> {
    ThreadPoolBuilder::new().num_threads(options.threads).build_global()?;
    let mut python = Python::start(options.threads)?;
    println!("{}, single-svdlib 2.0; {} threads", python.versions, options.threads);
    println!("best of {} interleaved rounds", options.rounds);
    let mut results = Results { cases: Vec::new(), failed: 0 };
    for recipe in RECIPES.iter().filter(|recipe| options.wants(recipe.name)) {
        let x = recipe.make(options.quick)?;
        python.load(&x)?;
        results.add(options, &mut python, recipe.name, &x, recipe.components)?;
    }
    for file in &options.files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if options.wants(&name) {
            let x = python.read(file)?;
            results.add(options, &mut python, &name, &x, COMPONENTS)?;
        }
    }
    println!("\n{}", markdown(&results.cases));
    Ok(results.failed)
}

struct Results {
    cases: Vec<Case>,
    failed: usize,
}

impl Results {
    /// Measures one data set; what fails is reported and counted, and the rest goes on.
    fn add(
        &mut self,
        options: &Options,
        python: &mut Python,
        name: &str,
        x: &Matrix,
        components: &[usize],
    ) -> Outcome<()> {
        let mut bench = Bench::new(python, x);
        let (rows, cols) = x.shape();
        for center in [true, false] {
            for &k in components.iter().filter(|&&k| k <= rows.min(cols)) {
                let problem = Problem { center, k };
                match case::measure(&mut bench, name, x, problem, options.rounds) {
                    Ok(cases) => {
                        cases.iter().for_each(|case| println!("\n{case}"));
                        self.cases.extend(cases);
                    }
                    Err(error) => {
                        println!("\n{name}, centred: {center}, k {k}: not measured: {error}");
                        self.failed += 1;
                    }
                }
                self.save(options, bench.python)?;
            }
        }
        Ok(())
    }

    /// After every problem, so that an interrupted run leaves its numbers.
    fn save(&self, options: &Options, python: &Python) -> Outcome<()> {
        let results = json!({
            "versions": python.versions,
            "threads": options.threads,
            "rounds": options.rounds,
            "quick": options.quick,
            "cases": self.cases,
        });
        fs::write(folder("pca")?.join("results.json"), serde_json::to_string_pretty(&results)?)?;
        Ok(())
    }
}
