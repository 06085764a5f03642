//! The figure of the regions: the polynomial after 100 steps, for several β.

use favard_engine::Engine;
use favard_engine::map::Exact;
use favard_engine::recurrence::{Momentum, Start};
use favard_operator::Block;
use favard_theory::as_printed;

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{diagonal, largest, least};
use crate::error::{Error, Result};
use crate::report::lines::{Lines, Series};

const BETAS: [f64; 6] = [0.0, 0.1, 0.16, 0.2025, 0.245_025, 0.25];
const STEPS: usize = 100;
/// The roundings of 100 steps near a double root, t² ε, times what sums of them cost.
const ROUNDING: f64 = 1e-9;

pub fn run(bench: &Bench) -> Result<Findings> {
    bench.doing("regions");
    let count = bench.size(400, 4000);
    // Eigenvalues from 0 to 1: each is the polynomial at its own place.
    let grid: Vec<f64> = (0..=count).map(|i| f64::from(i) / f64::from(count)).collect();
    let mut t = Vec::new();
    for beta in BETAS {
        t.push(polynomial(&grid, beta, Start::T)?);
    }
    let mut columns = vec![("x".to_string(), grid.clone())];
    let named = |beta: f64| format!("beta={beta}");
    columns.extend(BETAS.into_iter().zip(&t).map(|(beta, p)| (named(beta), p.clone())));
    let line = |(i, beta): (usize, &f64)| {
        let points = grid.iter().copied().zip(t[i].iter().map(|p| p.abs()));
        Series::new(format!("β = {beta}"), i, points.collect())
    };
    Ok(Findings {
        about: "pₜ(x) after 100 steps of the engine on a diagonal matrix of the places x, from 1, \
                with p₁ = x/2 as in (P)."
            .to_string(),
        claims: vec![without_momentum(&grid)?, lemma(&grid)?, knee(&grid, &t), choice(bench)?],
        plots: vec![Plot {
            lines: Lines {
                across: ("x".to_string(), false),
                up: ("|p₁₀₀(x)|".to_string(), true),
                series: BETAS.iter().enumerate().map(line).collect(),
                floor: Some(1e-45),
            },
            caption: "Calm below 2√β, explosive above: the knee.".to_string(),
        }],
        sheets: vec![Sheet::new("regions", columns)],
    })
}

/// p₁₀₀ at each place, by running the recurrence.
fn polynomial(places: &[f64], beta: f64, start: Start) -> Result<Vec<f64>> {
    let of = || Error::of::<favard_engine::Error>("regions");
    let map = Exact::new(diagonal(places)?).map_err(of())?;
    let recurrence = Momentum::new(beta, start).map_err(of())?;
    let ones = Block::column(&vec![1.0; places.len()]);
    let mut engine = Engine::new(map, recurrence, ones).map_err(of())?;
    while engine.tick() < STEPS as u64 {
        engine.advance().map_err(of())?;
    }
    Ok((0..places.len()).map(|i| engine.block().row(i)[0]).collect())
}

/// Largest |found − expected| over the height of the calm region or the value itself.
fn apart(found: &[f64], expected: impl Iterator<Item = f64>, height: f64) -> f64 {
    largest(found.iter().zip(expected).map(|(f, e)| (f - e).abs() / e.abs().max(height)))
}

fn without_momentum(grid: &[f64]) -> Result<Claim> {
    // Where the power is above the least positive number.
    let places: Vec<f64> = grid.iter().copied().filter(|x| *x >= 0.1).collect();
    let powers = |factor: f64| places.iter().map(move |x| factor * x.powi(100));
    let [t, u] = [Start::T, Start::U].map(|start| polynomial(&places, 0.0, start));
    Ok(Claim::new(
        "Figure of the regions",
        "for β = 0, pₜ(λ) = λᵗ",
        Check::at_most(
            "largest relative distance of p₁₀₀ from x¹⁰⁰, p₁ = x/2",
            apart(&t?, powers(1.0), 0.0),
            ROUNDING,
        ),
    )
    .corrected(
        "1.3",
        "with p₁ = x/2 it is λᵗ/2; λᵗ belongs to p₁ = x",
        Check::at_most("the same with p₁ = x", apart(&u?, powers(1.0), 0.0), ROUNDING),
    ))
}

fn lemma(grid: &[f64]) -> Result<Claim> {
    let beta = 0.2025_f64;
    let calm: Vec<f64> = grid.iter().copied().filter(|x| *x <= 2.0 * beta.sqrt()).collect();
    let found = polynomial(&calm, beta, Start::T)?;
    let height = beta.powi(50);
    let (mut printed, mut corrected) = (Vec::new(), Vec::new());
    for &x in &calm {
        printed.push(as_printed::lemma_op(STEPS, x, beta)?.unwrap_or(f64::NAN));
        let angle = (x / (2.0 * beta.sqrt())).min(1.0).acos();
        corrected.push(height * (STEPS as f64 * angle).cos());
    }
    Ok(Claim::new(
        "Lemma of appendix A",
        "pₜ(x) = β^(t/2) cos(t arccos(x/(2β))) in the calm region",
        Check::at_most(
            "largest distance from p₁₀₀ over its height, β = .2025; NaN: no arccos",
            apart(&found, printed.into_iter(), height),
            ROUNDING,
        ),
    )
    .corrected(
        "1.2",
        "arccos(x/(2√β))",
        Check::at_most("the same", apart(&found, corrected.into_iter(), height), ROUNDING),
    ))
}

fn knee(grid: &[f64], all: &[Vec<f64>]) -> Claim {
    // The growth 5 % above the knee over the height below it, which is β^(t/2).
    let growth = BETAS.iter().zip(all).skip(1).filter_map(|(beta, p)| {
        let edge = 2.0 * beta.sqrt();
        let height = beta.powi(50);
        let calm =
            largest(grid.iter().zip(p).filter(|(x, _)| **x <= edge).map(|(_, p)| p.abs() / height));
        let above = grid.iter().position(|x| *x >= 1.05 * edge)?;
        Some(p[above].abs() / height / calm.max(1.0))
    });
    Claim::new(
        "Figure of the regions",
        "a knee appears as β grows: pₜ stays small below it and grows rapidly above it",
        Check::at_least(
            "|p₁₀₀| 5 % above 2√β over its largest value below, least of all β with room for it",
            least(growth),
            1e9,
        ),
    )
}

fn choice(bench: &Bench) -> Result<Claim> {
    // What is left of λ₂ = .9 beside λ₁ = 1 after 100 steps, for β around λ₂²/4.
    let count = bench.size(40, 400);
    let best = 0.9_f64 * 0.9 / 4.0;
    let (mut least, mut at) = (f64::INFINITY, f64::NAN);
    for i in 0..=count {
        let beta = best * (0.8 + 0.4 * f64::from(i) / f64::from(count));
        let p = polynomial(&[1.0, 0.9], beta, Start::T)?;
        let left = (p[1] / p[0]).abs();
        // In the calm region p(λ₂) oscillates: its height counts.
        let height = beta.powf(50.0) / p[0].abs();
        let left = if 2.0 * beta.sqrt() >= 0.9 { left.max(height) } else { left };
        if left < least {
            (least, at) = (left, beta);
        }
    }
    Ok(Claim::new(
        "Figure of the regions",
        "a β that puts the knee close to λ₂ eliminates all but the largest eigenvector fastest",
        Check::between(
            "2√β/λ₂ of the β with the least left after 100 steps, λ = (1, .9)",
            2.0 * at.sqrt() / 0.9,
            0.99,
            1.01,
        ),
    ))
}
