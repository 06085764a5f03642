//! What the theory says about Oja's rule: from the start into the noise ball.

use std::num::NonZeroUsize;

use favard_engine::Record;
use favard_models::solvers::{Oja, SAMPLE_TOLERANCE, sample_terms};
use favard_theory::planner::Estimates;

use super::sampled::noise;
use super::theory::Prediction;
use crate::args::FitArgs;
use crate::data::Data;
use crate::error::Result;
use crate::fit::Fit;

/// Oja's rule with a constant step η is the power iteration with $I + \eta A$, whose noise is η times
/// that of A; η is the step that the solver chooses, with the noise measured for this.
pub fn predict(fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<Prediction> {
    if fit.summary.k != 1 {
        return Ok(Prediction::None("the noise ball is known for one component"));
    }
    let (rows, dim) = data.shape();
    if fit.history.len() < 2 {
        return Ok(Prediction::None("the course is too short"));
    }
    let batch = args.batch.map_or(1, NonZeroUsize::get);
    let known = noise(fit, data, args.seed)?;
    let Ok(step) = Oja::step_for(&known, batch as u64, args.tol) else {
        return Ok(Prediction::None("there is no gap behind the wanted eigenvalues"));
    };
    let bound = Bound::new(&known, step, batch, (sample_terms(dim, rows), rows));
    if fit.warm {
        let level = bound.ball.sqrt();
        let name = format!("theory: the noise ball of Oja's rule with η = {step:.1e}");
        return Ok(Prediction::Level(level, name));
    }
    let point = |record: &Record<f64>| (record.passes, bound.after(record.tick).sqrt());
    let end = fit.history.last().map_or(0.0, |last| point(last).1);
    let name =
        format!("theory: Oja's rule with η = {step:.1e}, r.m.s. at the end at most {end:.1e}");
    Ok(Prediction::Bound(fit.history.iter().map(point).collect(), name))
}

/// A bound on the mean square of the residual over λ₁, to first order in the noise.
///
/// In the direction of eigenvalue x, into which the noise of one row goes with $\kappa_x$, the
/// component of the iterate is a process of order one: it shrinks by
/// $\rho_x = (1 + \eta x)/(1 + \eta\lambda_1)$ a tick and is pushed by the noise, and its share of the
/// squared residual is
///
/// $$ \rho_x^{2t} r_{0,x}^2 + (1 - \rho_x^{2t}) \frac{\kappa_x}{s}
///    \frac{\eta (\lambda_1 - x)}{2 + \eta (\lambda_1 + x)}. $$
///
/// Over $0 \le x \le \lambda_2$ the first term is largest at $\lambda_2$ and the second at 0.
struct Bound {
    /// ln ρ² at λ₂, and at 0.
    slow: f64,
    fast: f64,
    /// The squares at the start, and at the end.
    start: f64,
    ball: f64,
}

impl Bound {
    /// For batches of so many rows; the start is the eigenvector of some of all rows.
    fn new(known: &Estimates, step: f64, batch: usize, (sample, rows): (usize, usize)) -> Self {
        let (first, second) = (known.lambda1, known.lambda2.max(0.0));
        let (taken, all, batch) = (sample as f64, rows as f64, batch as f64);
        // Batches of all rows have no noise.
        let noise = if batch < all { known.kappa / batch } else { 0.0 };
        // r₀² = (κ/m) (N − m)/(N − 1) + (10⁻⁴ λ₁)²: to first order the residual is the sample's error
        // on v₁
        let error = known.kappa / taken * (all - taken) / (all - 1.0).max(1.0);
        Self {
            slow: 2.0 * ((step * second).ln_1p() - (step * first).ln_1p()),
            fast: -2.0 * (step * first).ln_1p(),
            start: error / (first * first) + SAMPLE_TOLERANCE * SAMPLE_TOLERANCE,
            // (κ/s) ηλ₁ / (2 + ηλ₁), over λ₁²
            ball: noise * step / (first * (2.0 + step * first)),
        }
    }

    /// ρ(λ₂)²ᵗ r₀² + (1 − ρ(0)²ᵗ) r∞²
    fn after(&self, ticks: u64) -> f64 {
        let ticks = ticks as f64;
        (self.slow * ticks).exp() * self.start - (self.fast * ticks).exp_m1() * self.ball
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use favard_theory::{Growth, noise_ball};

    /// Each direction's share is that of the theory's power iteration with I + ηA: its ball, and its
    /// start times the rate. The bound is at least that wherever in [0, λ₂] the noise goes, and equal
    /// where all of it goes to 0 and nothing is left of the start.
    #[test]
    fn it_bounds_every_direction() {
        let known = Estimates { kappa: 7.0, ..Estimates::from_spectrum(&[2.0, 1.5, 0.0]).unwrap() };
        let (step, batch) = (0.05, 4);
        let bound = Bound::new(&known, step, batch, (1000, 10_000));
        let growth = Growth::new(1.0 + step * 2.0, 1.0 + step * 1.5, 0.0).unwrap();
        for x in [0.0, 0.3, 0.9, 1.5] {
            let noise = step * step * known.kappa;
            // sin² of the ball, as a squared residual over λ₁
            let square = ((2.0 - x) / 2.0_f64).powi(2);
            let ball = square * noise_ball(&growth, &[(1.0 + step * x, noise)], batch).unwrap();
            let rate = ((1.0 + step * x) / (1.0 + step * 2.0)).powi(2);
            for ticks in [0, 1, 10, 100, 1000] {
                let left = rate.powi(ticks);
                let share = left * bound.start + (1.0 - left) * ball;
                let most = bound.after(u64::try_from(ticks).unwrap());
                // A power of t factors is off by t roundings.
                let rounding = 4.0 * f64::from(ticks + 8) * f64::EPSILON;
                assert!(share <= most * (1.0 + rounding), "{x}, {ticks}: {share:e} {most:e}");
            }
            if x == 0.0 {
                assert!((bound.ball - ball).abs() <= 64.0 * f64::EPSILON * ball);
            }
        }
    }
}
