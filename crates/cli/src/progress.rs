//! [`Progress`]: a line on stderr, if that is a terminal, and Ctrl-C for callbacks.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use favard_engine::Stop;
use indicatif::{ProgressBar, ProgressStyle};

use crate::watch::interrupted;
use crate::{memory, shown};

/// What a long command shows.
pub struct Progress {
    bar: ProgressBar,
    clock: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, clock: Instant::now() }
    }

    /// Shows a text and the peak of memory.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            let peak = memory::peak()
                .map_or(String::new(), |peak| format!(", peak {}", shown::bytes(peak)));
            self.bar.set_message(text() + &peak);
        }
    }

    /// Takes it off the screen and tells the time.
    pub fn finish(&self) -> Duration {
        self.bar.finish_and_clear();
        self.clock.elapsed()
    }
}

/// What a callback answers: stop once Ctrl-C was pressed.
pub fn flow() -> ControlFlow<Stop> {
    if interrupted() { ControlFlow::Break(Stop::Cancelled) } else { ControlFlow::Continue(()) }
}
