//! [`Fit`]: what a PCA and a singular value decomposition have in common once they are done.

use std::time::Duration;

use favard_engine::{Info, Record};
use favard_models::{Certificate, PcaFit, SvdFit};
use favard_operator::Block;
use serde::Serialize;

use crate::args::FitArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::memory;

/// A finished fit, with everything that is written about it.
pub struct Fit<'a> {
    /// What `--json` prints.
    pub summary: Summary,
    /// One a column, columns of the data × k.
    pub components: &'a Block<f64>,
    /// Rows of the data × k.
    pub scores: Block<f64>,
    /// What the residuals prove.
    pub certificate: Certificate,
    /// Residual by residual.
    pub history: Vec<Record<f64>>,
    /// The eigenvalue behind the last one, if the solver has seen it.
    pub next: Option<f64>,
    /// What a component is called: PC or SV.
    pub prefix: &'static str,
    /// Whether the mean was subtracted, and whether the columns were scaled.
    pub prepared: (bool, bool),
    /// Whether it went on from the components of an earlier fit.
    pub warm: bool,
}

/// The keys are part of the program's interface.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub solver: String,
    pub reason: String,
    pub k: usize,
    pub shape: [usize; 2],
    pub nnz: usize,
    pub eigenvalues: Vec<f64>,
    pub explained_variance: Vec<f64>,
    pub explained_variance_ratio: Vec<f64>,
    pub singular_values: Vec<f64>,
    pub residuals: Vec<f64>,
    pub certified: bool,
    pub stop: String,
    pub iterations: u64,
    pub applications: u64,
    pub passes: f64,
    pub seed: u64,
    pub threads: usize,
    /// Of the fit alone, without files.
    pub seconds: f64,
    /// `null` where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

/// What a fit was made of.
pub struct Run<'a> {
    pub data: &'a Data,
    pub args: &'a FitArgs,
    pub time: Duration,
}

impl Run<'_> {
    fn summary(&self, method: (String, &str), certified: bool, info: &Info<f64>) -> Summary {
        let (rows, cols) = self.data.shape();
        Summary {
            solver: method.0,
            reason: method.1.to_string(),
            k: components(self.args, self.data),
            shape: [rows, cols],
            nnz: self.data.entries(),
            eigenvalues: Vec::new(),
            explained_variance: Vec::new(),
            explained_variance_ratio: Vec::new(),
            singular_values: Vec::new(),
            residuals: Vec::new(),
            certified,
            stop: format!("{:?}", info.stop).to_lowercase(),
            iterations: info.iterations,
            applications: info.applications,
            passes: info.passes,
            seed: self.args.seed,
            threads: rayon::current_num_threads(),
            seconds: self.time.as_secs_f64(),
            peak_memory_bytes: memory::peak(),
        }
    }

    /// From a PCA of data that was centred and scaled, or not.
    pub fn pca<'a>(
        &self,
        fit: &'a PcaFit<f64>,
        prepared: (bool, bool),
    ) -> favard_models::Result<Fit<'a>> {
        let (solver, reason) = fit.method();
        let summary = self.summary((solver.to_string(), reason), fit.is_certified(), fit.info());
        let summary = Summary {
            eigenvalues: fit.explained_variance(),
            explained_variance: fit.explained_variance(),
            explained_variance_ratio: fit.explained_variance_ratio(),
            singular_values: fit.singular_values(),
            residuals: fit.residuals().to_vec(),
            ..summary
        };
        Ok(Fit {
            summary,
            components: fit.components(),
            scores: fit.transform(&self.data.rows())?,
            certificate: fit.certificate().clone(),
            history: fit.info().history.clone(),
            next: fit.info().ritz.get(fit.components().cols()).copied(),
            prefix: "PC",
            prepared,
            warm: false,
        })
    }

    /// From a singular value decomposition; the eigenvalues are σ².
    pub fn svd<'a>(&self, fit: &'a SvdFit<f64>) -> favard_models::Result<Fit<'a>> {
        let (solver, reason) = fit.method();
        let summary = self.summary((solver.to_string(), reason), fit.is_certified(), fit.info());
        let singular_values = fit.singular_values();
        let summary = Summary {
            eigenvalues: singular_values.iter().map(|sigma| sigma * sigma).collect(),
            explained_variance: fit.explained_variance().to_vec(),
            explained_variance_ratio: fit.explained_variance_ratio(),
            singular_values,
            residuals: fit.residuals().to_vec(),
            ..summary
        };
        Ok(Fit {
            summary,
            components: fit.components(),
            scores: fit.transform(&self.data.rows())?,
            certificate: fit.certificate().clone(),
            history: fit.info().history.clone(),
            next: fit.info().ritz.get(fit.components().cols()).copied(),
            prefix: "SV",
            prepared: (false, false),
            warm: false,
        })
    }
}

/// How many components are looked for.
pub fn components(args: &FitArgs, data: &Data) -> usize {
    let (rows, cols) = data.shape();
    args.k.unwrap_or(6.min(rows).min(cols))
}

/// `Ok` when there is memory for a fit, by the model's own statement, and its results, beside the data.
pub fn check_memory(
    args: &FitArgs,
    data: &Data,
    stated: impl FnOnce() -> favard_models::Result<usize>,
) -> Result<()> {
    let (rows, cols) = data.shape();
    let k = components(args, data).min(rows).min(cols);
    // Components and scores, as they are found and as they are written.
    let results = memory::vectors(cols, 2 * k).saturating_add(memory::vectors(rows, k));
    // Mean, scale and moments of the columns: what any method takes, whatever else it does.
    let least = results.saturating_add(memory::vectors(cols, 8));
    memory::check(&data.name, "a fit", least)?;
    // Blocks as wide, sums over the columns, the square of the smaller side and copies of rows: more than any
    // method takes. Only where it is not there, what the method takes is worth a product with the data.
    let square = memory::vectors(rows.min(cols), rows.min(cols)).saturating_mul(24);
    let ample = least.saturating_mul(16).saturating_add(square);
    let copies = memory::vectors(data.entries(), 8);
    if memory::check(&data.name, "a fit", ample.saturating_add(copies)).is_ok() {
        return Ok(());
    }
    // Now that this much is there, one product with the data tells the rest.
    let fit = stated().map_err(Error::of(&data.name))?;
    memory::check(&data.name, "a fit", results.saturating_add(fit as u64))
}

impl Fit<'_> {
    /// The names of the components.
    pub fn names(&self) -> Vec<String> {
        (1..=self.components.cols()).map(|j| format!("{}{j}", self.prefix)).collect()
    }

    /// The columns with the largest loadings of a component, largest first, with their loadings.
    pub fn top(&self, component: usize, count: usize) -> Vec<(usize, f64)> {
        let mut top: Vec<(usize, f64)> = Vec::with_capacity(count + 1);
        for i in 0..self.components.rows() {
            let loading = self.components.row(i)[component];
            let last = top.last().map_or(0.0, |&(_, last)| last.abs());
            if loading.abs() > if top.len() < count { 0.0 } else { last } {
                // Behind those that are as large: they came first.
                let place = top.partition_point(|&(_, other)| other.abs() >= loading.abs());
                top.insert(place, (i, loading));
                top.truncate(count);
            }
        }
        top
    }
}
