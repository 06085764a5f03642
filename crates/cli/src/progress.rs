//! [`Progress`]: a line on stderr, if that is a terminal, and Ctrl-C for callbacks.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use favard_engine::{Record, Stop};
use indicatif::{ProgressBar, ProgressStyle};

use crate::watch::interrupted;
use crate::{memory, shown};

/// What a long command shows.
pub struct Progress {
    bar: ProgressBar,
    clock: Instant,
    /// The first residual that was shown.
    first: OnceLock<f64>,
}

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, clock: Instant::now(), first: OnceLock::new() }
    }

    /// Shows a text and the peak of memory.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            let peak = memory::peak()
                .map_or(String::new(), |peak| format!(", peak {}", shown::bytes(peak)));
            self.bar.set_message(text() + &peak);
        }
    }

    /// Shows a step: how far it is, the residual, its goal and when that is reached.
    pub fn step(&self, record: &Record<f64>, far: &str, what: &str, residual: f64, goal: f64) {
        tracing::info!(record.tick, record.passes, record.ritz, record.residual, "step");
        let first = *self.first.get_or_init(|| residual);
        let left = left(self.clock.elapsed(), first, residual, goal);
        let left = left.map_or(String::new(), |left| format!(", about {left:.0} s left"));
        self.say(|| format!("{far}, {what} {residual:.1e} of {goal:.0e}{left}"));
    }

    /// Takes it off the screen and tells the time.
    pub fn finish(&self) -> Duration {
        self.bar.finish_and_clear();
        self.clock.elapsed()
    }
}

/// Seconds until the goal, if the logarithm of the residual goes on falling as it has.
fn left(elapsed: Duration, first: f64, now: f64, goal: f64) -> Option<f64> {
    let fallen = (first / now).ln();
    let to_go = (now / goal).ln();
    let left = elapsed.as_secs_f64() * to_go / fallen;
    (fallen > 0.0 && to_go > 0.0 && left.is_finite()).then_some(left)
}

/// What a callback answers: stop once Ctrl-C was pressed.
pub fn flow() -> ControlFlow<Stop> {
    if interrupted() { ControlFlow::Break(Stop::Cancelled) } else { ControlFlow::Continue(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 1 to 1e-2 in 10 s: the 1e-6 that is asked for is two such stretches away. Where nothing
    /// has fallen, or the goal is reached or 0, nothing is said.
    #[test]
    fn the_end_is_where_the_logarithm_leads() {
        let after = Duration::from_secs(10);
        let seconds = left(after, 1.0, 1e-2, 1e-6).unwrap();
        assert!((seconds - 20.0).abs() < 20.0 * 8.0 * f64::EPSILON, "{seconds}");
        for (first, now, goal) in [(1.0, 1.0, 1e-6), (1.0, 1e-7, 1e-6), (1.0, 0.1, 0.0)] {
            assert_eq!(left(after, first, now, goal), None);
        }
    }
}
