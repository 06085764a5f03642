//! `favard complete`: a matrix of low rank from some of its entries.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use favard_engine::{Record, Stop};
use favard_io::{Matrix, Table};
use favard_models::{Completed, MatrixCompletion};
use favard_operator::Csr;
use ndarray::Array2;
use serde::Serialize;

use crate::Outcome;
use crate::args::{CompleteArgs, FileFormat};
use crate::error::{Error, Result};
use crate::progress::{Progress, flow};
use crate::triplets::{Names, Triplets, wanted};
use crate::watch::catch_interrupts;
use crate::{again, memory, output, shown};

/// What `--json` prints; the keys are part of the program's interface.
#[derive(Serialize)]
struct Summary {
    rank: usize,
    shape: [usize; 2],
    entries: usize,
    reason: String,
    singular_values: Vec<f64>,
    residual: f64,
    held_out_error: Option<f64>,
    held_out_entries: usize,
    /// Rows and columns with fewer fitted entries than the rank.
    undetermined: [usize; 2],
    certified: bool,
    stop: String,
    iterations: u64,
    passes: f64,
    seed: u64,
    threads: usize,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

/// Known entries, with names where the file has them.
struct Known {
    matrix: Csr<'static, f64>,
    names: Option<[Names; 2]>,
}

pub fn run(args: &CompleteArgs) -> Result<Outcome> {
    let _made = output::prepare(args.output.as_deref())?;
    let name = args.entries.display().to_string();
    let known = load(args)?;
    // Before the work is done: it may name rows that are not there.
    let asked = match &args.predict {
        Some(path) => wanted(path, args.read.limits().line_bytes, |f, side| known.find(f, side))?,
        None => Vec::new(),
    };
    check_memory(args, &name, known.matrix.shape())?;
    catch_interrupts()?;
    let progress = Progress::new();
    let mut watch = |record: &Record<f64>| {
        let far = format!(
            "step {} of at most {}, {:.1} passes",
            record.tick, args.max_steps, record.passes
        );
        progress.step(record, &far, "residual", record.residual, args.tol);
        flow()
    };
    let found = MatrixCompletion::new(args.rank)
        .symmetric(args.symmetric)
        .held_out(args.holdout)
        .tolerance(args.tol)
        .iterations(args.max_steps)
        .seed(args.seed)
        .solve_saved(&known.matrix, &args.save.checkpoints(), &mut watch)
        .map_err(Error::of(&name))?;
    let summary = summary(args, &known, &found, progress.finish());
    if let Some(folder) = &args.output {
        write(folder, &known, &found)?;
        favard_io::write_json(folder.join("info.json"), &summary)?;
        if args.predict.is_some() {
            predictions(&folder.join("predictions.csv"), &asked, &found)?;
        }
    }
    if args.json {
        shown::print_json(&summary)?;
    } else {
        shown::print(&text(args, &name, &summary, asked.len()).map_err(std::io::Error::other)?)?;
    }
    let otherwise = "this is the matrix found so far";
    again::say(&args.save, &summary.stop, "--max-steps", otherwise);
    let met = summary.certified || found.refinement().stop == Stop::Converged;
    Ok(if met { Outcome::Met } else { Outcome::NotConverged })
}

impl Known {
    /// The number of a row (side 0) or a column (side 1) by its name, or by its number from 1.
    fn find(&self, field: &str, side: usize) -> Option<usize> {
        if let Some(names) = &self.names {
            return names[side].find(field);
        }
        let (rows, cols) = self.matrix.shape();
        let number: usize = field.parse().ok()?;
        (number >= 1 && number <= [rows, cols][side]).then(|| number - 1)
    }

