//! What `favard lstsq` and `favard kaczmarz` have in common: their files, and what is said of a
//! solution.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use favard_engine::Record;
use favard_io::{Loaded, Table};
use favard_models::least_squares::Solution;
use favard_operator::Block;
use ndarray::{Array2, Axis};
use serde::Serialize;

use crate::Outcome;
use crate::args::SystemArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::watch::interrupted;
use crate::{memory, output, shown};

/// Coefficients that are listed.
const LISTED: usize = 10;

/// A matrix and right-hand sides.
pub struct System {
    pub data: Data,
    pub rhs: Block<f64>,
    /// Names of the right-hand sides.
    names: Vec<String>,
}

impl System {
    /// Reads both files; the folder of the results is made before the work is done.
    pub fn load(args: &SystemArgs) -> Result<Self> {
        output::prepare(args.output.as_deref())?;
        let data = Data::load(Some(&args.matrix))?;
        tracing::info!(shape = ?data.shape(), entries = data.entries(), "loaded");
        let (rhs, names) = columns(&args.rhs, data.shape().0)?;
        let count = rhs.ncols();
        let names = names.unwrap_or_else(|| match count {
            1 => vec!["x".to_string()],
            _ => (1..=count).map(|j| format!("x{j}")).collect(),
        });
        Ok(Self { data, rhs: Block::from_array(rhs.view()), names })
    }
}

/// The columns of a file with so many rows; a single row may stand for a column.
pub fn columns(path: &Path, rows: usize) -> Result<(Array2<f64>, Option<Vec<String>>)> {
    let name = path.display().to_string();
    let Loaded { matrix, column_names, .. } = favard_io::read::<f64>(path)?;
    let dense = matrix.into_dense().map_err(Error::of(&name))?;
    let (found, count) = dense.view().dim();
    if found == 1 && count == rows && rows != 1 {
        return Ok((dense.view().t().to_owned(), None));
    }
    if found != rows {
        return Err(Error::argument(name, format!("rows: expected {rows}, found {found}")));
    }
    Ok((dense.view().to_owned(), column_names))
}

/// What `--json` prints; the keys are part of the program's interface.
#[derive(Serialize)]
pub struct Summary<E> {
    reason: String,
    shape: [usize; 2],
    nnz: usize,
    right_hand_sides: usize,
    residual_norms: Vec<f64>,
    relative_residuals: Vec<f64>,
    certificates: Vec<f64>,
    norm_bound: f64,
    certified: bool,
    stop: String,
    iterations: u64,
    applications: u64,
    passes: f64,
    #[serde(flatten)]
    own: E,
    seed: u64,
    threads: usize,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

/// What one command adds.
pub struct Own<E> {
    /// Keys of the JSON.
    pub keys: E,
    /// A line for people.
    pub line: Option<String>,
    /// Whether there is an intercept.
    pub intercept: bool,
}

/// Shows a record of a run.
pub fn show(progress: &Progress, args: &SystemArgs, record: &Record<f64>) {
    tracing::info!(record.tick, record.passes, record.residual, "step");
    let (passes, most, residual, tol) = (record.passes, args.max_passes, record.residual, args.tol);
    progress.say(|| {
        format!("{passes:.1} of at most {most} passes, certificate {residual:.1e} of {tol:.0e}")
    });
}

impl System {
    /// Writes everything that was asked for.
    pub fn finish<E: Serialize>(
        &self,
        found: &Solution<f64>,
        args: &SystemArgs,
        own: Own<E>,
        time: Duration,
    ) -> Result<Outcome> {
        let (rows, cols) = self.data.shape();
        let relative =
            |(residual, size): (&f64, &f64)| if *size > 0.0 { residual / size } else { 0.0 };
        let summary = Summary {
            reason: found.reason.clone(),
            shape: [rows, cols],
            nnz: self.data.entries(),
            right_hand_sides: self.rhs.cols(),
            residual_norms: found.residuals.clone(),
            relative_residuals: found.residuals.iter().zip(&found.sizes).map(relative).collect(),
            certificates: found.certificates.clone(),
            norm_bound: found.norm,
            certified: found.is_certified(),
            stop: format!("{:?}", found.info.stop).to_lowercase(),
            iterations: found.info.iterations,
            applications: found.info.applications,
            passes: found.info.passes,
            own: own.keys,
            seed: args.seed,
            threads: rayon::current_num_threads(),
            seconds: time.as_secs_f64(),
            peak_memory_bytes: memory::peak(),
        };
        if let Some(folder) = &args.output {
            self.write(found, own.intercept, folder)?;
            favard_io::write_json(folder.join("info.json"), &summary)?;
        }
        if args.json {
            shown::print_json(&summary)?;
        } else {
            let text = self.text(found, args, &summary, own.line.as_deref(), own.intercept);
            shown::print(&text.map_err(std::io::Error::other)?)?;
        }
        if interrupted() {
            eprintln!("favard: interrupted; this is the solution found so far");
        }
        Ok(if summary.certified { Outcome::Met } else { Outcome::NotConverged })
    }

