//! `favard spectrum`: the density of the eigenvalues, and the gaps at the top.

use std::fmt::Write;

use favard_models::{Eigen, Lanczos};
use favard_operator::LinearOperator;
use serde::Serialize;

use crate::Outcome;
use crate::args::SpectrumArgs;
use crate::covariance::Covariance;
use crate::data::Data;
use crate::density::Density;
use crate::error::{Error, Result};
use crate::{memory, shown};

/// How exact the eigenvalues at the top have to be, relative to the first.
const TOLERANCE: f64 = 1e-6;
/// The interval of the density is so much longer than the spectrum.
const ROOM: f64 = 1.02;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    /// Eigenvalues of the smaller side; the others are zero.
    dim: usize,
    eigenvalues: Vec<f64>,
    residuals: Vec<f64>,
    certified: bool,
    /// λⱼ − λⱼ₊₁.
    gaps: Vec<f64>,
    /// 1 − λ₂/λ₁.
    relative_gap: Option<f64>,
    bins: Vec<Bin>,
    /// The standard deviation of a bin's count, at most.
    deviation: f64,
    products: u64,
    seed: u64,
}

/// How many eigenvalues are in a bin, about.
#[derive(Serialize)]
struct Bin {
    from: f64,
    to: f64,
    count: f64,
}

pub fn run(args: &SpectrumArgs) -> Result<Outcome> {
    let data = Data::load(args.file.as_deref(), &args.data)?;
    check_memory(args, &data)?;
    let covariance = Covariance::new(&data, !args.no_center, args.scale)?;
    let (rows, cols) = data.shape();
    let answer = if rows < cols {
        answer(args, &data, &covariance.outer()?)?
    } else {
        answer(args, &data, &covariance.gram()?)?
    };
    if args.json {
        shown::print_json(&answer)?;
    } else {
        shown::print(&text(&answer, &data).map_err(std::io::Error::other)?)?;
    }
    Ok(if answer.certified { Outcome::Met } else { Outcome::NotConverged })
}

/// `Ok` when there is memory for it: Lanczos on the smaller side, three blocks of random vectors, and
/// on the side of the columns the mean, the scale and what a product leaves there.
fn check_memory(args: &SpectrumArgs, data: &Data) -> Result<()> {
    let (rows, cols) = data.shape();
    let dim = rows.min(cols);
    let probes = args.probes.get().min(dim);
    let top = Lanczos::new(args.k.min(dim).max(1)).memory::<f64>(dim.max(1)) as u64;
    let density = memory::vectors(dim, 3 * probes.next_multiple_of(8));
    let columns = memory::vectors(cols, 8 + probes.max(8));
    let needed = top.saturating_add(density).saturating_add(columns);
    memory::check(&data.name, "the spectrum", needed)
}

fn answer(args: &SpectrumArgs, data: &Data, op: &dyn LinearOperator<f64>) -> Result<Answer> {
    let of = || Error::of::<favard_models::Error>(&data.name);
    let dim = op.shape().0;
    if args.k == 0 || dim == 0 {
        let problem = format!("{} eigenvalues of {dim}: expected at least 1", args.k);
        return Err(Error::argument(&data.name, problem));
    }
    let lanczos = Lanczos::new(args.k.min(dim)).tolerance(TOLERANCE).seed(args.seed);
    let top: Eigen<f64> = lanczos.solve(op).map_err(of())?;
    let high = ROOM * (top.values[0] + top.residuals[0]);
    let (products, probes) = (args.products.get(), args.probes.get().min(dim));
    if high <= 0.0 {
        return Err(Error::argument(&data.name, "the data has no variance: no spectrum"));
    }
    let density = Density::measure(op, high, products, probes, args.seed).map_err(of())?;
    let bins = args.bins;
    let edge = |bin: u64| high * bin as f64 / bins as f64;
    let bin = |bin: u64| {
        let (from, to) = (edge(bin), edge(bin + 1));
        Bin { from, to, count: dim as f64 * density.share(from, to) }
    };
    let gaps: Vec<f64> = top.values.windows(2).map(|pair| pair[0] - pair[1]).collect();
    Ok(Answer {
        dim,
        certified: top.certificate(TOLERANCE).is_certified(),
        relative_gap: gaps.first().map(|gap| gap / top.values[0]),
        gaps,
        bins: (0..bins).map(bin).collect(),
        deviation: (2.0 * dim as f64 / probes as f64).sqrt(),
        products: top.info.applications + products as u64,
        seed: args.seed,
        eigenvalues: top.values,
        residuals: top.residuals,
    })
}

fn text(answer: &Answer, data: &Data) -> std::result::Result<String, std::fmt::Error> {
    let mut text = data.about();
    writeln!(text, "\n\n{:>4}{:>14}{:>11}{:>14}{:>10}", "", "eigenvalue", "±", "gap", "gap/λ₁")?;
    for (j, value) in answer.eigenvalues.iter().enumerate() {
        write!(text, "{:>4}{:>14}{:>11.0e}", j + 1, shown::number(*value), answer.residuals[j])?;
        match answer.gaps.get(j) {
            Some(gap) => {
                let relative = gap / answer.eigenvalues[0];
                writeln!(text, "{:>14}{:>10}", shown::number(*gap), shown::number(relative))?;
            }
            None => writeln!(text)?,
        }
    }
    let most = answer.bins.iter().fold(1.0_f64, |most, bin| most.max(bin.count));
    writeln!(
        text,
        "\neigenvalues of {} in each range, ± {:.0} at most",
        answer.dim, answer.deviation
    )?;
    for bin in &answer.bins {
        // A logarithm, since most eigenvalues of most data are small.
        let length = 40.0 * bin.count.max(0.0).ln_1p() / most.ln_1p();
        let bar: String =
            (0_u8..40).take_while(|&i| f64::from(i) + 0.5 < length).map(|_| '█').collect();
        let (from, to) = (shown::number(bin.from), shown::number(bin.to));
        writeln!(text, "{from:>11} to {to:>11}{:>9.1}  {bar}", bin.count)?;
    }
    writeln!(text, "(bars are logarithmic; {} products, seed {})", answer.products, answer.seed)?;
    Ok(text)
}
