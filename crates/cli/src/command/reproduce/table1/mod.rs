//! Table 1: iterations and batches of seven methods, and the theorems behind them.

mod gap;
mod online;
mod theorems;

use favard_models::Lanczos;
use favard_models::solvers::{MiniBatchMomentum, Oja, Power, PowerMomentum, VrMomentum, VrPca};
use favard_operator::LinearOperator;
use favard_theory::{Growth, noise_ball};

use super::bench::{Bench, Findings, Sheet};
use super::measure::{Until, basis, course, gram, kappas, paper_rows};
use crate::error::{Error, Result};

/// What the seven methods are asked for.
const EPSILON: f64 = 1e-2;
const BETA: f64 = 0.9 * 0.9 / 4.0;

pub fn run(bench: &Bench) -> Result<Findings> {
    let mut findings = Findings {
        about: "The table's rates as slopes of measured counts, the theorems behind them on the \
                smallest matrices that show them, and all seven methods on the paper's data."
            .to_string(),
        ..Findings::default()
    };
    gap::measure(bench, &mut findings)?;
    theorems::measure(bench, &mut findings)?;
    online::measure(bench, &mut findings)?;
    findings.sheets.push(seven(bench)?);
    Ok(findings)
}

/// Iterations, rows of a batch and passes of each method of the table until sin² ≤ 1 %.
fn seven(bench: &Bench) -> Result<Sheet> {
    let count = bench.size(20_000, 1_000_000);
    let rows = paper_rows(count, 10, 0.1, bench.seed)?;
    let (op, start) = (gram(&rows)?, basis(10, 1, bench.seed)?);
    let whole: &dyn LinearOperator<f64> = &*op;
    let n = count as f64;
    let until = Until::error(EPSILON, 3_000_000);
    let seed = bench.seed;
    let kappa: f64 = kappas(&rows).iter().sum();
    // Half of ε for the ball: κη/(2Δ) = ε/2, and C_M/s = ε/2.
    let step = EPSILON * 0.1 / kappa;
    let others: Vec<(f64, f64)> = kappas(&rows).into_iter().map(|k| (0.9, k)).collect();
    let ball = noise_ball(&Growth::optimal(1.0, 0.9)?, &others, 1)?;
    // A count of rows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let batch = (2.0 * ball / EPSILON).ceil() as usize;
    let mut lines: Vec<(&str, f64, f64, f64)> = Vec::new();

    bench.doing("table1: seven methods on the paper's data");
    let power = course(Power, whole, &start, seed, until)?.len() as f64;
    lines.push(("Power", power, n, power));
    // A residual of Δ sin θ means that the angle is at most θ.
    let lanczos = Lanczos::new(1).width(1).basis(9).tolerance(0.1 * EPSILON.sqrt()).seed(seed);
    let found = lanczos
        .solve_watched(whole, Some(&start), &mut |_| std::ops::ControlFlow::Continue(()))
        .map_err(Error::of("Lanczos"))?;
    let products = found.info.applications as f64;
    lines.push(("Lanczos", products, n, products));
    let momentum = PowerMomentum::default().beta(BETA);
    let ticks = course(momentum, whole, &start, seed, until)?.len() as f64;
    lines.push(("Power+M", ticks, n, ticks));
    bench.doing("table1: Oja on the paper's data");
    let oja = Oja::default().step(step).steps(until.ticks);
    let ticks = course(oja, &*op, &start, seed, until)?.len() as f64;
    lines.push(("Oja", ticks, 1.0, ticks / n));
    let sampled = MiniBatchMomentum::default().beta(BETA).batch(batch).steps(1000);
    let ticks = course(sampled, &*op, &start, seed, until)?.len() as f64;
    lines.push(("Mini-batch Power+M", ticks, batch as f64, ticks * batch as f64 / n));
    let reduced = VrPca::default().batch(100).epoch(1000).step(0.03);
    let ticks = course(reduced, &*op, &start, seed, until)?.len() as f64;
    let passes = |ticks: f64, batch: f64, epoch: f64| (ticks / epoch).ceil() + ticks * batch / n;
    lines.push(("VR-PCA", ticks, 100.0, passes(ticks, 100.0, 1000.0)));
    let reduced = VrMomentum::default().beta(BETA).batch(1000).epoch(10);
    let ticks = course(reduced, &*op, &start, seed, until)?.len() as f64;
    lines.push(("VR Power+M", ticks, 1000.0, passes(ticks, 1000.0, 10.0)));

    let column = |name: &str, of: fn(&(&str, f64, f64, f64)) -> f64| {
        (name.to_string(), lines.iter().map(of).collect())
    };
    Ok(Sheet::table(
        "table1_methods",
        lines.iter().map(|line| line.0.to_string()).collect(),
        vec![
            column("iterations to sin² ≤ 0.01", |line| line.1),
            column("rows of a step", |line| line.2),
            column("passes over the data", |line| line.3),
        ],
    ))
}
