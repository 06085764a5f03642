//! Figure 1(b): mini-batches, with and without momentum.

use favard_models::solvers::{MiniBatchMomentum, Power, PowerMomentum};
use favard_operator::LinearOperator;
use favard_theory::{Growth, as_printed, noise_ball};

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{
    Until, basis, course, gram, kappas, largest, mean, mean_course, paper_rows, points, reaches,
    slope,
};
use crate::error::Result;
use crate::report::lines::{Lines, Series};

const BETA: f64 = 0.9 * 0.9 / 4.0;
/// Ticks until the start is forgotten: .81^120 = 1e−11.
const BURN_IN: usize = 120;
/// Of the plot.
const FIRST: usize = 100;

/// One batch size, without and with momentum.
struct Batch {
    size: usize,
    /// Mean courses.
    errors: [Vec<f64>; 2],
    balls: [f64; 2],
    theory: [f64; 2],
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let rows = paper_rows(bench.size(20_000, 1_000_000), 10, 0.1, bench.seed)?;
    let op = gram(&rows)?;
    let whole: &dyn LinearOperator<f64> = &*op;
    let runs = bench.size(4, 10);
    let ticks = BURN_IN as u64 + bench.size(130, 200);
    let sizes: &[usize] = bench.size(&[1000, 2000, 5000], &[1000, 3000, 10_000, 30_000]);
    let others: Vec<(f64, f64)> = kappas(&rows).into_iter().map(|kappa| (0.9, kappa)).collect();
    let until = Until::after(ticks);
    let start = |seed: u64| basis(10, 1, seed);
    let mut exact: [Vec<f64>; 2] = Default::default();
    for (beta, errors) in [0.0, BETA].into_iter().zip(&mut exact) {
        let courses = bench.runs(runs, |seed| match beta {
            0.0 => course(Power, whole, &start(seed)?, seed, until),
            _ => course(PowerMomentum::default().beta(beta), whole, &start(seed)?, seed, until),
        })?;
        *errors = mean_course(&courses);
    }
    let mut batches = Vec::new();
    for &size in sizes {
        let mut batch =
            Batch { size, errors: Default::default(), balls: [0.0; 2], theory: [0.0; 2] };
        for (i, beta) in [0.0, BETA].into_iter().enumerate() {
            bench.doing(format!("fig1b: batches of {size}, β = {beta}"));
            let method = MiniBatchMomentum::default().beta(beta).batch(size).steps(ticks);
            let courses =
                bench.runs(runs, |seed| course(method, &*op, &start(seed)?, seed, until))?;
            batch.errors[i] = mean_course(&courses);
            batch.balls[i] = mean(&batch.errors[i][BURN_IN.min(batch.errors[i].len())..]);
            batch.theory[i] = noise_ball(&Growth::new(1.0, 0.9, beta)?, &others, size)?;
        }
        batches.push(batch);
    }
    Ok(Findings {
        about: format!(
            "Rows {} × 10 with XᵀX/n = diag(1, .9, …, .9), batches drawn with replacement, means of \
             {runs} runs. The paper does not give its batch sizes.",
            rows.nrows()
        ),
        claims: claims(&exact, &batches, &kappas(&rows))?,
        plots: plots(&exact, &batches),
        sheets: sheets(&exact, &batches),
    })
}

