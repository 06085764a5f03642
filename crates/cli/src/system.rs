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
use crate::args::{ReadArgs, SaveArgs, SystemArgs};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::output::Made;
use crate::progress::Progress;
use crate::{again, memory, output, shown};

/// Coefficients that are listed.
const LISTED: usize = 10;

/// A matrix and right-hand sides.
pub struct System {
    pub data: Data,
    pub rhs: Block<f64>,
    /// Names of the right-hand sides.
    names: Vec<String>,
    _made: Made,
}

/// Blocks as wide as the right-hand sides that a method keeps of the side of the rows and of that of
/// the columns: iterates, directions, images, residuals and their scratch.
const BLOCKS: usize = 8;

impl System {
    /// Reads both files; the folder of the results is made before the work is done.
    pub fn load(args: &SystemArgs) -> Result<Self> {
        let made = output::prepare(args.output.as_deref())?;
        let data = Data::load(Some(&args.matrix), &args.data)?;
        tracing::info!(shape = ?data.shape(), entries = data.entries(), "loaded");
        let (rows, cols) = data.shape();
        let (rhs, names) = columns(&args.rhs, &args.data.read, rows, None)?;
        let count = rhs.ncols();
        let needed = memory::vectors(rows.saturating_add(cols), BLOCKS * count);
        memory::check(&data.name, "the solution", needed)?;
        let names = names.unwrap_or_else(|| match count {
            1 => vec!["x".to_string()],
            _ => (1..=count).map(|j| format!("x{j}")).collect(),
        });
        Ok(Self { data, rhs: Block::from_array(rhs.view()), names, _made: made })
    }

    /// `Ok` where a run that reads a few rows a step can be saved, if that is asked for.
    pub fn check_saved(&self, args: &SystemArgs, save: &SaveArgs) -> Result<()> {
        let (count, (_, cols)) = (self.rhs.cols(), self.data.shape());
        if save.is_asked_for() && count > cols {
            let problem = format!(
                "columns: {count} are more than the {cols} of the matrix: such runs are made in \
                 parts, which --checkpoint does not save"
            );
            return Err(Error::argument(args.rhs.display().to_string(), problem));
        }
        Ok(())
    }
}

/// The columns of a file with so many rows, and so many columns where that is said; a single row may
/// stand for a column. The shape is looked at before the matrix is written out in full.
pub fn columns(
    path: &Path,
    read: &ReadArgs,
    rows: usize,
    wanted: Option<usize>,
) -> Result<(Array2<f64>, Option<Vec<String>>)> {
    let name = path.display().to_string();
    let Loaded { matrix, column_names, .. } = favard_io::read_with::<f64>(path, &read.beside())?;
    let (found, count) = matrix.shape();
    let is_row = found == 1 && count == rows && rows != 1;
    let (height, width) = if is_row { (count, 1) } else { (found, count) };
    if height != rows {
        return Err(Error::argument(name, format!("rows: expected {rows}, found {found}")));
    }
    if let Some(wanted) = wanted.filter(|wanted| *wanted != width) {
        return Err(Error::argument(name, format!("columns: expected {wanted}, found {width}")));
    }
    // In full, and as a block.
    memory::check(&name, "the dense matrix", memory::vectors(height, 2 * width))?;
    let dense = matrix.into_dense().map_err(|kind| favard_io::Error::new(path, kind))?;
    if is_row {
        return Ok((dense.view().t().to_owned(), None));
    }
    Ok((dense.into_inner().into_owned(), column_names))
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
pub struct Own<'a, E> {
    /// Keys of the JSON.
    pub keys: E,
    /// A line for people.
    pub line: Option<String>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Where the run is saved.
    pub save: &'a SaveArgs,
}

/// Shows a record of a run.
pub fn show(progress: &Progress, args: &SystemArgs, record: &Record<f64>) {
    let far = format!("{:.1} of at most {} passes", record.passes, args.max_passes);
    progress.step(record, &far, "certificate", record.residual, args.tol);
}

impl System {
    /// Writes everything that was asked for.
    pub fn finish<E: Serialize>(
        &self,
        found: &Solution<f64>,
        args: &SystemArgs,
        own: Own<'_, E>,
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
        let otherwise = "this is the solution found so far";
        again::say(own.save, &summary.stop, "--max-passes", otherwise);
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
