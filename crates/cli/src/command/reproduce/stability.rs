//! The figure of stability: three eigenvalues by power iteration, momentum and plain Lanczos.

mod ghosts;

use std::ops::ControlFlow;

use favard_engine::gauge::{AugmentedQr, Gauge, GaugeFits, Norm};
use favard_engine::map::Exact;
use favard_engine::observe::Step;
use favard_engine::recurrence::{Momentum, Start};
use favard_engine::{Engine, Stop};
use favard_models::solvers::{Eigensolver, PowerMomentum};
use favard_operator::{Block, Dense};
use favard_theory::block::distance;
use ndarray::{Array2, s};

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{basis, largest};
use crate::error::{Error, Result};
use crate::progress::flow;
use crate::report::lines::{Lines, Series};

const DIM: usize = 300;
const BETA: f64 = 0.2025;
const TOP: [f64; 3] = [1.0, 0.98, 0.96];
/// Ticks of the two power iterations, and of Lanczos.
const TICKS: u64 = 600;
const GHOSTS: usize = 240;

pub fn run(bench: &Bench) -> Result<Findings> {
    let q = basis(DIM, DIM, bench.seed)?;
    let op = Dense::new(matrix(&q)).map_err(Error::of("stability"))?;
    bench.doing("stability: power iteration");
    let power = estimates(&op, 0.0, bench.seed)?;
    bench.doing("stability: momentum");
    let momentum = estimates(&op, BETA, bench.seed)?;
    bench.doing("stability: plain Lanczos");
    let lanczos = ghosts::estimates(&op, &basis(DIM, 1, bench.seed)?, GHOSTS)?;
    bench.doing("stability: gauges");
    let stable = after(&op, &q, bench.seed, AugmentedQr::new(3))?;
    let collapsed = after(&op, &q, bench.seed, Norm)?;

    let error = |values: &[f64; 3]| largest(values.iter().zip(TOP).map(|(v, e)| (v - e).abs()));
    let reached = |course: &[[f64; 3]]| {
        let first = course.iter().position(|values| error(values) <= 1e-8);
        first.map_or(f64::INFINITY, |t| (t + 1) as f64)
    };
    let end = |course: &[[f64; 3]]| course.last().map_or(f64::NAN, error);
    let fallen = lanczos
        .last()
        .map_or(f64::NAN, |(_, values)| largest(values.iter().map(|value| (value - TOP[0]).abs())));
    // The matrix and a product are rounded by d ε, which turns eigenvectors by that over the gap.
    let rounding = 2.0 * DIM as f64 * f64::EPSILON / 0.06;
    let claims = vec![
        Claim::new(
            "Figure of stability",
            "the three estimates of Lanczos eventually all converge to the top eigenvalue",
            Check::at_most(
                format!("farthest of the three Ritz values from λ₁ after {GHOSTS} steps"),
                fallen,
                1e-8,
            ),
        ),
        Claim::new(
            "Figure of stability",
            "power iteration and momentum both find all three eigenvalues",
            Check::at_most(
                "largest error of the six eigenvalues after 600 steps",
                end(&power).max(end(&momentum)),
                DIM as f64 * f64::EPSILON,
            ),
        ),
        Claim::new(
            "Figure of stability",
            "power iteration takes much longer than momentum",
            Check::at_least(
                "steps to 1e−8 without momentum over those with it",
                reached(&power) / reached(&momentum),
                2.0,
            ),
        ),
        Claim::new(
            "appendix, stability",
            "without normalisation by Rₜ all columns become the dominant eigenvector",
            Check::at_least(
                "sine of the angle to the true space after 600 steps, columns scaled alike",
                collapsed,
                0.5,
            ),
        ),
        Claim::new(
            "appendix, stability",
            "the update (A″) with its stacked QR is backward stable",
            Check::at_most("sine of the angle to the true space after 600 steps", stable, rounding),
        ),
    ];
    Ok(Findings {
        about:
            "A dense symmetric 300 × 300 matrix, λ = (1, .98, .96, then equally spaced from .9 to \
                0), in a random basis. The paper does not give its matrix."
                .to_string(),
        claims,
        plots: vec![plot(&power, &momentum, &lanczos)],
        sheets: sheets(&power, &momentum, &lanczos),
    })
}

/// Q diag(λ) Qᵀ, exactly symmetric.
fn matrix(q: &Block<f64>) -> Array2<f64> {
    let tail = (0..DIM - 3).map(|i| 0.9 - 0.9 * i as f64 / (DIM - 4) as f64);
    let spectrum: Vec<f64> = TOP.into_iter().chain(tail).collect();
    let q = q.view();
    let scaled = Array2::from_shape_fn((DIM, DIM), |(i, j)| q[[i, j]] * spectrum[j]);
    let matrix = scaled.dot(&q.t());
    (&matrix + &matrix.t()) / 2.0
}