fn claims(exact: &[Vec<f64>; 2], batches: &[Batch], kappas: &[f64]) -> Result<Vec<Claim>> {
    let slopes = [0, 1].map(|i| {
        let points = batches.iter().map(|batch| (batch.size as f64, batch.balls[i]));
        slope(&points.collect::<Vec<_>>())
    });
    let off = |s: f64| (s + 1.0).abs();
    let farthest = if off(slopes[0]) > off(slopes[1]) { slopes[0] } else { slopes[1] };
    // As long as the exact method's error is twenty balls: how far is the sampled one's from it?
    let apart = batches.iter().flat_map(|batch| {
        let pairs = exact[0].iter().zip(&batch.errors[0]);
        let before = pairs.take_while(|(exact, _)| **exact >= 20.0 * batch.balls[0]);
        before.map(|(exact, sampled)| (sampled / exact).ln().abs().exp())
    });
    // Both to the same error: twice the larger ball, momentum's.
    let gains = batches.iter().map(|batch| {
        let [plain, with] = [0, 1].map(|i| reaches(&batch.errors[i], 2.0 * batch.balls[1]));
        with / plain
    });
    // s = 2C/ε makes the ball half of ε; the corollary's printed s for δ = .1, with σ² ≥ s_op.
    let (delta, epsilon) = (0.1, 1e-3);
    let growth = Growth::optimal(1.0, 0.9)?;
    let needed =
        batches.last().map_or(f64::NAN, |batch| 2.0 * batch.balls[1] * batch.size as f64 / epsilon);
    let noise: f64 = kappas.iter().sum();
    let printed = noise / as_printed::nonsvrg_sigma_max(&growth, delta, epsilon, 10)?;
    Ok(vec![
        Claim::new(
            "Figure 1(b), caption",
            "increasing the mini-batch size led to a smaller noise ball",
            Check::between(
                "slope of log ball against log batch, the farther from −1 of both methods",
                farthest,
                -1.15,
                -0.85,
            ),
        ),
        Claim::new(
            "section 3.3, experiment",
            "the stochastic power method keeps the linear convergence of the deterministic one \
             before it hits the noise ball",
            Check::at_most(
                "largest ratio of both errors while the deterministic one is above twenty balls",
                largest(apart),
                1.5,
            ),
        ),
        Claim::new(
            "section 3.3, experiment",
            "momentum accelerates the convergence before hitting the noise ball",
            Check::at_most(
                "iterations with momentum over those without, to twice momentum's ball, largest \
                 of all batches",
                largest(gains),
                0.9,
            ),
        ),
        Claim::new(
            "Corollary of Theorem 2",
            "its batch size is enough for sin² ≤ ε (it is sufficient, far from necessary)",
            Check::at_most(
                "batch whose ball is ε/2, ε = 1e−3, over the corollary's for δ = .1 and the least \
                 noise it allows",
                needed / printed,
                1.0,
            ),
        ),
    ])
}

fn plots(exact: &[Vec<f64>; 2], batches: &[Batch]) -> Vec<Plot> {
    let first = |errors: &[f64]| points(&errors[..errors.len().min(FIRST)]);
    let mut series = vec![
        Series::new("exact power", 6, first(&exact[0])),
        Series::new("exact momentum", 6, first(&exact[1])).dashed(),
    ];
    for (i, batch) in batches.iter().enumerate() {
        let name = format!("power, s = {}", batch.size);
        series.push(Series::new(name, i, first(&batch.errors[0])));
        let name = format!("momentum, s = {}", batch.size);
        series.push(Series::new(name, i, first(&batch.errors[1])).dashed());
    }
    let least = batches.iter().flat_map(|batch| batch.balls).fold(f64::INFINITY, f64::min);
    let lines = Lines {
        across: ("iterations".to_string(), false),
        up: ("sin²".to_string(), true),
        series,
        floor: Some(least / 10.0),
    };
    let caption =
        "Mean error; dashed: with momentum β = λ₂²/4, which falls faster and ends higher.";
    let size = |of: fn(&Batch) -> f64, name: &str, colour: usize| {
        let points = batches.iter().map(|batch| (batch.size as f64, of(batch))).collect();
        Series::new(name, colour, points)
    };
    let balls = Lines {
        across: ("batch size".to_string(), true),
        up: ("noise ball".to_string(), true),
        series: vec![
            size(|batch| batch.balls[0], "power", 0),
            size(|batch| batch.theory[0], "theory", 0).dashed(),
            size(|batch| batch.balls[1], "momentum", 1),
            size(|batch| batch.theory[1], "theory", 1).dashed(),
        ],
        floor: None,
    };
    let about = "The ball against the batch, and the formula of the AR(2) process behind it.";
    vec![
        Plot { lines, caption: caption.to_string() },
        Plot { lines: balls, caption: about.to_string() },
    ]
}

fn sheets(exact: &[Vec<f64>; 2], batches: &[Batch]) -> Vec<Sheet> {
    let count = exact[0].len();
    let mut columns = vec![
        ("iteration".to_string(), (1..=count).map(|t| t as f64).collect()),
        ("exact power".to_string(), exact[0].clone()),
        ("exact momentum".to_string(), exact[1].clone()),
    ];
    for batch in batches {
        for (name, errors) in ["power", "momentum"].into_iter().zip(&batch.errors) {
            columns.push((format!("{name} s={}", batch.size), errors.clone()));
        }
    }
    let column = |name: &str, of: &dyn Fn(&Batch) -> f64| {
        (name.to_string(), batches.iter().map(of).collect::<Vec<f64>>())
    };
    let balls = vec![
        column("power", &|batch| batch.balls[0]),
        column("theory of power", &|batch| batch.theory[0]),
        column("momentum", &|batch| batch.balls[1]),
        column("theory of momentum", &|batch| batch.theory[1]),
        column("ratio", &|batch| batch.balls[1] / batch.balls[0]),
    ];
    let names = batches.iter().map(|batch| format!("s = {}", batch.size)).collect();
    vec![Sheet::table("fig1b_balls", names, balls), Sheet::new("fig1b_course", columns)]
}
