//! The figure of the inhomogeneous recurrence: a tail that is uniform on (−1, 1).

use favard_engine::recurrence::{Legendre, Start};
use favard_models::solvers::{Inhomogeneous, Power, PowerMomentum};
use favard_operator::Block;
use favard_theory::{Family, Optimal, as_printed};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{Until, basis, course, diagonal, largest, points};
use crate::error::Result;
use crate::report::lines::{Lines, Series};

const DIM: usize = 500;
const TOP: f64 = 1.001;
const TICKS: usize = 200;
const METHODS: [&str; 5] =
    ["optimal", "power", "momentum, β = 1/4", "momentum, β = λ₂²/4", "momentum, β = 1/4, T start"];

pub fn run(bench: &Bench) -> Result<Findings> {
    let seeds = bench.size(10, 20);
    bench.doing("inhomogeneous");
    // tan² of each method after each tick, run by run.
    let runs = bench.runs(seeds, losses)?;
    // The share of (run, tick) at which the optimal scheme is not above another.
    let share = |method: usize| {
        let won = runs
            .iter()
            .flat_map(|run| run[0].iter().zip(&run[method]).map(|(best, other)| best <= other));
        let (count, wins) =
            won.fold((0.0, 0.0), |(n, w), won| (n + 1.0, w + f64::from(u8::from(won))));
        wins / count
    };
    let geometric = |method: usize| -> Vec<f64> {
        let ticks = runs.iter().map(|run| run[method].len()).min().unwrap_or(0);
        let mean = |t: usize| runs.iter().map(|run| run[method][t].ln()).sum::<f64>();
        (0..ticks).map(|t| (mean(t) / runs.len() as f64).exp()).collect()
    };
    let means: Vec<Vec<f64>> = (0..METHODS.len()).map(geometric).collect();
    let claims = vec![
        Claim::new(
            "Figure of the inhomogeneous recurrence",
            "the loss of the optimal scheme is essentially always lower than that of power iteration",
            Check::at_least("share of all (run, t ≤ 200) with a lower loss", share(1), 0.9),
        ),
        Claim::new(
            "Figure of the inhomogeneous recurrence",
            "… and lower than that of constant momentum",
            Check::at_least(
                "the same share, the lower of β = 1/4 and β = λ₂²/4, which the paper leaves open",
                share(2).min(share(3)),
                0.9,
            ),
        )
        .corrected(
            "4.9",
            "lower than momentum for the edge of the tail's law, β = 1/4; not than β = λ₂²/4 with \
             the λ₂ that was drawn",
            Check::at_least("the same share for β = 1/4", share(2), 0.9),
        ),
        theorem(bench)?,
        underestimate(bench)?,
    ];
    let ticks = means.iter().map(Vec::len).min().unwrap_or(0);
    let mut columns = vec![("iteration".to_string(), (1..=ticks).map(|t| t as f64).collect())];
    columns.extend(METHODS.iter().zip(&means).map(|(n, m)| (n.to_string(), m[..ticks].to_vec())));
    let line = |i: usize| {
        let series = Series::new(METHODS[i], i, points(&means[i]));
        if i == 4 { series.dashed() } else { series }
    };
    Ok(Findings {
        about: format!(
            "500 eigenvalues, λ₁ = 1.001, the others uniform on (−1, 1); the loss is tan², geometric \
             means of {seeds} runs."
        ),
        claims,
        plots: vec![Plot {
            lines: Lines {
                across: ("iterations".to_string(), false),
                up: ("tan²".to_string(), true),
                series: (0..METHODS.len()).map(line).collect(),
                floor: None,
            },
            caption: "The optimal scheme knows the law of the tail; momentum with β = λ₂²/4 knows \
                      the λ₂ that was drawn, and wins in the end."
                .to_string(),
        }],
        sheets: vec![Sheet::new("inhomogeneous", columns)],
    })
}

