//! The loosest parameter that reaches a residual.

use std::time::Instant;

use crate::peer::{Answer, Bench, Peer, Problem};

/// How a search for one target ended.
#[derive(Debug, Clone)]
pub enum Found {
    /// The parameter, and what it gave.
    Reached(f64, Answer),
    /// No parameter does; the smallest residual seen.
    Missed(f64),
    /// A parameter that is too loose takes this many seconds already: it was given up.
    Slow(f64),
    /// Every parameter fails, the last one with this message.
    Failed(String),
}

/// For each target the loosest parameter whose measured residual meets it. Targets must fall;
/// `patience` are the seconds after which the search for a target is given up.
pub fn search(
    bench: &mut Bench<'_>,
    peer: &Peer,
    problem: Problem,
    targets: &[f64],
    patience: &[f64],
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::with_capacity(targets.len());
    let (mut smallest, mut message) = (f64::INFINITY, None);
    for &parameter in &peer.ladder {
        let start = Instant::now();
        let seconds = match bench.solve(peer, problem, parameter) {
            Ok(answer) => {
                smallest = smallest.min(answer.residual);
                while found.len() < targets.len() && answer.residual <= targets[found.len()] {
                    found.push(Found::Reached(parameter, answer.clone()));
                }
                answer.seconds
            }
            Err(error) => {
                message = Some(error.to_string());
                start.elapsed().as_secs_f64()
            }
        };
        match patience.get(found.len()) {
            None => return found,
            Some(&patience) if seconds > patience => {
                found.resize(targets.len(), Found::Slow(seconds));
                return found;
            }
            Some(_) => {}
        }
    }
    let end = match message {
        Some(message) if smallest.is_infinite() => Found::Failed(message),
        _ => Found::Missed(smallest),
    };
    found.resize(targets.len(), end);
    found
}