/// The three Ritz values before each step.
fn estimates(op: &Dense<'_, f64>, beta: f64, seed: u64) -> Result<Vec<[f64; 3]>> {
    let mut course = Vec::new();
    let mut look = Look(&mut course);
    Eigensolver::new(PowerMomentum::default().beta(beta), 3)
        .guard(0)
        .tolerance(0.0)
        .passes(TICKS as f64 + 1.0)
        .seed(seed)
        .solve_observed(op, None, &mut look)
        .map_err(Error::of("stability"))?;
    Ok(course)
}

/// Keeps the Ritz values.
struct Look<'a>(&'a mut Vec<[f64; 3]>);

impl favard_engine::observe::Observer<f64> for Look<'_> {
    fn observe(&mut self, step: &Step<'_, f64>) -> favard_engine::Result<ControlFlow<Stop>> {
        if let Some(measure) = step.measure {
            let value = |j: usize| measure.ritz.get(j).copied().unwrap_or(f64::NAN);
            self.0.push([value(0), value(1), value(2)]);
        }
        Ok(flow())
    }

    fn wants_measure(&self, _: u64) -> bool {
        true
    }
}

/// The distance of the block's span to that of the first three eigenvectors after 600 steps.
fn after<'a, G>(op: &'a Dense<'a, f64>, q: &Block<f64>, seed: u64, gauge: G) -> Result<f64>
where
    G: Gauge<f64> + GaugeFits<Exact<&'a Dense<'a, f64>>>,
{
    let of = || Error::of::<favard_engine::Error>("stability");
    let recurrence = Momentum::new(BETA, Start::U).map_err(of())?;
    let map = Exact::new(op).map_err(of())?;
    let start = Block::gaussian(DIM, 3, seed.wrapping_add(1000));
    let mut engine = Engine::new(map, recurrence, start).map_err(of())?.with_gauge(gauge);
    while engine.tick() < TICKS {
        engine.advance().map_err(of())?;
    }
    // Columns that have become dependent span less: they are as far away as can be.
    Ok(distance(engine.block().view(), q.view().slice(s![.., 0..3])).unwrap_or(1.0))
}

fn plot(power: &[[f64; 3]], momentum: &[[f64; 3]], lanczos: &[(usize, [f64; 3])]) -> Plot {
    let steps = (1_u32..).map(f64::from);
    let mut series = Vec::new();
    let eigenvalue = ["λ₁", "λ₂", "λ₃"];
    for j in 0..3 {
        let of = |course: &[[f64; 3]]| steps.clone().zip(course.iter().map(|v| v[j])).collect();
        series.push(Series::new(format!("power {}", eigenvalue[j]), 0, of(power)));
        series.push(Series::new(format!("momentum {}", eigenvalue[j]), 1, of(momentum)));
        let points = lanczos.iter().map(|(step, v)| (*step as f64, v[j])).collect();
        series.push(Series::new(format!("Lanczos {}", eigenvalue[j]), 2, points).dashed());
    }
    // One name for each method: the three lines of it are told apart by their height.
    for line in &mut series[3..] {
        line.name.clear();
    }
    for line in &mut series[..3] {
        line.name = line.name.trim_end_matches(" λ₁").to_string();
    }
    Plot {
        lines: Lines {
            across: ("iterations".to_string(), true),
            up: ("estimates of λ₁, λ₂, λ₃".to_string(), false),
            series,
            floor: Some(0.85),
        },
        caption:
            "Estimates of 1, .98 and .96; those of plain Lanczos (dashed) fall onto the first \
                  one, its ghosts."
                .to_string(),
    }
}

fn sheets(power: &[[f64; 3]], momentum: &[[f64; 3]], lanczos: &[(usize, [f64; 3])]) -> Vec<Sheet> {
    let count = power.len().min(momentum.len());
    let column = |name: String, values: Vec<f64>| (name, values);
    let mut columns =
        vec![column("iteration".to_string(), (1..=count).map(|t| t as f64).collect())];
    for (name, course) in [("power", power), ("momentum", momentum)] {
        for j in 0..3 {
            let values = course[..count].iter().map(|v| v[j]).collect();
            columns.push(column(format!("{name} {}", j + 1), values));
        }
    }
    let mut ghosts =
        vec![column("step".to_string(), lanczos.iter().map(|(step, _)| *step as f64).collect())];
    for j in 0..3 {
        let values = lanczos.iter().map(|(_, v)| v[j]).collect();
        ghosts.push(column(format!("Ritz value {}", j + 1), values));
    }
    vec![Sheet::new("stability_power", columns), Sheet::new("stability_lanczos", ghosts)]
}
