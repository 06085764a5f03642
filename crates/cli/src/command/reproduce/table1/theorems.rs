//! Theorem 1, its corollary and the length of Theorem 2, on two eigenvalues without noise.

use favard_engine::recurrence::Start;
use favard_models::solvers::PowerMomentum;
use favard_operator::Block;
use favard_theory::{Growth, MiniBatch, as_printed, tan2};

use crate::command::reproduce::bench::{Bench, Findings, Plot, Sheet};
use crate::command::reproduce::claim::{Check, Claim};
use crate::command::reproduce::measure::{Until, course, diagonal, largest, points, ticks};
use crate::error::Result;
use crate::report::lines::{Lines, Series};

/// Of a bound: 400 steps at a double root lose some digits.
const ROUNDING: f64 = 1.0 + 1e-6;
const STEPS: u64 = 400;

pub fn measure(bench: &Bench, findings: &mut Findings) -> Result<()> {
    bench.doing("table1: the theorems");
    theorem1(bench, findings)?;
    findings.claims.push(corollary(bench)?);
    findings.claims.push(length(bench)?);
    Ok(())
}

/// sin² after each step on diag(1, λ₂) with β = λ₂²/4, from a unit vector with this cos².
fn errors(second: f64, cos2: f64, start: Start, bench: &Bench, until: Until) -> Result<Vec<f64>> {
    let w = Block::column(&[cos2.sqrt(), (1.0 - cos2).sqrt()]);
    let method = PowerMomentum::default().beta(second * second / 4.0).start(start);
    course(method, &*diagonal(&[1.0, second])?, &w, bench.seed, until)
}

fn theorem1(bench: &Bench, findings: &mut Findings) -> Result<()> {
    let (growth, cos2) = (Growth::optimal(1.0, 0.9)?, 0.5);
    let until = Until::after(STEPS);
    let [u, t] = [Start::U, Start::T].map(|start| errors(0.9, cos2, start, bench, until));
    let (u, t) = (u?, t?);
    let (mut printed, mut bound) = (Vec::new(), Vec::new());
    for tick in 1..=u.len() {
        printed.push(as_printed::theorem1_body(&growth, tick, cos2)?);
        bound.push(growth.bound(favard_theory::Start::U, tick, tan2(cos2)?)?);
    }
    let worst =
        |errors: &[f64], bound: &[f64]| largest(errors.iter().zip(bound).map(|(e, b)| e / b));
    findings.claims.push(
        Claim::new(
            "Theorem 1; section 3.1 for Algorithm 1",
            "sin² ≤ 4/(u₁ᵀw₀)² · ρ^(−2t) for the update wₜ₊₁ = Awₜ − βwₜ₋₁, as Algorithm 1 starts it",
            Check::at_most(
                "largest sin² over the bound in 400 steps from w₋₁ = 0, λ = (1, .9)",
                worst(&u, &printed),
                ROUNDING,
            ),
        )
        .corrected(
            "1.1",
            "true for w₁ = ½Aw₀; for w₋₁ = 0 with 4/c² replaced by \
             tan²θ₀ [(t+1)(1−ρ⁻²)/(1−ρ^(−2(t+1)))]²",
            Check::at_most(
                "largest sin² over its bound in 400 steps, both starts",
                worst(&t, &printed).max(worst(&u, &bound)),
                ROUNDING,
            ),
        ),
    );
    let ticks = (1..=u.len()).map(|tick| tick as f64).collect();
    let columns = [
        ("tick", ticks),
        ("U start", u.clone()),
        ("T start", t.clone()),
        ("bound as printed", printed.clone()),
        ("bound corrected for U", bound.clone()),
    ];
    let columns = columns.map(|(name, values)| (name.to_string(), values)).to_vec();
    findings.sheets.push(Sheet::new("table1_theorem1", columns));
    let first = |values: &[f64]| points(&values[..values.len().min(60)]);
    findings.plots.push(Plot {
        lines: Lines {
            across: ("t".to_string(), false),
            up: ("sin²".to_string(), true),
            series: vec![
                Series::new("U start (Algorithm 1)", 0, first(&u)),
                Series::new("T start", 1, first(&t)),
                Series::new("Theorem 1 as printed", 5, first(&printed)).dashed(),
                Series::new("corrected for the U start", 2, first(&bound)).dashed(),
            ],
            floor: None,
        },
        caption:
            "Theorem 1 with λ = (1, .9), β = λ₂²/4, c² = ½: the algorithm's own start crosses \
                  the printed bound."
                .to_string(),
    });
    Ok(())
}

/// T = O(√β/√D log 1/ε) cannot be uniform: it vanishes with β.
fn corollary(bench: &Bench) -> Result<Claim> {
    let (cos2, epsilon) = (0.5_f64, 1e-6);
    let (mut printed, mut corrected) = (Vec::new(), Vec::new());
    for second in [0.99, 0.9, 0.5, 0.1, 1e-2, 1e-4] {
        let growth = Growth::optimal(1.0, second)?;
        let until = Until::error(epsilon, 10_000);
        let count = |start| {
            let w = Block::column(&[cos2.sqrt(), (1.0 - cos2).sqrt()]);
            let method = PowerMomentum::default().beta(growth.beta()).start(start);
            ticks(method, &*diagonal(&[1.0, second])?, &w, bench.seed, until)
        };
        printed.push(count(Start::U)? / as_printed::iterations(&growth, epsilon)?);
        let bound = growth.iterations_closed_form(tan2(cos2)?, epsilon)? as f64;
        corrected.push(count(Start::T)? / bound);
    }
    Ok(Claim::new(
        "Corollary of Theorem 1",
        "O(√β/√(λ₁² − 4β) · log 1/ε) iterations, whatever λ₂ is",
        Check::at_most(
            "most steps to ε = 1e−6 over the printed count, λ₂ from .99 to 1e−4",
            largest(printed),
            10.0,
        ),
    )
    .corrected(
        "2.4",
        "(½ + √β/√(λ₁² − 4β)) log(4 tan²θ₀/ε) steps at most, for the T start",
        Check::at_most("most steps over that count", largest(corrected), 1.0),
    ))
}

/// The length of Theorem 2 is too short even without noise.
fn length(bench: &Bench) -> Result<Claim> {
    let (delta, cos2) = (0.1, 0.25);
    let (mut printed, mut corrected) = (Vec::new(), Vec::new());
    for (second, epsilon) in [(0.99, 1e-3), (0.999, 1e-4), (0.9, 1e-3), (0.5, 1e-3)] {
        let growth = Growth::optimal(1.0, second)?;
        // A count of steps.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let short = as_printed::nonsvrg_iterations(&growth, delta, epsilon)?.ceil() as usize;
        let long = MiniBatch::new(&growth, delta, epsilon)?.iterations();
        let until = Until::after(short.max(long) as u64);
        let errors = errors(second, cos2, Start::U, bench, until)?;
        let at = |tick: usize| errors.get(tick - 1).copied().unwrap_or(f64::NAN);
        printed.push(at(short) / epsilon);
        corrected.push(at(long) / epsilon);
    }
    Ok(Claim::new(
        "Theorem 2 (mini-batches), with Σ = 0",
        "T = √β/√(λ₁² − 4β) · log(32/(δε)) steps give sin² ≤ ε",
        Check::at_most("largest sin²/ε after ⌈T⌉ steps, four pairs (λ₂, ε)", largest(printed), 1.0),
    )
    .corrected(
        "3.8",
        "T = min{t : (Uₜ(z)/(t+1))² ≥ 32/(δε)}",
        Check::at_most("largest sin²/ε after that many", largest(corrected), 1.0),
    ))
}