    fn write(&self, found: &Solution<f64>, intercept: bool, folder: &Path) -> Result<()> {
        favard_io::write_npy(folder.join("solution.npy"), found.x.view())?;
        let mut table = found.x.view().to_owned();
        let mut names: Vec<String> = (0..table.nrows()).map(|i| self.data.column(i)).collect();
        if intercept {
            let last = Array2::from_shape_fn((1, table.ncols()), |(_, j)| found.intercept[j]);
            favard_io::write_npy(folder.join("intercept.npy"), last.view())?;
            table.append(Axis(0), last.view()).map_err(|error| Error::System(error.to_string()))?;
            names.push("(intercept)".to_string());
        }
        let table =
            Table::new(table.view()).row_names(Some(&names)).column_names(Some(&self.names));
        Ok(favard_io::write_csv(folder.join("solution.csv"), &table)?)
    }

    fn text<E>(
        &self,
        found: &Solution<f64>,
        args: &SystemArgs,
        summary: &Summary<E>,
        line: Option<&str>,
        intercept: bool,
    ) -> std::result::Result<String, std::fmt::Error> {
        let mut text = format!("{}\n{}\n", self.data.about(), found.reason);
        writeln!(
            text,
            "{} after {} steps ({:.1} passes), {:.2} s, {}seed {}, {} threads",
            summary.stop,
            summary.iterations,
            summary.passes,
            summary.seconds,
            summary
                .peak_memory_bytes
                .map_or(String::new(), |peak| format!("peak {}, ", shown::bytes(peak))),
            summary.seed,
            summary.threads,
        )?;
        if let Some(line) = line {
            writeln!(text, "{line}")?;
        }
        writeln!(text, "\n{:<16} {:>11}  {:>9}  {:>14}", "", "‖r‖", "‖r‖/‖b‖", "‖Aᵀr‖/(‖A‖‖r‖)")?;
        for (j, name) in self.names.iter().enumerate() {
            writeln!(
                text,
                "{:<16} {:>11}  {:>9.1e}  {:>14.1e}{}",
                shown::short(name, 16),
                shown::number(summary.residual_norms[j]),
                summary.relative_residuals[j],
                summary.certificates[j],
                if found.is_solved(j) { "" } else { "  not solved" },
            )?;
        }
        if self.names.len() == 1 {
            self.coefficients(&mut text, found, intercept)?;
        }
        let tol = args.tol;
        writeln!(
            text,
            "\n{}",
            if summary.certified {
                format!("certified: recomputed from the data, at most {tol:e}")
            } else {
                format!("NOT certified: recomputed from the data, above {tol:e}")
            }
        )?;
        if let Some(folder) = &args.output {
            writeln!(text, "written to {}", shown::one_line(&folder.display().to_string()))?;
        }
        Ok(text)
    }

    /// The largest coefficients.
    fn coefficients(
        &self,
        text: &mut String,
        found: &Solution<f64>,
        intercept: bool,
    ) -> std::fmt::Result {
        let value = |i: usize| found.x.row(i)[0];
        let mut order: Vec<usize> = (0..found.x.rows()).collect();
        order.sort_by(|&a, &b| value(b).abs().total_cmp(&value(a).abs()).then(a.cmp(&b)));
        writeln!(text, "\nlargest coefficients")?;
        if intercept {
            writeln!(text, "{:<24} {:>12}", "(intercept)", shown::number(found.intercept[0]))?;
        }
        for &i in order.iter().take(LISTED) {
            let name = shown::short(&self.data.column(i), 24);
            writeln!(text, "{name:<24} {:>12}", shown::number(value(i)))?;
        }
        Ok(())
    }
}
