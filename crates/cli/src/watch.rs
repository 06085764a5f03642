//! [`Watcher`]: the progress of a fit, and Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use favard_engine::{Record, Stop};

use crate::args::FitArgs;
use crate::error::{Error, Result};
use crate::progress::{Progress, flow};
use crate::shown;

/// Set by Ctrl-C, or by a request to terminate.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C finishes the step; a second one ends the program. Files are safe in either
/// case: each is there whole or not at all.
pub fn catch_interrupts() -> Result<()> {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            end();
        }
        shown::note("finishing the step; once more to stop at once");
    };
    ctrlc::set_handler(handler).map_err(|error| Error::System(error.to_string()))
}

/// From here on Ctrl-C ends the program, and leaves no file that is half written.
pub fn end_at_interrupt() -> Result<()> {
    ctrlc::set_handler(|| end()).map_err(|error| Error::System(error.to_string()))
}

fn end() -> ! {
    favard_io::discard_unfinished();
    std::process::exit(130)
}

/// Shows the records of a fit on stderr, if that is a terminal, and stops it when asked to.
pub struct Watcher {
    progress: Progress,
    tolerance: f64,
    most_passes: u64,
}

impl Watcher {
    /// For one fit.
    pub fn new(args: &FitArgs) -> Self {
        Self { progress: Progress::new(), tolerance: args.tol, most_passes: args.max_passes }
    }

    /// After each step.
    pub fn step(&self, record: &Record<f64>) -> ControlFlow<Stop> {
        let relative = record.residual / record.ritz.abs().max(f64::MIN_POSITIVE);
        let far = format!("{:.1} of at most {} passes", record.passes, self.most_passes);
        self.progress.step(record, &far, "residual", relative, self.tolerance);
        flow()
    }

    /// Takes the progress off the screen and tells the time.
    pub fn finish(self) -> Duration {
        self.progress.finish()
    }
}

/// Whether the fit was interrupted.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
