//! One problem, solved by everybody to each accuracy.

use std::time::Instant;

use favard_benches::Outcome;
use favard_models::{Pca, PcaFit};

use crate::data::Matrix;
use crate::peer::{Bench, Peer, Problem};
use crate::report::{Case, Ours, Theirs, Verdict};
use crate::search::{Found, search};

/// Residuals asked for.
const TARGETS: [f64; 2] = [1e-4, 1e-8];

/// A search is given up when a parameter that is still too loose takes this many times our seconds
/// (and more than [`SHORT`]).
const PATIENCE: f64 = 20.0;

/// A solver that takes this many times our seconds is timed once, not in every round.
const FAR: f64 = 10.0;

/// Seconds that are too short to save.
const SHORT: f64 = 2.0;

/// Solves a problem to each of the targets: one case each.
pub fn measure(
    bench: &mut Bench<'_>,
    name: &str,
    x: &Matrix,
    problem: Problem,
    rounds: usize,
) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    for target in TARGETS {
        let pca = Pca::new(problem.k).center(problem.center).tolerance(target);
        let start = Instant::now();
        let fit = x.fit(&pca)?;
        let ours = ours(bench, problem, &fit, start.elapsed().as_secs_f64())?;
        cases.push((pca, Case::new(name, x, problem, target, ours)));
    }
    let patience: Vec<f64> =
        cases.iter().map(|(_, case)| SHORT.max(PATIENCE * case.ours.seconds)).collect();
    let peers = bench.peers(problem)?;
    for peer in &peers {
        let found = search(bench, peer, problem, &TARGETS, &patience);
        for ((_, case), found) in cases.iter_mut().zip(found) {
            let theirs = theirs(&case.ours, peer, found);
            case.peers.push(theirs);
        }
    }
    for (pca, case) in &mut cases {
        time(bench, x, problem, pca, case, &peers, rounds)?;
    }
    Ok(cases.into_iter().map(|(_, case)| case).collect())
}

fn ours(bench: &mut Bench<'_>, problem: Problem, fit: &PcaFit<f64>, seconds: f64) -> Outcome<Ours> {
    let values = fit.singular_values();
    let residual = bench.python.residual(problem, &values, fit.components())?;
    let info = fit.info();
    Ok(Ours {
        solver: format!("{:?}", fit.method().0),
        stop: format!("{:?}", info.stop),
        products: info.applications,
        passes: info.passes,
        seconds,
        residual,
        values,
    })
}

fn theirs(ours: &Ours, peer: &Peer, found: Found) -> Theirs {
    let verdict = match found {
        Found::Missed(residual) => Verdict::Missed { residual },
        Found::Slow(seconds) => Verdict::Slow { seconds },
        Found::Failed(message) => Verdict::Failed { message },
        Found::Reached(parameter, answer) => {
            // Each s² is within its residual of an eigenvalue; if both have the same eigenvalues,
            // |s² − s'²| ≤ (ρ + ρ') s₁².
            let largest = ours.values.first().map_or(1.0, |s| s * s);
            let deviation = ours.values.iter().zip(&answer.values);
            let deviation =
                deviation.map(|(a, b)| (a * a - b * b).abs() / largest).fold(0.0, f64::max);
            let (seconds, residual) = (answer.seconds, answer.residual);
            let agrees = deviation <= ours.residual + residual + 64.0 * f64::EPSILON;
            Verdict::Reached { parameter, seconds, residual, deviation, agrees }
        }
    };
    Theirs { name: peer.name.clone(), verdict }
}

/// Interleaved rounds; the shortest of each counts.
fn time(
    bench: &mut Bench<'_>,
    x: &Matrix,
    problem: Problem,
    pca: &Pca,
    case: &mut Case,
    peers: &[Peer],
    rounds: usize,
) -> Outcome<()> {
    // What the search measured was the warm-up.
    let first = case.ours.seconds;
    case.ours.seconds = f64::INFINITY;
    for round in 0..rounds {
        let start = Instant::now();
        x.fit(pca)?;
        case.ours.seconds = case.ours.seconds.min(start.elapsed().as_secs_f64());
        for (peer, theirs) in peers.iter().zip(&mut case.peers) {
            let Verdict::Reached { parameter, seconds, .. } = &mut theirs.verdict else { continue };
            if round > 0 && *seconds > SHORT.max(FAR * first) {
                continue;
            }
            let now = bench.solve(peer, problem, *parameter)?.seconds;
            *seconds = if round == 0 { now } else { seconds.min(now) };
        }
    }
    Ok(())
}
