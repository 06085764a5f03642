//! Iterations against the gap: the rates of the deterministic rows.

use favard_engine::Stop;
use favard_engine::recurrence::Start;
use favard_models::Lanczos;
use favard_models::solvers::{Power, PowerMomentum};
use favard_operator::Block;

use crate::command::reproduce::bench::{Bench, Findings, Plot, Sheet};
use crate::command::reproduce::claim::{Check, Claim};
use crate::command::reproduce::measure::{
    Exact, Until, basis, diagonal, flat, largest, mean, slope, spaced, ticks,
};
use crate::error::{Error, Result};
use crate::progress::flow;
use crate::report::lines::{Lines, Series};

const EPSILON: f64 = 1e-10;
const METHODS: [&str; 4] = ["power", "momentum, U start", "momentum, T start", "Lanczos"];

/// A tail and the counts of the four methods at each gap.
struct Counts {
    name: &'static str,
    gaps: Vec<f64>,
    products: [Vec<f64>; 4],
}

pub fn measure(bench: &Bench, findings: &mut Findings) -> Result<()> {
    let gaps = [0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4];
    let [few, more] = [bench.size(5, 7), bench.size(6, 7)].map(|count| gaps[..count].to_vec());
    let all = [
        count(bench, "tail equally spaced", spaced, 1000, few)?,
        count(bench, "tail all 1 − Δ", flat, bench.size(200, 1000), more)?,
    ];
    // From Δ = .01 on, where the rates are those of a small gap.
    let slopes = |method: usize| {
        all.iter().map(move |tail| {
            let points = tail.gaps.iter().copied().zip(tail.products[method].iter().copied());
            slope(&points.skip(2).collect::<Vec<_>>())
        })
    };
    let worst = |method: usize, expected: f64| {
        let off = |s: f64| (s - expected).abs();
        slopes(method).fold(expected, |w, s| if off(s) >= off(w) { s } else { w })
    };
    let what = "slope of log iterations against log Δ for Δ ≤ .01, the farthest of both tails";
    findings.claims.extend([
        Claim::new(
            "Table 1, Power",
            "O((1/Δ) log 1/ε) iterations",
            Check::between(what, worst(0, -1.0), -1.02, -0.98),
        ),
        Claim::new(
            "Table 1, Power+M",
            "O((1/√Δ) log 1/ε) iterations with β = λ₂²/4",
            Check::between(what, largest_off(worst(1, -0.5), worst(2, -0.5)), -0.52, -0.48),
        ),
        Claim::new(
            "Table 1, Lanczos; section 2",
            "O((1/√Δ) log 1/ε) iterations; Power+M matches this worst-case rate",
            Check::at_most(
                "most products of Lanczos, as a multiple of those of Power+M, at any gap",
                largest(all.iter().flat_map(|tail| {
                    tail.products[3].iter().zip(&tail.products[1]).map(|(l, m)| l / m)
                })),
                1.0,
            ),
        ),
    ]);
    for (tail, file) in all.iter().zip(["table1_gap_spaced", "table1_gap_flat"]) {
        let mut columns = vec![("gap".to_string(), tail.gaps.clone())];
        columns.extend(METHODS.map(String::from).into_iter().zip(tail.products.clone()));
        findings.sheets.push(Sheet::new(file, columns));
        let line = |method: usize| {
            let points = tail.gaps.iter().copied().zip(tail.products[method].iter().copied());
            Series::new(METHODS[method], method, points.collect())
        };
        findings.plots.push(Plot {
            lines: Lines {
                across: ("gap Δ".to_string(), true),
                up: ("products".to_string(), true),
                series: (0..4).map(line).collect(),
                floor: None,
            },
            caption: format!("Products until sin² ≤ 1e−10, {}.", tail.name),
        });
    }
    Ok(())
}

/// Of two slopes that should be −½, the one farther off.
fn largest_off(a: f64, b: f64) -> f64 {
    if (a + 0.5).abs() >= (b + 0.5).abs() { a } else { b }
}

fn count(
    bench: &Bench,
    name: &'static str,
    tail: fn(usize, f64) -> Vec<f64>,
    dim: usize,
    gaps: Vec<f64>,
) -> Result<Counts> {
    let mut products: [Vec<f64>; 4] = Default::default();
    for &gap in &gaps {
        bench.doing(format!("table1: {name}, Δ = {gap}"));
        let op = diagonal(&tail(dim, gap))?;
        let until = Until::error(EPSILON, 5_000_000);
        let beta = (1.0 - gap) * (1.0 - gap) / 4.0;
        let momentum = PowerMomentum::default().beta(beta);
        let runs = bench.runs(bench.size(1, 5), |seed| {
            let w = basis(dim, 1, seed)?;
            Ok([
                ticks(Power, &*op, &w, seed, until)?,
                ticks(momentum, &*op, &w, seed, until)?,
                ticks(momentum.start(Start::T), &*op, &w, seed, until)?,
                lanczos(&*op, &w, gap)?,
            ])
        })?;
        for (method, list) in products.iter_mut().enumerate() {
            list.push(mean(&runs.iter().map(|run| run[method]).collect::<Vec<_>>()));
        }
    }
    Ok(Counts { name, gaps, products })
}

/// Products of Lanczos, one column wide and not restarted, until the residual is Δ sin θ, which
/// proves the angle θ.
fn lanczos(op: &Exact, start: &Block<f64>, gap: f64) -> Result<f64> {
    let dim = start.rows();
    let solver = Lanczos::new(1).width(1).basis(dim.min(600) * 4 / 5);
    let found = solver
        .tolerance(gap * EPSILON.sqrt())
        .products(5000)
        .solve_watched(op, Some(start), &mut |_| flow())
        .map_err(Error::of("Lanczos"))?;
    let converged = found.info.stop == Stop::Converged;
    Ok(if converged { found.info.applications as f64 } else { f64::INFINITY })
}
