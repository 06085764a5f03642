//! The online rows: how Oja's samples and the batch of Mini-batch Power+M scale.

use favard_models::solvers::{MiniBatchMomentum, Oja};
use favard_theory::tan2;

use crate::command::reproduce::bench::{Bench, Findings};
use crate::command::reproduce::claim::{Check, Claim};
use crate::command::reproduce::measure::{
    Until, basis, course, gram, kappas, mean, mean_course, paper_rows, reaches, slope,
};
use crate::error::Result;

const GAP: f64 = 0.1;

pub fn measure(bench: &Bench, findings: &mut Findings) -> Result<()> {
    findings.claims.push(oja(bench)?);
    findings.claims.push(batches(bench)?);
    Ok(())
}

/// Samples until the mean error of the runs is twice the ball that the step leads to, over what the
/// noiseless error says: it is tan²θ₀ exp(−2ηΔt), and a step η has the ball κη/(2Δ) = ε, so that
/// is κ/(4Δ²ε) times a logarithm.
fn oja(bench: &Bench) -> Result<Claim> {
    let rows = paper_rows(bench.size(20_000, 1_000_000), 10, GAP, bench.seed)?;
    let op = gram(&rows)?;
    let kappa: f64 = kappas(&rows).iter().sum();
    let runs = bench.size(5, 10);
    let starts = bench.runs(runs, |seed| basis(10, 1, seed))?;
    let mut angles = Vec::new();
    for w in &starts {
        angles.push(tan2(w.row(0)[0].powi(2))?);
    }
    let mut worst = 1.0_f64;
    let balls: &[f64] = bench.size(&[0.1, 0.04], &[0.1, 0.04, 0.01]);
    for &ball in balls {
        bench.doing(format!("table1: Oja to a noise ball of {ball}"));
        let step = ball * 2.0 * GAP / kappa;
        // In units of 1/(2ηΔ): the time at which the mean of the noiseless errors is the ball.
        let noiseless = |time: f64| {
            let left = angles.iter().map(|angle| angle * (-time).exp());
            mean(&left.map(|tan2| tan2 / (1.0 + tan2)).collect::<Vec<_>>())
        };
        let time = (0..4000).map(|i| f64::from(i) / 100.0).find(|t| noiseless(*t) <= ball);
        let predicted = time.unwrap_or(f64::NAN) / (2.0 * GAP * step);
        // A count of steps.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let ticks = (2.0 * predicted) as u64;
        let method = Oja::default().step(step).steps(ticks);
        let courses = bench.runs(runs, |seed| {
            course(method, &*op, &basis(10, 1, seed)?, seed, Until::after(ticks))
        })?;
        let ratio = reaches(&mean_course(&courses), 2.0 * ball) / predicted;
        if ratio.is_nan() || ratio.ln().abs() > worst.ln().abs() {
            worst = ratio;
        }
    }
    Ok(Claim::new(
        "Table 1, Oja",
        "O(σ²/Δ² · 1/ε) samples, up to a logarithm",
        Check::between(
            "samples until the error is twice the ball ε, over κ/(4Δ²ε) log(tan²θ₀/ε), the \
             farthest from 1 of all ε; κ is the noise that leaves u₁",
            worst,
            0.5,
            2.0,
        ),
    ))
}

/// The ball of Mini-batch Power+M at a fixed batch against the gap: the batch that a fixed ball
/// needs grows alike.
fn batches(bench: &Bench) -> Result<Claim> {
    let (batch, burn_in) = (5000, 80);
    let ticks = burn_in + bench.size(240, 2000);
    let mut points = Vec::new();
    for gap in [0.1, 0.06, 0.04] {
        bench.doing(format!("table1: the ball of mini-batches, Δ = {gap}"));
        let rows = paper_rows(20_000, 10, gap, bench.seed)?;
        let op = gram(&rows)?;
        let beta = (1.0 - gap) * (1.0 - gap) / 4.0;
        let runs = bench.runs(2, |seed| {
            let method = MiniBatchMomentum::default().beta(beta).batch(batch).steps(ticks);
            let errors = course(method, &*op, &basis(10, 1, seed)?, seed, Until::after(ticks))?;
            let after = usize::try_from(burn_in).unwrap_or(usize::MAX).min(errors.len());
            Ok(mean(&errors[after..]))
        })?;
        points.push((gap, mean(&runs)));
    }
    Ok(Claim::new(
        "Table 1, Mini-batch Power+M",
        "a batch that grows like σ²/Δ^(3/2) · 1/ε",
        Check::between(
            "slope of log ball against log Δ at a fixed batch, Δ = .1, .06, .04",
            slope(&points),
            -1.75,
            -1.25,
        ),
    ))
}
