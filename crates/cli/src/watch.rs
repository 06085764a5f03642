//! [`Watcher`]: the progress of a fit, and Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use favard_engine::{Record, Stop};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::FitArgs;
use crate::error::{Error, Result};
use crate::{memory, shown};

/// Set by Ctrl-C, or by a request to terminate.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C finishes the step; a second one ends the program. Files are safe in either
/// case: each is there whole or not at all.
pub fn catch_interrupts() -> Result<()> {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("favard: finishing the step; once more to stop at once");
    };
    ctrlc::set_handler(handler).map_err(|error| Error::System(error.to_string()))
}

/// Shows the records of a fit on stderr, if that is a terminal, and stops it when asked to.
pub struct Watcher {
    bar: ProgressBar,
    clock: Instant,
    tolerance: f64,
    most_passes: u64,
    /// The first relative residual.
    first: Option<f64>,
}

impl Watcher {
    /// For one fit.
    pub fn new(args: &FitArgs) -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        let (tolerance, most_passes) = (args.tol, args.max_passes);
        Self { bar, clock: Instant::now(), tolerance, most_passes, first: None }
    }

    /// After each step.
    pub fn step(&mut self, record: &Record<f64>) -> ControlFlow<Stop> {
        let relative = record.residual / record.ritz.abs().max(f64::MIN_POSITIVE);
        tracing::info!(record.tick, record.passes, record.ritz, record.residual, "step");
        let first = *self.first.get_or_insert(relative);
        if !self.bar.is_hidden() {
            self.bar.set_message(format!(
                "{:.1} of at most {} passes, residual {relative:.1e} of {:.0e}{}{}",
                record.passes,
                self.most_passes,
                self.tolerance,
                self.left(first, relative)
                    .map_or(String::new(), |left| format!(", about {left:.0} s left")),
                memory::peak()
                    .map_or(String::new(), |peak| format!(", peak {}", shown::bytes(peak))),
            ));
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            return ControlFlow::Break(Stop::Cancelled);
        }
        ControlFlow::Continue(())
    }

    /// Seconds until the tolerance, if the logarithm of the residual goes on falling as it has.
    fn left(&self, first: f64, now: f64) -> Option<f64> {
        let fallen = (first / now).ln();
        let to_go = (now / self.tolerance).ln();
        let left = self.clock.elapsed().as_secs_f64() * to_go / fallen;
        (fallen > 0.0 && to_go > 0.0 && left.is_finite()).then_some(left)
    }

    /// Takes the progress off the screen and tells the time.
    pub fn finish(self) -> Duration {
        self.bar.finish_and_clear();
        self.clock.elapsed()
    }
}

/// Whether the fit was interrupted.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
