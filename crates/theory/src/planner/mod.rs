//! Planners: how many iterations, what batch, what β, and will it work?
//!
//! [`plan`] answers twice, side by side. The *practical* recipe uses formulas that are exact to leading
//! order (noise ball, exact envelope, epoch factor of a flat spectrum); the *guaranteed* one uses the
//! corrected theorems, and says how many times more it asks for. Every number carries its formula.

mod estimates;
mod mini_batch;
mod quantity;
mod recipe;
mod variance_reduced;

pub use self::{
    estimates::{Estimates, Target},
    quantity::{Pessimism, Quantity},
    recipe::Recipe,
};
use crate::{
    Shift, check,
    covariance::Covariance,
    deterministic::Growth,
    error::{ErrorKind, Result},
};

/// A practical recipe and a guaranteed one, side by side.
///
/// # Example
/// ```
/// use favard_theory::planner::{Estimates, Target, plan};
/// let known = Estimates { cos2: 0.5, ..Estimates::from_spectrum(&[1.0, 0.9])? };
/// let pair = plan(&known, &Target::new(1e-3, 0.1))?.mini_batch; // no noise: any batch will do
/// assert_eq!((pair.practical.batch.value, pair.guaranteed?.batch.value), (1.0, 1.0));
/// # Ok::<(), favard_theory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Formulas exact to leading order.
    pub practical: Recipe,
    /// The corrected theorem, or why it does not apply: the start is too far from $u_1$, or the batch it
    /// needs is beyond the largest available.
    pub guaranteed: Result<Recipe>,
}

/// What [`plan`] returns.
///
/// # Example
/// ```
/// use favard_theory::planner::{Estimates, Target, plan};
/// let known = Estimates { terms: Some(1000), ..Estimates::from_spectrum(&[1.0, 0.9, 0.0])? };
/// let plan = plan(&known, &Target::new(1e-3, 0.1))?;
/// assert!(plan.variance_reduced.is_some() && plan.shift.is_some());
/// # Ok::<(), favard_theory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// One run with mini-batches (Algorithm 1).
    pub mini_batch: Pair,
    /// Epochs with an anchor (Algorithm 2); `None` for a stream, which has no full product.
    pub variance_reduced: Option<Pair>,
    /// The shift that saves a factor up to √2, if the smallest eigenvalue is known.
    pub shift: Option<Shift>,
    /// The largest $\|\Sigma\|$ of a step that the mini-batch run survives.
    pub breaking_variance: Quantity,
}

/// Plans a run from estimates: β, steps, batch, epochs, passes and noise ball, practical and guaranteed.
///
/// Costs at most 400 passes of an $O(T)$ recurrence.
///
/// # Errors
/// `NoGap` if $\lambda_1\le\lambda_2$; `BeyondBreakingPoint` if at the largest batch the relative variance
/// reaches 1 before the run ends, so that no answer is in sight; `BatchTooLarge` if the noise ball at the
/// largest batch exceeds $\epsilon$ and there is no variance reduction to avoid it (a stream);
/// `Exhausted` if with a known number of terms an epoch would exceed $2^{20}$ steps (a relative gap below
/// $10^{-11}$); `OutOfRange`, `NonFinite`, `Count` for the inputs.
///
/// # Example
/// ```
/// use favard_theory::planner::{Estimates, Target, plan};
/// # fn main() -> favard_theory::Result<()> {
/// let known = Estimates {
///     s_op: 10.097, sigma_norm: 9.124, kappa: 8.096, cos2: 0.5, terms: Some(1_000_000),
///     ..Estimates::from_spectrum(&[1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9])?
/// };
/// let plan = plan(&known, &Target::new(1e-3, 0.1))?;
/// // The practical batch rule s ≈ 2·C/ε, here 2e5.
/// assert!((plan.mini_batch.practical.batch.value / 195_511.0 - 1.0).abs() < 1e-3);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Theorems nonsvrg and svrg; errata 2.4, 2.5, 3.5, 3.8, 3.10, 3.11.
pub fn plan(estimates: &Estimates, target: &Target) -> Result<Plan> {
    let growth = estimates.growth()?;
    check::fraction("epsilon", target.epsilon)?;
    check::fraction("delta", target.delta)?;
    if let Some(batch) = target.largest_batch {
        check::count("largest_batch", batch, 1, check::MAX_COUNT)?;
    }
    let shift = match estimates.lower {
        Some(lower) => {
            check::within("lower", lower, -estimates.lambda2, estimates.lambda2)?;
            Some(Shift::new(estimates.lambda1, lower, estimates.lambda2)?)
        }
        None => None,
    };
    let variance_reduced = match estimates.terms {
        Some(terms) => Some(variance_reduced::pair(&growth, estimates, target, terms)?),
        None => None,
    };
    let ticks = mini_batch::practical_iterations(&growth, estimates, target)?;
    let breaking = breaking_variance(&growth, ticks)?;
    // A stream lives or dies with the mini-batch run; with anchors the noise dies out.
    if let (Some(largest), None) = (target.largest_batch, &variance_reduced) {
        let variance = estimates.sigma_norm / largest as f64;
        if variance >= breaking {
            let name = "sigma_norm / largest batch";
            return Err(ErrorKind::BeyondBreakingPoint { name, variance, breaking }.into());
        }
    }
    let mini_batch = mini_batch::pair(&growth, estimates, target, ticks, breaking)?;
    if let (Some(largest), None) = (target.largest_batch, &variance_reduced)
        && mini_batch.practical.batch.value > largest as f64
    {
        let (required, available) = (mini_batch.practical.batch.value, largest as f64);
        return Err(ErrorKind::BatchTooLarge { required, available }.into());
    }
    let breaking_variance = Quantity {
        value: breaking,
        formula: "‖Σ‖ at which Var f_T / p_T² = 1",
        source: "scalar second moment, erratum 3.5",
        pessimism: Pessimism::Exact,
    };
    Ok(Plan { mini_batch, variance_reduced, shift, breaking_variance })
}

/// The most steps for which the breaking variance is found by simulation of the scalar recurrence.
const SIMULATED: usize = 1 << 14;

/// $\|\Sigma\|$ at which the relative variance reaches 1 after `ticks` steps.
///
/// Beyond 2¹⁴ steps the safe closed form $D(2^{1/T}-1)$ is used.
fn breaking_variance(growth: &Growth, ticks: usize) -> Result<f64> {
    let ticks = ticks.max(1);
    if ticks <= SIMULATED {
        return Covariance::new(growth.lambda1(), growth.beta(), 0.0)?.breaking_variance(ticks);
    }
    Ok(growth.discriminant() * (std::f64::consts::LN_2 / ticks as f64).exp_m1())
}

/// β of either plan.
fn beta(growth: &Growth) -> Quantity {
    Quantity {
        value: growth.beta(),
        formula: "λ₂²/4",
        source: "remark after Corollary convergence, erratum 2.5",
        pessimism: Pessimism::Exact,
    }
}

/// How many times the practical number.
fn times(guaranteed: f64, practical: f64) -> Pessimism {
    Pessimism::Times(guaranteed / practical.max(1.0))
}

/// Refuses a batch above the largest available.
fn affordable(required: usize, target: &Target) -> Result<()> {
    match target.largest_batch {
        Some(available) if required > available => {
            let (required, available) = (required as f64, available as f64);
            Err(ErrorKind::BatchTooLarge { required, available }.into())
        }
        _ => Ok(()),
    }
}
