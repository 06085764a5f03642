//! What the theory says about solvers that sample rows: the factor of an epoch, and the noise ball.

use favard_engine::Record;
use favard_models::{Effort, Solver, estimate};
use favard_theory::planner::Estimates;
use favard_theory::{Growth, Spread, epoch_factor_bound, noise_ball};

use super::oja;
use super::theory::{Prediction, line};
use crate::args::FitArgs;
use crate::covariance::Covariance;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::fit::Fit;

/// What the course shows of the plan: ticks from record to record, and rows of a batch.
struct Course {
    ticks: usize,
    batch: f64,
}

impl Course {
    /// Rows of a batch, at least one.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn rows(&self) -> usize {
        self.batch.round().max(1.0) as usize
    }
}

/// Rows that the noise is measured from; it takes about 20 passes over them.
const SAMPLES: usize = 200;
/// Products that a second eigenvalue is estimated with, where the fit does not show it.
const PRODUCTS: u64 = 20;

/// With the noise of a sample of the rows, measured for this.
///
/// - With variance reduction an epoch of T ticks of s rows multiplies $\sin^2$ by at most the factor
///   of [`epoch_factor_bound`], at the noise $s_{op}/s$; the residual falls by its root. For VR-PCA it
///   is that of $I + \eta A$ at the step with the least factor, which is the one the solver takes.
/// - Mini-batches with momentum end in a ball, $\sin^2 \to \kappa c / s$ ([`noise_ball`]), where the
///   residual is $\sin \cdot (\lambda_1 - \lambda_2)$.
/// - Of Oja's rule, see [`oja`].
pub fn predict(solver: Solver, fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<Prediction> {
    let is_reduced = matches!(solver, Solver::Vr | Solver::VrPca);
    if solver == Solver::Oja {
        return oja::predict(fit, data, args);
    }
    if !is_reduced && solver != Solver::MiniBatch {
        let why = "the theory here is for Oja's rule with a constant step and without momentum; \
                   `favard plan` says what to expect of batches";
        return Ok(Prediction::None(why));
    }
    if !is_reduced && fit.summary.k != 1 {
        return Ok(Prediction::None("the noise ball is known for one component"));
    }
    let rows = data.shape().0;
    let Some(course) = course(&fit.history, rows, is_reduced) else {
        return Ok(Prediction::None("the course is too short"));
    };
    let Course { ticks, batch } = course;
    let Estimates { lambda2, s_op, kappa, .. } = noise(fit, data, args.seed)?;
    // The guards of a block show the next eigenvalue; behind a single column it is estimated.
    let next = fit.next.or((fit.summary.k == 1).then_some(lambda2));
    let (Some(&last), Some(next)) = (fit.summary.eigenvalues.last(), next) else {
        return Ok(Prediction::None("the eigenvalue behind the wanted ones is not known"));
    };
    let next = next.max(0.0);
    let growth = match args.beta {
        Some(beta) if solver != Solver::VrPca => Growth::new(last, next, beta),
        _ => Growth::optimal(last, next),
    };
    let Ok(growth) = growth else {
        return Ok(Prediction::None("there is no gap behind the wanted eigenvalues"));
    };
    if !is_reduced {
        let Ok(ball) = noise_ball(&growth, &[(next, kappa)], course.rows()) else {
            return Ok(Prediction::None("the noise has no stationary size"));
        };
        let level = ball.sqrt() * (last - next) / last;
        let name =
            format!("theory: the noise ball of batches of {batch:.0}, sin = {:.1e}", ball.sqrt());
        return Ok(Prediction::Level(level, name));
    }
    let factor = if solver == Solver::VrPca {
        best_step(last, next, s_op / batch, ticks)
    } else {
        epoch_factor_bound(&growth, s_op / batch, ticks, Spread::Flat).ok()
    };
    let Some(factor) = factor.filter(|factor| *factor < 1.0 && *factor > 0.0) else {
        return Ok(Prediction::None("the theory guarantees no factor below 1 for such epochs"));
    };
    // ½ ln factor an epoch
    let envelope =
        |record: &Record<f64>| Some(0.5 * factor.ln() * record.tick as f64 / ticks as f64);
    Ok(match line(envelope, &fit.history) {
        Some(points) => {
            let epochs = format!("epochs of {ticks} ticks of {batch:.0} rows");
            let name = format!("theory: {epochs}, a factor of {:.2e} each", factor.sqrt());
            Prediction::Line(points, name)
        }
        None => Prediction::None("the course is too short"),
    })
}

/// Read off the last two records that are apart: an epoch takes 1 + Ts/N passes, T ticks without an
/// anchor Ts/N.
fn course(history: &[Record<f64>], rows: usize, is_reduced: bool) -> Option<Course> {
    let (mut pairs, rows) = (history.windows(2), rows as f64);
    let pair = pairs.rfind(|pair| pair[1].tick > pair[0].tick)?;
    let ticks = pair[1].tick - pair[0].tick;
    let passes = pair[1].passes - pair[0].passes - f64::from(u8::from(is_reduced));
    let batch = (passes * rows / ticks as f64).max(1.0);
    Some(Course { ticks: usize::try_from(ticks).ok()?, batch })
}

/// The noise of one row, and λ₁ and λ₂ where the fit does not show λ₂, of the operator that was decomposed.
pub fn noise(fit: &Fit<'_>, data: &Data, seed: u64) -> Result<Estimates> {
    let (center, scale) = fit.prepared;
    let covariance = Covariance::new(data, center, scale)?;
    let products = if fit.next.is_some() { 1 } else { PRODUCTS };
    let effort = Effort { products, samples: SAMPLES, seed };
    let found = estimate(&covariance.gram()?, &effort).map_err(Error::of(&data.name))?.estimates;
    // A decomposition is of XᵀX, without the 1/(n − 1).
    let factor = if fit.prefix == "SV" { data.shape().0 as f64 - 1.0 } else { 1.0 };
    let (lambda1, lambda2) = (factor * found.lambda1, factor * found.lambda2);
    let square = factor * factor;
    let (s_op, kappa) = (square * found.s_op, square * found.kappa);
    Ok(Estimates { lambda1, lambda2, s_op, kappa, ..found })
}

/// The least factor of an epoch of Oja's rule with an anchor over the steps that the solver tries.
fn best_step(last: f64, next: f64, noise: f64, ticks: usize) -> Option<f64> {
    let factor = |power: i32| {
        let step = 2.0_f64.powf(0.5 * f64::from(power)) / last;
        let growth = Growth::new(1.0 + step * last, 1.0 + step * next, 0.0).ok()?;
        epoch_factor_bound(&growth, step * step * noise, ticks, Spread::Flat).ok()
    };
    (-60..=20).filter_map(factor).min_by(f64::total_cmp)
}
