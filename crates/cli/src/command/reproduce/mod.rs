//! `favard reproduce`: the paper's experiments, and its claims beside what was measured.

mod bench;
mod bestball;
mod claim;
mod fig1a;
mod fig1b;
mod fig1c;
mod inhomogeneous;
mod measure;
mod page;
mod regions;
mod stability;
mod table1;

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use favard_io::Table;
use ndarray::Array2;
use serde::Serialize;

use crate::Outcome;
use crate::args::{Experiment, ReproduceArgs};
use crate::error::Result;
use crate::watch::{catch_interrupts, interrupted};
use crate::{output, shown};
use bench::{Bench, Findings, Sheet};
use claim::{Claim, Verdict};

/// What `--json` prints, and claims.json has.
#[derive(Serialize)]
struct Answer {
    quick: bool,
    seed: u64,
    threads: usize,
    seconds: f64,
    /// Whether all that was asked for was done.
    complete: bool,
    experiments: Vec<Done>,
}

/// One experiment.
#[derive(Serialize)]
struct Done {
    name: &'static str,
    seconds: f64,
    claims: Vec<Claim>,
    /// Its files, in the folder.
    files: Vec<String>,
    #[serde(skip)]
    findings: Findings,
}

impl Experiment {
    fn run(self, bench: &Bench) -> Result<Findings> {
        match self {
            Self::Table1 => table1::run(bench),
            Self::Fig1a => fig1a::run(bench),
            Self::Fig1b => fig1b::run(bench),
            Self::Fig1c => fig1c::run(bench),
            Self::Regions => regions::run(bench),
            Self::Stability => stability::run(bench),
            Self::Bestball => bestball::run(bench),
            Self::Inhomogeneous | Self::All => inhomogeneous::run(bench),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Table1 => "table1",
            Self::Fig1a => "fig1a",
            Self::Fig1b => "fig1b",
            Self::Fig1c => "fig1c",
            Self::Regions => "regions",
            Self::Stability => "stability",
            Self::Bestball => "bestball",
            Self::Inhomogeneous => "inhomogeneous",
            Self::All => "all",
        }
    }
}

/// All of them, in the paper's order.
const EXPERIMENTS: [Experiment; 8] = [
    Experiment::Table1,
    Experiment::Fig1a,
    Experiment::Fig1b,
    Experiment::Fig1c,
    Experiment::Regions,
    Experiment::Stability,
    Experiment::Bestball,
    Experiment::Inhomogeneous,
];

pub fn run(args: &ReproduceArgs) -> Result<Outcome> {
    let _made = output::prepare(Some(&args.output))?;
    catch_interrupts()?;
    let asked: Vec<Experiment> = match args.experiment {
        Experiment::All => EXPERIMENTS.to_vec(),
        one => vec![one],
    };
    let (bench, clock) = (Bench::new(args.quick, args.seed), Instant::now());
    let mut answer = Answer {
        quick: args.quick,
        seed: args.seed,
        threads: rayon::current_num_threads(),
        seconds: 0.0,
        complete: true,
        experiments: Vec::new(),
    };
    for experiment in asked {
        let begun = Instant::now();
        let findings = experiment.run(&bench);
        // What was cut short proves nothing: neither its numbers nor its errors are kept.
        if interrupted() {
            answer.complete = false;
            break;
        }
        let findings = findings?;
        let files = findings
            .sheets
            .iter()
            .map(|sheet| write(sheet, &args.output))
            .collect::<Result<Vec<String>>>()?;
        let seconds = begun.elapsed().as_secs_f64();
        let (name, claims) = (experiment.name(), findings.claims.clone());
        answer.experiments.push(Done { name, seconds, claims, files, findings });
    }
    bench.finish();
    answer.seconds = clock.elapsed().as_secs_f64();
    page::write(&args.output.join("index.html"), &answer)?;
    favard_io::write_json(args.output.join("claims.json"), &answer)?;
    if args.json {
        shown::print_json(&answer)?;
    } else {
        shown::print(&text(&answer, &args.output).map_err(std::io::Error::other)?)?;
    }
    if !answer.complete {
        shown::note("interrupted; what was finished is written");
    }
    Ok(if answer.complete { Outcome::Met } else { Outcome::NotConverged })
}

/// Writes a table of numbers; gives the name of its file.
fn write(sheet: &Sheet, folder: &Path) -> Result<String> {
    let rows = sheet.columns.first().map_or(0, |(_, values)| values.len());
    // What is infinite was not reached: −1, since a table has numbers only.
    let entry = |(i, j): (usize, usize)| {
        let value = sheet.columns[j].1.get(i).copied().unwrap_or(f64::NAN);
        if value.is_finite() { value } else { -1.0 }
    };
    let array = Array2::from_shape_fn((rows, sheet.columns.len()), entry);
    let names: Vec<String> = sheet.columns.iter().map(|(name, _)| name.clone()).collect();
    let table =
        Table::new(array.view()).row_names(sheet.row_names.as_deref()).column_names(Some(&names));
    let file = format!("{}.csv", sheet.name);
    favard_io::write_csv(folder.join(&file), &table)?;
    Ok(file)
}

/// How many claims have this verdict.
fn count(answer: &Answer, verdict: Verdict) -> usize {
    let claims = answer.experiments.iter().flat_map(|done| &done.claims);
    claims.filter(|claim| claim.verdict() == verdict).count()
}

/// What people read.
fn text(answer: &Answer, folder: &Path) -> std::result::Result<String, std::fmt::Error> {
    let mut text = String::new();
    for done in &answer.experiments {
        writeln!(text, "{} ({:.1} s)", done.name, done.seconds)?;
        for claim in &done.claims {
            writeln!(text, "  {:<24} {}: {}", claim.verdict(), claim.place, claim.says)?;
            let check = |text: &mut String, check: &claim::Check| {
                let (what, value) = (&check.what, claim::number(check.value));
                writeln!(text, "  {:<24}   {what}: {value}, to be {}", "", check.rule())
            };
            check(&mut text, &claim.printed)?;
            if let Some(correction) = &claim.corrected {
                let (erratum, says) = (correction.erratum, correction.says);
                writeln!(text, "  {:<24}   erratum {erratum}: {says}", "")?;
                check(&mut text, &correction.check)?;
            }
        }
    }
    let [holds, corrected, fails] =
        [Verdict::Holds, Verdict::Corrected, Verdict::Fails].map(|v| count(answer, v));
    writeln!(
        text,
        "\n{holds} claims hold, {corrected} hold in corrected form, {fails} do not hold \
         ({}, {:.1} s, seed {})",
        if answer.quick { "quick" } else { "full size" },
        answer.seconds,
        answer.seed,
    )?;
    let folder = shown::one_line(&folder.display().to_string());
    writeln!(text, "written to {folder}: index.html, claims.json and the data as CSV")?;
    Ok(text)
}
