//! The report: one HTML page that needs nothing else.

pub mod html;
pub mod lines;
mod oja;
mod plots;
mod sampled;
pub mod svg;
mod theory;

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::args::FitArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::{again, shown};
use html::{document, escape, figure};
use theory::Prediction;

const SCRIPT: &str = include_str!("page.js");
/// Points of the scatter plot at most: more would only cover each other.
const MOST_POINTS: usize = 2_000;
/// Loadings of a component that are listed.
const LOADINGS: usize = 12;

/// What the script draws.
#[derive(Serialize)]
struct Points {
    axes: Vec<String>,
    labels: Vec<String>,
    scores: Vec<Vec<f64>>,
}

/// Writes the page.
pub fn write(path: &Path, fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<()> {
    let page = page(fit, data, args)?;
    Ok(favard_io::write_atomic(path, |to| to.write_all(page.as_bytes()))?)
}

fn page(fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<String> {
    let drawn = |error: svg::Failed| Error::System(format!("the report's plots: {error}"));
    let scree = plots::scree(&fit.summary.explained_variance_ratio).map_err(drawn)?;
    let prediction = theory::predict(fit, data, args)?;
    let course = match plots::course(&fit.history, args.tol, &prediction).map_err(drawn)? {
        Some(svg) => {
            let theory = match prediction {
                Prediction::Line(..) => "The theory's line has the slope that the gap behind the \
                    components gives, λ₊ being the next eigenvalue; its height is fitted. Guard \
                    columns and Krylov spaces make a solver faster than that."
                    .to_string(),
                Prediction::Level(..) => {
                    "The theory's line is the level at which the noise of the \
                    batches holds the answer, from the noise of a sample of the rows."
                        .to_string()
                }
                Prediction::Bound(..) => "The theory's line bounds the root mean square of the \
                    residual itself, without the noise of the batch that a record is made with: \
                    from the eigenvector of a sample of the rows, where the run starts, to the noise \
                    ball of its steps. The noise is measured on a sample of the rows, and η is what the \
                    solver's rule gives for it."
                    .to_string(),
                Prediction::None(why) => format!("No prediction: {why}."),
            };
            let caption = format!(
                "Largest residual over λ₁ after each pass over the data. Sampled solvers see their \
                 noise here, not the final residual. {theory}"
            );
            figure(&svg, &caption)
        }
        None if fit.summary.solver == "exact" => {
            "<p>A direct method: there are no steps to show.</p>".to_string()
        }
        None => "<p>There are fewer than two steps to show.</p>".to_string(),
    };
    let points = points(fit, data);
    let (shown, rows) = (points.labels.len(), fit.scores.rows());
    let sampled = if shown < rows {
        format!("<figcaption>{shown} of {rows} rows, at equal distances.</figcaption>")
    } else {
        String::new()
    };
    let points = serde_json::to_string(&points).map_err(std::io::Error::from)?;
    let title = match fit.prefix {
        "PC" => "Principal components",
        _ => "Singular vectors",
    };
    let cumulative = 100.0 * fit.summary.explained_variance_ratio.iter().sum::<f64>();
    let shares = format!("Share of the variance; the line adds up to {cumulative:.2} %.");
    let body = format!(
        "<h1>{title}</h1>\n{facts}\
         <h2>Variance</h2>\n{scree}\
         <h2>Convergence</h2>\n{course}\
         <h2>Scores</h2>\n<p class=\"pick\"><label>across <select id=\"x\"></select></label>\n\
         <label>up <select id=\"y\"></select></label> <output id=\"label\"></output></p>\n\
         <figure><svg id=\"scatter\" viewBox=\"0 0 640 420\" role=\"img\" \
         aria-label=\"scores\"></svg>{sampled}</figure>\n\
         <noscript><p>This plot needs JavaScript; the numbers are in scores.csv.</p></noscript>\n\
         <h2>Loadings</h2>\n{loadings}\
         <h2>Certificate</h2>\n{certificate}\
         <h2>Again</h2>\n<pre>{command}</pre>\n\
         <script type=\"application/json\" id=\"points\">{points}</script>\n\
         <script>\n{SCRIPT}</script>\n",
        facts = facts(fit, data),
        scree = figure(&scree, &shares),
        loadings = loadings(fit, data),
        certificate = certificate(fit, args),
        command = escape(&again::command()),
        // Nothing in a name can end the element.
        points = points.replace('<', "\\u003c"),
    );
    Ok(document(&format!("{title} of {}", data.name), &body))
}

/// What was run.
fn facts(fit: &Fit<'_>, data: &Data) -> String {
    let summary = &fit.summary;
    let peak = summary.peak_memory_bytes.map_or("not known".to_string(), shown::bytes);
    let proof = if summary.certified { "yes" } else { "<strong>no</strong>" };
    let rows = [
        ("data", escape(&data.about())),
        ("solver", format!("{}: {}", summary.solver, escape(&summary.reason))),
        ("stopped", format!("{} after {} products", summary.stop, summary.applications)),
        ("passes over the data", format!("{:.1}", summary.passes)),
        ("time, peak memory", format!("{:.2} s, {peak}", summary.seconds)),
        ("seed, threads", format!("{}, {}", summary.seed, summary.threads)),
        ("certified", proof.to_string()),
    ];
    html::facts(rows)
}

/// The scores, of at most so many rows at equal distances.
fn points(fit: &Fit<'_>, data: &Data) -> Points {
    let rows = fit.scores.rows();
    let step = rows.div_ceil(MOST_POINTS).max(1);
    let chosen = || (0..rows).step_by(step);
    // Six digits are finer than the plot.
    let rounded = |score: &f64| format!("{score:.5e}").parse().unwrap_or(*score);
    Points {
        axes: fit.names(),
        labels: chosen().map(|i| shown::one_line(&data.row(i))).collect(),
        scores: chosen().map(|i| fit.scores.row(i).iter().map(rounded).collect()).collect(),
    }
}

fn loadings(fit: &Fit<'_>, data: &Data) -> String {
    let mut text = String::from("<div class=\"loadings\">\n");
    for (j, name) in fit.names().iter().enumerate() {
        let top = fit.top(j, LOADINGS);
        let largest = top.first().map_or(1.0, |(_, loading)| loading.abs());
        let row = |(column, loading): (usize, f64)| {
            let (width, side) =
                (100.0 * loading.abs() / largest, if loading < 0.0 { "minus" } else { "plus" });
            let label = escape(&shown::short(&data.column(column), 30));
            format!(
                "<tr><th>{label}</th><td>{loading:.3}</td><td class=\"bar\"><i class=\"{side}\" style=\"width:{width:.0}%\"></i></td></tr>\n"
            )
        };
        let rows: String = top.into_iter().map(row).collect();
        let _ = writeln!(text, "<table><caption>{name}</caption>\n{rows}</table>");
    }
    text + "</div>\n"
}

fn certificate(fit: &Fit<'_>, args: &FitArgs) -> String {
    let (summary, proof) = (&fit.summary, &fit.certificate);
    let mut text = String::from(
        "<table>\n<tr><th></th><th>eigenvalue</th><th>error ≤</th><th>residual</th><th>sin angle ≤</th></tr>\n",
    );
    for (j, name) in fit.names().iter().enumerate() {
        let angle =
            proof.angle_bounds()[j].map_or("–".to_string(), |angle| format!("{angle:.1e}"));
        let _ = writeln!(
            text,
            "<tr><th>{name}</th><td>{}</td><td>{:.1e}</td><td>{:.1e}</td><td>{angle}</td></tr>",
            shown::number(summary.eigenvalues[j]),
            proof.value_bounds()[j],
            summary.residuals[j],
        );
    }
    let met = if summary.certified { "is" } else { "is not" };
    let complete = if proof.is_complete() {
        "The trace proves that no larger eigenvalue was missed."
    } else {
        "The trace alone does not exclude that a larger eigenvalue was missed."
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "</table>\n<p>Every residual, recomputed from the data, {met} at most {:e} λ₁. {complete} \
         ‖VᵀV − I‖ = {:.1e}.</p>",
        args.tol,
        proof.orthogonality(),
    );
    text
}
