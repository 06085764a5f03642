//! The figure of Best Heavy Ball: four spectra of 1000 eigenvalues.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_engine::observe::Step;
use favard_models::solvers::{BestHeavyBall, Eigensolver, Power, PowerMomentum};
use favard_operator::Block;

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{
    Until, basis, course, diagonal, flat, largest, log_grid, mean, points, sin2, spaced,
};
use crate::error::{Error, Result};
use crate::report::lines::{Lines, Series};
use crate::watch::interrupted;

const DIM: usize = 1000;
const EPSILON: f64 = 1e-10;
/// Candidates of a round, and steps of a candidate.
const ROUND: (usize, usize) = (5, 10);

/// One of the four matrices.
struct Case {
    name: &'static str,
    /// sin² of the first run, iteration by iteration: power, momentum, best heavy ball.
    errors: [Vec<f64>; 3],
    /// Mean iterations and mean products to 1e−10.
    iterations: [f64; 3],
    products: [f64; 3],
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let spectra = [
        ("(a) all .5", flat(DIM, 0.5)),
        ("(b) 0 to .5", spaced(DIM, 0.5)),
        ("(c) all .999", flat(DIM, 1e-3)),
        ("(d) 0 to .999", spaced(DIM, 1e-3)),
    ];
    let mut cases = Vec::new();
    for (name, spectrum) in spectra {
        bench.doing(format!("bestball: {name}"));
        cases.push(measure(bench, name, &spectrum)?);
    }
    let names = cases.iter().map(|case| case.name.to_string()).collect();
    let column = |name: &str, of: &dyn Fn(&Case) -> f64| {
        (name.to_string(), cases.iter().map(of).collect::<Vec<f64>>())
    };
    let mut sheets = vec![Sheet::table(
        "bestball_counts",
        names,
        vec![
            column("power", &|case| case.products[0]),
            column("momentum, β = λ₂²/4", &|case| case.products[1]),
            column("best ball, iterations", &|case| case.iterations[2]),
            column("best ball, products", &|case| case.products[2]),
        ],
    )];
    for (case, letter) in cases.iter().zip(["a", "b", "c", "d"]) {
        for (errors, method) in case.errors.iter().zip(["power", "momentum", "bestball"]) {
            let grid = log_grid(errors.len(), 500);
            let columns = vec![
                ("iteration".to_string(), grid.iter().map(|t| (t + 1) as f64).collect()),
                ("sin2".to_string(), grid.iter().map(|&t| errors[t]).collect()),
            ];
            sheets.push(Sheet::new(&format!("bestball_{letter}_{method}"), columns));
        }
    }
    Ok(Findings {
        about: format!(
            "Four diagonal matrices of 1000 eigenvalues, λ₁ = 1; iterations until sin² ≤ 1e−10, \
             means of {} starts. An iteration of Best Heavy Ball is one step of each of its five \
             candidates: five products.",
            bench.size(1, 10)
        ),
        claims: claims(&cases),
        plots: cases.iter().map(plot).collect(),
        sheets,
    })
}

fn measure(bench: &Bench, name: &'static str, spectrum: &[f64]) -> Result<Case> {
    let op = diagonal(spectrum)?;
    let until = Until::error(EPSILON, 1_000_000);
    let momentum = PowerMomentum::default().beta(spectrum[1] * spectrum[1] / 4.0);
    let mut runs = bench.runs(bench.size(1, 10), |seed| {
        let w = basis(DIM, 1, seed)?;
        Ok([
            course(Power, &*op, &w, seed, until)?,
            course(momentum, &*op, &w, seed, until)?,
            best(spectrum, &w)?,
        ])
    })?;
    let count = |method: usize, errors: &Vec<f64>| {
        let reached = errors.last().is_some_and(|last| *last <= EPSILON);
        let iterations = errors.len();
        // A round has to end before its winner is known.
        let products = match method {
            2 => ROUND.0 * iterations.next_multiple_of(ROUND.1),
            _ => iterations,
        };
        if reached { (iterations as f64, products as f64) } else { (f64::INFINITY, f64::INFINITY) }
    };
    let counts = [0, 1, 2].map(|method| {
        let all: Vec<(f64, f64)> = runs.iter().map(|run| count(method, &run[method])).collect();
        let of = |pick: fn(&(f64, f64)) -> f64| mean(&all.iter().map(pick).collect::<Vec<_>>());
        (of(|c| c.0), of(|c| c.1))
    });
    Ok(Case {
        name,
        errors: runs.swap_remove(0),
        iterations: counts.map(|c| c.0),
        products: counts.map(|c| c.1),
    })
}