    fn list(&self, side: usize) -> Option<&[String]> {
        self.names.as_ref().map(|names| names[side].list.as_slice())
    }
}

/// `Ok` when there is memory for the factors: each is kept as iterate, gradient, direction and
/// product, of the refinement and of the start, and once more as it is written.
fn check_memory(args: &CompleteArgs, name: &str, (rows, cols): (usize, usize)) -> Result<()> {
    const BLOCKS: usize = 16;
    let rank = args.rank.min(rows).min(cols);
    let needed = memory::vectors(rows.saturating_add(cols), BLOCKS.saturating_mul(rank));
    memory::check(name, "the completion", needed)
}

/// The stored entries of a matrix, or a table of triplets.
fn load(args: &CompleteArgs) -> Result<Known> {
    let (path, read) = (&args.entries, &args.read);
    let name = path.display().to_string();
    if is_matrix(path, read.format)? {
        return match favard_io::read_with::<f64>(path, &read.options())?.matrix {
            Matrix::Sparse(matrix) => Ok(Known { matrix, names: None }),
            Matrix::Dense(_) => {
                let problem = "is a full matrix: every entry is known, expected a coordinate file";
                Err(Error::argument(name, problem))
            }
        };
    }
    let Triplets { rows, columns, entries } = Triplets::read(path, read, args.symmetric)?;
    let shape = (rows.list.len(), columns.list.len());
    let matrix = MatrixCompletion::entries(shape, &entries).map_err(Error::of(&name))?;
    Ok(Known { matrix, names: Some([rows, columns]) })
}

/// Whether a file is a matrix, by what is said of it, its first bytes or its name: everything but a
/// table.
fn is_matrix(path: &Path, format: Option<FileFormat>) -> Result<bool> {
    if let Some(format) = format {
        return Ok(format != FileFormat::Csv);
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(14).read_to_end(&mut start));
    read.map_err(|error| favard_io::Error::new(path, error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let by_name = [".mtx", ".mtx.gz", ".npy", ".npz", ".h5ad"];
    Ok(start == b"%%MatrixMarket" || by_name.iter().any(|end| name.ends_with(end)))
}

fn summary(args: &CompleteArgs, known: &Known, found: &Completed<f64>, time: Duration) -> Summary {
    let (rows, cols) = known.matrix.shape();
    let info = found.refinement();
    Summary {
        rank: args.rank,
        shape: [rows, cols],
        entries: known.matrix.entries(),
        reason: found.method().to_string(),
        singular_values: found.values().to_vec(),
        residual: found.residual(),
        held_out_error: found.held_out_error(),
        held_out_entries: found.held_out_entries(),
        undetermined: [found.undetermined().0.len(), found.undetermined().1.len()],
        certified: found.is_certified(),
        stop: format!("{:?}", info.stop).to_lowercase(),
        iterations: info.iterations,
        passes: info.passes + found.spectral().passes,
        seed: args.seed,
        threads: rayon::current_num_threads(),
        seconds: time.as_secs_f64(),
        peak_memory_bytes: memory::peak(),
    }
}

/// The factors.
fn write(folder: &Path, known: &Known, found: &Completed<f64>) -> Result<()> {
    let names: Vec<String> = (1..=found.values().len()).map(|j| format!("factor {j}")).collect();
    for (file, side, factor) in [("left", 0, found.left()), ("right", 1, found.right())] {
        favard_io::write_npy(folder.join(format!("{file}.npy")), factor.view())?;
        let table =
            Table::new(factor.view()).row_names(known.list(side)).column_names(Some(&names));
        favard_io::write_csv(folder.join(format!("{file}.csv")), &table)?;
    }
    let values = Array2::from_shape_fn((names.len(), 1), |(j, _)| found.values()[j]);
    let title = ["singular_value".to_string()];
    let table = Table::new(values.view()).row_names(Some(&names)).column_names(Some(&title));
    Ok(favard_io::write_csv(folder.join("values.csv"), &table)?)
}

/// A line for each entry that was asked for.
fn predictions(
    path: &Path,
    asked: &[([String; 2], [usize; 2])],
    found: &Completed<f64>,
) -> Result<()> {
    let mut values = Vec::with_capacity(asked.len());
    for (_, [row, column]) in asked {
        values.push(found.predict(*row, *column).map_err(Error::of("predictions"))?);
    }
    Ok(favard_io::write_atomic(path, |to| {
        writeln!(to, "row,column,prediction")?;
        for ((fields, _), value) in asked.iter().zip(&values) {
            writeln!(to, "{},{},{value}", quoted(&fields[0]), quoted(&fields[1]))?;
        }
        Ok(())
    })?)
}

/// A name as a field of CSV.
fn quoted(name: &str) -> String {
    if name.contains([',', '"']) || name.trim() != name {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

fn text(
    args: &CompleteArgs,
    name: &str,
    summary: &Summary,
    predicted: usize,
) -> std::result::Result<String, std::fmt::Error> {
    let [rows, cols] = summary.shape;
    let mut text = format!(
        "{}: {rows} × {cols}, {} entries known ({:.2} % of all)\n{}\n",
        shown::one_line(name),
        summary.entries,
        100.0 * summary.entries as f64 / (rows as f64 * cols as f64),
        summary.reason,
    );
    writeln!(
        text,
        "{} after {} steps ({:.1} passes), {:.2} s, {}seed {}, {} threads\n",
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
    let values: Vec<String> = summary.singular_values.iter().map(|v| shown::number(*v)).collect();
    writeln!(text, "singular values  {}", values.join("  "))?;
    writeln!(text, "misfit           {:.1e} of the fitted entries", summary.residual)?;
    if let Some(error) = summary.held_out_error {
        let count = summary.held_out_entries;
        writeln!(text, "held-out error   {error:.1e} over {count} entries that were kept aside")?;
    }
    let [rows, cols] = summary.undetermined;
    if rows + cols > 0 {
        writeln!(
            text,
            "{rows} rows and {cols} columns have fewer fitted entries than the rank: predictions \
             there are not determined"
        )?;
    }
    let tol = args.tol;
    writeln!(
        text,
        "{}",
        match (summary.certified, summary.stop.as_str()) {
            (true, _) => format!("certified: the misfit, recomputed, is at most {tol:e}"),
            (false, "converged") =>
                "no direction improves the fit: the entries are not exactly of this rank"
                    .to_string(),
            _ => format!("NOT certified: the misfit, recomputed, is above {tol:e}"),
        }
    )?;
    if let Some(folder) = &args.output {
        writeln!(text, "written to {}", shown::one_line(&folder.display().to_string()))?;
        if args.predict.is_some() {
            writeln!(text, "{predicted} predictions in predictions.csv")?;
        }
    }
    Ok(text)
}
