//! What is written about a fit: tables for people, files for programs.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use favard_io::Table;
use ndarray::Array2;

use crate::Outcome;
use crate::args::FitArgs;
use crate::data::Data;
use crate::error::Result;
use crate::fit::Fit;
use crate::{report, shown};

/// The folders that were made for results. Those in which nothing was written go again.
pub struct Made(Vec<PathBuf>);

impl Drop for Made {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // A folder with something in it stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Makes the folder of the results, before the work is done.
pub fn prepare(folder: Option<&Path>) -> Result<Made> {
    let mut made = Made(Vec::new());
    let Some(folder) = folder else { return Ok(made) };
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .collect();
    for path in missing.into_iter().rev() {
        std::fs::create_dir_all(path).map_err(|error| favard_io::Error::new(folder, error))?;
        made.0.push(path.to_path_buf());
    }
    std::fs::create_dir_all(folder).map_err(|error| favard_io::Error::new(folder, error))?;
    probe(folder).map_err(|error| favard_io::Error::new(folder, error))?;
    Ok(made)
}

/// `Ok` when a file can be written at this path, as far as can be told before the work is done.
pub fn check_place(file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let fail = |error: io::Error| favard_io::Error::new(file, error);
    match std::fs::metadata(file) {
        Ok(about) if about.is_dir() => {
            return Err(fail(io::ErrorKind::IsADirectory.into()).into());
        }
        // A pipe or a terminal.
        Ok(about) if !about.is_file() => return Ok(()),
        _ => {}
    }
    // The file that a link stands for is replaced.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(probe(folder.unwrap_or(Path::new("."))).map_err(fail)?)
}

/// Makes a file in a folder and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".favard.{}.tmp", std::process::id()));
    std::fs::File::create(&file)?;
    std::fs::remove_file(&file)
}

/// Writes everything that was asked for.
pub fn finish(fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<Outcome> {
    if let Some(folder) = &args.output {
        write(fit, data, folder)?;
    }
    if let Some(path) = &args.report {
        report::write(path, fit, data, args)?;
    }
    if args.json {
        shown::print_json(&fit.summary)?;
    } else {
        shown::print(&text(fit, data, args)?)?;
    }
    let met = fit.summary.certified;
    Ok(if met { Outcome::Met } else { Outcome::NotConverged })
}

/// The files of a folder.
fn write(fit: &Fit<'_>, data: &Data, folder: &Path) -> Result<()> {
    let names = fit.names();
    let components = Table::new(fit.components.view())
        .row_names(data.column_names.as_deref())
        .column_names(Some(&names));
    favard_io::write_csv(folder.join("components.csv"), &components)?;
    favard_io::write_npy(folder.join("components.npy"), fit.components.view())?;
    let scores = Table::new(fit.scores.view())
        .row_names(data.row_names.as_deref())
        .column_names(Some(&names));
    favard_io::write_csv(folder.join("scores.csv"), &scores)?;
    favard_io::write_npy(folder.join("scores.npy"), fit.scores.view())?;

    let (summary, proof) = (&fit.summary, &fit.certificate);
    // A sine is at most 1 where nothing more is proved.
    let angles: Vec<f64> = proof.angle_bounds().iter().map(|angle| angle.unwrap_or(1.0)).collect();
    let columns: [(&str, &[f64]); 7] = [
        ("eigenvalue", &summary.eigenvalues),
        ("explained_variance", &summary.explained_variance),
        ("explained_variance_ratio", &summary.explained_variance_ratio),
        ("singular_value", &summary.singular_values),
        ("residual", &summary.residuals),
        ("eigenvalue_error_bound", proof.value_bounds()),
        ("angle_bound", &angles),
    ];
    let table = Array2::from_shape_fn((names.len(), columns.len()), |(i, j)| columns[j].1[i]);
    let titles = columns.map(|(title, _)| title.to_string());
    let table = Table::new(table.view()).row_names(Some(&names)).column_names(Some(&titles));
    favard_io::write_csv(folder.join("variances.csv"), &table)?;
    Ok(favard_io::write_json(folder.join("summary.json"), summary)?)
}

/// What people read.
fn text(fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<String, io::Error> {
    let summary = &fit.summary;
    let mut text = String::new();
    let out = &mut text;
    let mut line = |line: String| writeln!(out, "{line}").map_err(io::Error::other);
    line(data.about())?;
    line(format!("{}: {}", summary.solver, summary.reason))?;
    line(format!(
        "{} after {} products ({:.1} passes), {:.2} s, {}seed {}, {} threads\n",
        summary.stop,
        summary.applications,
        summary.passes,
        summary.seconds,
        summary
            .peak_memory_bytes
            .map_or(String::new(), |peak| format!("peak {}, ", shown::bytes(peak))),
        summary.seed,
        summary.threads,
    ))?;
    line(format!(
        "     {:>11}  {:>7}  {:>11}  {:>11}  top loadings",
        "variance", "share", "residual/λ₁", "sin angle ≤"
    ))?;
    let largest = summary.eigenvalues.first().copied().unwrap_or_default();
    for (j, name) in fit.names().iter().enumerate() {
        let relative = if largest > 0.0 { summary.residuals[j] / largest } else { 0.0 };
        let angle = match fit.certificate.angle_bounds()[j] {
            Some(angle) => format!("{angle:.1e}"),
            None => "not known".to_string(),
        };
        line(format!(
            "{name:<4} {:>11}  {:>5.2} %  {relative:>11.1e}  {angle:>11}  {}",
            shown::number(summary.explained_variance[j]),
            100.0 * summary.explained_variance_ratio[j],
            loadings(fit, data, j)
        ))?;
    }
    line(String::new())?;
    for cluster in fit.certificate.clusters() {
        let (from, to) = (cluster.range.start + 1, cluster.range.end);
        let bound = match cluster.angle_bound {
            Some(angle) => format!("known to a sine of {angle:.1e}"),
            None => "not told apart from what follows".to_string(),
        };
        let what = fit.prefix;
        line(if from == to {
            format!("{what}{to} is {bound}")
        } else {
            format!("{what}{from} to {what}{to} are a cluster: their space is {bound}")
        })?;
    }
    let tol = args.tol;
    line(if summary.certified {
        format!("certified: every residual, recomputed from the data, is at most {tol:e} λ₁")
    } else {
        format!("NOT certified: a residual, recomputed from the data, is above {tol:e} λ₁")
    })?;
    if let Some(folder) = &args.output {
        line(format!("written to {}", shown::one_line(&folder.display().to_string())))?;
    }
    if let Some(path) = &args.report {
        line(format!("report in {}", shown::one_line(&path.display().to_string())))?;
    }
    Ok(text)
}

/// The names of the five largest loadings with their signs.
fn loadings(fit: &Fit<'_>, data: &Data, component: usize) -> String {
    let name = |(column, loading): (usize, f64)| {
        let sign = if loading < 0.0 { '−' } else { '+' };
        format!("{sign}{}", shown::short(&data.column(column), 24))
    };
    let names: Vec<String> = fit.top(component, 5).into_iter().map(name).collect();
    names.join(" ")
}
