//! [`Bench`]: where experiments run; [`Findings`]: what they give.

use rayon::prelude::*;

use super::claim::Claim;
use crate::error::Result;
use crate::progress::Progress;
use crate::report::lines::Lines;

/// The size of the experiments, their seed, and who looks on.
pub struct Bench {
    pub quick: bool,
    pub seed: u64,
    progress: Progress,
}

impl Bench {
    pub fn new(quick: bool, seed: u64) -> Self {
        Self { quick, seed, progress: Progress::new() }
    }

    /// One of two sizes.
    pub fn size<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Says what is being done.
    pub fn doing(&self, what: impl Into<String>) {
        let what = what.into();
        tracing::info!("{what}");
        self.progress.say(|| what);
    }

    /// One run for each of `count` seeds, side by side.
    pub fn runs<T: Send>(
        &self,
        count: u64,
        run: impl Fn(u64) -> Result<T> + Sync + Send,
    ) -> Result<Vec<T>> {
        (0..count).into_par_iter().map(|i| run(self.seed.wrapping_add(i))).collect()
    }

    /// Takes the progress off the screen.
    pub fn finish(&self) {
        self.progress.finish();
    }
}

/// What an experiment gives.
#[derive(Debug, Default)]
pub struct Findings {
    /// One sentence about what was run.
    pub about: String,
    pub claims: Vec<Claim>,
    pub plots: Vec<Plot>,
    pub sheets: Vec<Sheet>,
}

/// A plot with its caption.
#[derive(Debug)]
pub struct Plot {
    pub lines: Lines,
    pub caption: String,
}

/// A table of numbers for a file.
#[derive(Debug)]
pub struct Sheet {
    /// The name of the file without its ending.
    pub name: String,
    pub row_names: Option<Vec<String>>,
    /// Names and numbers, as many in each.
    pub columns: Vec<(String, Vec<f64>)>,
    /// Whether the page shows it, too.
    pub shown: bool,
}

impl Sheet {
    /// A table that goes into a file only.
    pub fn new(name: &str, columns: Vec<(String, Vec<f64>)>) -> Self {
        Self { name: name.to_string(), row_names: None, columns, shown: false }
    }

    /// A table with a name for each row, that the page shows.
    pub fn table(name: &str, row_names: Vec<String>, columns: Vec<(String, Vec<f64>)>) -> Self {
        Self { name: name.to_string(), row_names: Some(row_names), columns, shown: true }
    }
}