fn spectrum(seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let uniform = |word: u64| word as f64 / u64::MAX as f64 * 2.0 - 1.0;
    std::iter::once(TOP).chain((1..DIM).map(|_| uniform(rng.next_u64()))).collect()
}

/// tan² after each tick, for the five methods.
fn losses(seed: u64) -> Result<[Vec<f64>; 5]> {
    let spectrum = spectrum(seed);
    let op = diagonal(&spectrum)?;
    let w = basis(DIM, 1, seed.wrapping_add(100))?;
    let second = largest(spectrum[1..].iter().map(|value| value.abs()));
    let until = Until::after(TICKS as u64);
    let quarter = PowerMomentum::default().beta(0.25);
    let realised = PowerMomentum::default().beta(second * second / 4.0);
    let tan2 = |errors: Vec<f64>| errors.into_iter().map(|e| e / (1.0 - e)).collect();
    Ok([
        tan2(course(Inhomogeneous::new(Legendre, TOP), &*op, &w, seed, until)?),
        tan2(course(Power, &*op, &w, seed, until)?),
        tan2(course(quarter, &*op, &w, seed, until)?),
        tan2(course(realised, &*op, &w, seed, until)?),
        tan2(course(quarter.start(Start::T), &*op, &w, seed, until)?),
    ])
}

/// The mean of f² over the law of the tail, exactly: the tail is at the nodes of a Gauss rule, and
/// the start has the roots of its weights there.
fn theorem(bench: &Bench) -> Result<Claim> {
    let tick = 5;
    let rule = Family::legendre(20)?.gauss()?;
    let op = diagonal(&[TOP].into_iter().chain(rule.iter().map(|r| r.0)).collect::<Vec<_>>())?;
    let start: Vec<f64> =
        [1.0].into_iter().chain(rule.iter().map(|r| r.1.max(0.0).sqrt())).collect();
    let until = Until::after(tick as u64);
    let method = Inhomogeneous::new(Legendre, TOP);
    let errors = course(method, &*op, &Block::column(&start), bench.seed, until)?;
    let found = errors.last().map_or(f64::NAN, |e| e / (1.0 - e));
    let optimal = Optimal::new(Family::legendre(20)?, TOP)?;
    let off = |expected: f64| (found / expected - 1.0).abs();
    Ok(Claim::new(
        "Theorem of the optimal polynomial",
        "f* = Σᵢ qᵢ(λ₁)/(Σⱼ qᵢ²(λ₁)) qᵢ",
        Check::at_most(
            "relative distance of E f² of the run, t = 5, from the printed formula's",
            off(as_printed::optimal_mean_square(&optimal, tick)?),
            1e-9,
        ),
    )
    .corrected(
        "4.5",
        "the denominator is Σⱼ qⱼ²(λ₁), and E f*² its inverse",
        Check::at_most("the same with qⱼ", off(optimal.mean_square(tick)?), 1e-9),
    ))
}

/// An underestimate of λ₁ serves as well.
fn underestimate(bench: &Bench) -> Result<Claim> {
    let until = Until::error(1e-10, 2000);
    let counts = bench.runs(bench.size(5, 20), |seed| {
        let op = diagonal(&spectrum(seed))?;
        let w = basis(DIM, 1, seed.wrapping_add(100))?;
        let count = |point: f64| {
            course(Inhomogeneous::new(Legendre, point), &*op, &w, seed, until)
                .map(|e| e.len() as f64)
        };
        Ok([count(TOP)?, count(1.0005)?, count(1.0001)?])
    })?;
    let total = |i: usize| counts.iter().map(|run| run[i]).sum::<f64>();
    Ok(Claim::new(
        "Algorithm 5",
        "λ₁ may be replaced by an underestimate above λ₂",
        Check::at_most(
            "iterations to 1e−10 with 1.0005 or 1.0001 for 1.001, over those with λ₁",
            total(1).max(total(2)) / total(0),
            1.05,
        ),
    ))
}