/// sin² after each step of the winners, round after round, until 1e−10. The five candidates of a
/// round run one after the other; the one with the largest Rayleigh quotient at its end wins.
fn best(spectrum: &[f64], start: &Block<f64>) -> Result<Vec<f64>> {
    let op = diagonal(spectrum)?;
    let (candidates, steps) = ROUND;
    let mut errors = Vec::new();
    let (mut round, mut winner) = (vec![Vec::new(); candidates], (f64::NEG_INFINITY, 0));
    let mut watch = |step: &Step<'_, f64>| {
        let place = usize::try_from(step.tick - 1).unwrap_or_default() % (candidates * steps);
        let candidate = place / steps;
        round[candidate].push(sin2(step.block));
        if place % steps == steps - 1 {
            let quotient = quotient(spectrum, step.block);
            if quotient > winner.0 {
                winner = (quotient, candidate);
            }
        }
        if place == candidates * steps - 1 {
            errors.append(&mut round[winner.1]);
            round.iter_mut().for_each(Vec::clear);
            winner = (f64::NEG_INFINITY, 0);
            if errors.iter().any(|error| *error <= EPSILON) {
                return ControlFlow::Break(Stop::Requested);
            }
            if interrupted() {
                return ControlFlow::Break(Stop::Cancelled);
            }
        }
        if step.tick < 5_000_000 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Stop::Iterations)
        }
    };
    Eigensolver::new(BestHeavyBall, 1)
        .guard(0)
        .tolerance(0.0)
        .passes(f64::INFINITY)
        .solve_observed(&*op, Some(start), &mut watch)
        .map_err(Error::of("bestball"))?;
    if let Some(first) = errors.iter().position(|error| *error <= EPSILON) {
        errors.truncate(first + 1);
    }
    Ok(errors)
}

/// wᵀAw/wᵀw.
fn quotient(spectrum: &[f64], block: &Block<f64>) -> f64 {
    let square = |i: usize| block.row(i)[0] * block.row(i)[0];
    let (over, under) =
        spectrum.iter().enumerate().fold((0.0, 0.0), |(over, under), (i, value)| {
            (over + value * square(i), under + square(i))
        });
    over / under
}

fn claims(cases: &[Case]) -> Vec<Claim> {
    let worst =
        |range: std::ops::Range<usize>, of: fn(&Case) -> f64| largest(cases[range].iter().map(of));
    let over_power = |case: &Case| case.products[2] / case.products[0];
    vec![
        Claim::new(
            "Figure of Best Heavy Ball, (a) and (b)",
            "the best ball method finds a suitable β and achieves acceleration",
            Check::at_most(
                "its products over those of the power iteration, larger of (a) and (b)",
                worst(0..2, over_power),
                1.0,
            ),
        )
        .corrected(
            "4.4, 4.10",
            "in iterations of the winner, each of which costs five products",
            Check::at_most(
                "its iterations over those of the power iteration, larger of both",
                worst(0..2, |case| case.iterations[2] / case.iterations[0]),
                1.0,
            ),
        ),
        Claim::new(
            "Figure of Best Heavy Ball, (c) and (d)",
            "the best ball method selects a β that outperforms power iteration",
            Check::at_most(
                "its products over those of the power iteration, larger of (c) and (d)",
                worst(2..4, over_power),
                1.0,
            ),
        ),
        Claim::new(
            "Figure of Best Heavy Ball, (c)",
            "best heavy ball outperforms power iteration with momentum",
            Check::at_most(
                "its products over those of momentum with β = λ₂²/4",
                worst(2..3, |case| case.products[2] / case.products[1]),
                1.0,
            ),
        )
        .corrected(
            "4.4",
            "in iterations of the winner, when every candidate restarts from the winner with \
             w₋₁ = 0",
            Check::at_most(
                "its iterations over those of momentum",
                worst(2..3, |case| case.iterations[2] / case.iterations[1]),
                1.0,
            ),
        ),
    ]
}

fn plot(case: &Case) -> Plot {
    let names = ["power", "momentum, β = λ₂²/4", "best heavy ball"];
    let line = |i: usize| Series::new(names[i], i, points(&case.errors[i]));
    Plot {
        lines: Lines {
            across: ("iterations".to_string(), true),
            up: ("sin²".to_string(), true),
            series: (0..3).map(line).collect(),
            floor: Some(EPSILON / 10.0),
        },
        caption: format!("{}, one start.", case.name),
    }
}
