//! One way to run: β, steps, batch, epochs and what they cost.

use std::fmt;

use super::quantity::Quantity;

/// The numbers of one run.
///
/// # Example
/// ```
/// use favard_theory::planner::{Estimates, Target, plan};
/// let known = Estimates { s_op: 10.1, sigma_norm: 9.1, kappa: 8.1, ..Estimates::from_spectrum(&[1.0, 0.9])? };
/// let recipe = plan(&known, &Target::new(1e-3, 0.1))?.mini_batch.practical;
/// assert!(recipe.to_string().contains("beta"));
/// # Ok::<(), favard_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// The momentum.
    pub beta: Quantity,
    /// Steps of the run, or of one epoch.
    pub iterations: Quantity,
    /// Samples a step.
    pub batch: Quantity,
    /// Epochs; 1 for a plain mini-batch run.
    pub epochs: Quantity,
    /// Passes over the data, if the number of terms is known.
    pub passes: Option<Quantity>,
    /// The stationary error: 0 for variance reduction.
    pub noise_ball: Quantity,
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "beta        {}", self.beta)?;
        writeln!(f, "iterations  {}", self.iterations)?;
        writeln!(f, "batch       {}", self.batch)?;
        writeln!(f, "epochs      {}", self.epochs)?;
        if let Some(passes) = &self.passes {
            writeln!(f, "passes      {passes}")?;
        }
        write!(f, "noise ball  {}", self.noise_ball)
    }
}
