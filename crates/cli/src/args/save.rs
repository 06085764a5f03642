//! Where a run is saved, and which it takes up.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use favard_models::Checkpoints;

/// Checkpoints of a run.
#[derive(Debug, Clone, Args)]
pub struct SaveArgs {
    /// Save the run to this file as it goes.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Seconds between two saves; with 0, one after every step.
    #[arg(long, value_name = "SEC", default_value = "60", value_parser = seconds)]
    checkpoint_every: Duration,

    /// Go on with the run that was saved to this file: same bits as an unbroken one.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

impl SaveArgs {
    /// Whether there is anything to save or to take up.
    pub fn is_asked_for(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// For a model.
    pub fn checkpoints(&self) -> Checkpoints {
        let mut checkpoints = Checkpoints::new().every(self.checkpoint_every);
        if let Some(file) = &self.checkpoint {
            checkpoints = checkpoints.save(file);
        }
        if let Some(file) = &self.resume {
            checkpoints = checkpoints.resume(file);
        }
        checkpoints
    }
}

/// A time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    Duration::try_from_secs_f64(value).map_err(|_| "not a time of 0 or more".to_string())
}
