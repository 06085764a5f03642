//! The page: each claim beside what was measured, and the plots.

use std::fmt::Write;
use std::path::Path;

use super::bench::Sheet;
use super::claim::{Check, Claim, Verdict, number};
use super::{Answer, Done, count};
use crate::again;
use crate::error::{Error, Result};
use crate::report::html::{document, escape, facts, figure};

/// Writes the page.
pub fn write(path: &Path, answer: &Answer) -> Result<()> {
    let page = document("The paper, reproduced", &body(answer)?);
    Ok(favard_io::write_atomic(path, |to| to.write_all(page.as_bytes()))?)
}

fn body(answer: &Answer) -> Result<String> {
    let tally = [Verdict::Holds, Verdict::Corrected, Verdict::Fails]
        .map(|verdict| format!("{} {}", count(answer, verdict), badge(verdict)))
        .join(", ");
    let size = if answer.quick { "quick" } else { "full" };
    let mut text = String::from("<h1>“Accelerated Stochastic Power Iteration”, reproduced</h1>\n");
    text += &facts([
        ("paper", "De Sa, He, Mitliagkas, Ré, Xu, 2017".to_string()),
        ("claims", tally),
        ("size", format!("{size}{}", if answer.complete { "" } else { "; interrupted" })),
        ("time", format!("{:.1} s", answer.seconds)),
        ("seed, threads", format!("{}, {}", answer.seed, answer.threads)),
    ]);
    text += "<p>Each line has a claim of the paper, the number that was measured, and the range in \
             which it has to be: if it is there, the claim holds. If it is not, and the claim in its \
             corrected form has its number in range, it holds in corrected form. Otherwise it does \
             not hold.</p>\n";
    for done in &answer.experiments {
        text += &experiment(done)?;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<h2>Again</h2>\n<pre>{}</pre>", escape(&again::command()));
    Ok(text)
}

fn experiment(done: &Done) -> Result<String> {
    let title = match done.name {
        "table1" => "Table 1: the rates",
        "fig1a" => "Figure 1(a): Oja with momentum",
        "fig1b" => "Figure 1(b): mini-batches",
        "fig1c" => "Figure 1(c): variance reduction",
        "regions" => "Regions of the polynomial recurrence",
        "stability" => "Stability",
        "bestball" => "Best Heavy Ball",
        _ => "The inhomogeneous recurrence",
    };
    let findings = &done.findings;
    let mut text = format!("<h2 id=\"{}\">{title}</h2>\n", done.name);
    let _ = writeln!(text, "<p>{}</p>", escape(&findings.about));
    for claim in &findings.claims {
        text += &article(claim);
    }
    for plot in &findings.plots {
        let drawn = plot.lines.draw();
        let drawn = drawn.map_err(|error| Error::System(format!("the page's plots: {error}")))?;
        if let Some(svg) = drawn {
            text += &figure(&svg, &escape(&plot.caption));
        }
    }
    for sheet in findings.sheets.iter().filter(|sheet| sheet.shown) {
        text += &table(sheet);
    }
    let files: Vec<String> = done.files.iter().map(|file| escape(file)).collect();
    let _ =
        writeln!(text, "<p class=\"files\">{:.1} s. Data: {}</p>", done.seconds, files.join(", "));
    Ok(text)
}

fn badge(verdict: Verdict) -> String {
    let class = match verdict {
        Verdict::Holds => "holds",
        Verdict::Corrected => "corrected",
        Verdict::Fails => "fails",
    };
    format!("<span class=\"verdict {class}\">{verdict}</span>")
}

fn article(claim: &Claim) -> String {
    let mut text = format!(
        "<section class=\"claim\">\n<p>{} <span class=\"place\">{}</span></p>\n<p>{}</p>\n{}",
        badge(claim.verdict()),
        escape(claim.place),
        escape(claim.says),
        measured(&claim.printed),
    );
    if let Some(correction) = &claim.corrected {
        let _ = write!(
            text,
            "<p>Erratum {}: {}</p>\n{}",
            escape(correction.erratum),
            escape(correction.says),
            measured(&correction.check),
        );
    }
    text + "</section>\n"
}

/// The number and its rule.
fn measured(check: &Check) -> String {
    let mark = if check.is_met() { "✓" } else { "✗" };
    format!(
        "<p class=\"check\">{mark} {}: <strong>{}</strong>, to be {}</p>\n",
        escape(&check.what),
        number(check.value),
        check.rule(),
    )
}

fn table(sheet: &Sheet) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<tr><th></th>");
    for (name, _) in &sheet.columns {
        let _ = write!(text, "<th>{}</th>", escape(name));
    }
    text += "</tr>\n";
    for (i, name) in sheet.row_names.iter().flatten().enumerate() {
        let _ = write!(text, "<tr><th>{}</th>", escape(name));
        for (_, values) in &sheet.columns {
            let shown = values.get(i).map_or("–".to_string(), |v| match v {
                v if v.is_finite() => number(*v),
                _ => "–".to_string(),
            });
            let _ = write!(text, "<td>{shown}</td>");
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}
