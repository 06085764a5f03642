//! [`Plan`]: step and momentum for a batch size.

use crate::error::{ErrorKind, Result};

use super::spectrum::Ends;

/// The momentum of a sampled method.
///
/// [`Given`](Self::Given) parameters that diverge in mean square are refused, with the batch size
/// from which they converge.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Momentum {
    /// Polyak's γ for the spectrum, and a step that grows with the batch until it saturates at
    /// Polyak's (mapping: the best γ hardly depends on the batch). Where the step is below a
    /// seventeenth of Polyak's, γ is cut instead: the rate is the same, and the start is not slow.
    #[default]
    Auto,
    /// None; the step is the best one for the spectrum, cut for small batches in the same way.
    Off,
    /// These. For Kaczmarz the step is the relaxation ω.
    Given {
        /// The step.
        step: f64,
        /// The momentum γ.
        gamma: f64,
    },
}

/// The share of the noise gain at which the step saturates: 2/3 of the border of stability gives the
/// best steps of the tables in the book's chapters within 15 %.
pub(crate) const GAIN: f64 = 2.0 / 3.0;

/// The same for SVRG, whose noise is that of the distance to the anchor as well.
pub(crate) const ANCHORED_GAIN: f64 = 1.0 / 8.0;

/// $s_0 / s$ up to which momentum is lengthened. From there on the rate of a slow mode,
/// $\eta h / (1 - \gamma)$, has reached $2 s h \cdot \text{share} / R^2$ up to a factor of
/// $1 + 1 / 16$: more memory would only take longer to warm up, and with κ = 10⁸ as long as the run.
const MEMORY: f64 = 16.0;

/// Parameters of $x_{t+1} = x_t - \eta H_t e_t + \gamma (x_t - x_{t-1})$ for batches of s rows.
///
/// With $\mathbb E \lVert a \rVert^2 a a^T \preceq R^2 H$ the variance that a mode h adds up is
/// $\frac{\eta^2 R^2 h}{s} \sum_k p_k^2 \approx \frac{\eta R^2}{2 s (1 - \gamma)}$ of what it starts
/// from: the *gain*. The recurrence is stable in mean square while the gain is below one. The step
/// here is $\eta = \eta_\infty / (1 + s_0 / s)$ with the $s_0$ for which the gain stays below a
/// given share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plan {
    pub step: f64,
    pub gamma: f64,
    /// $s_0$ for Polyak's γ: the batch at which the step is half of Polyak's.
    pub half: f64,
    /// $\eta R^2 / (2 s (1 - \gamma))$.
    pub gain: f64,
    /// The factor per tick of the slowest mode without noise, at most.
    pub rate: f64,
}

impl Plan {
    /// The plan for a spectrum of H, $R^2$ and the batch.
    pub fn new(
        momentum: Momentum,
        ends: &Ends,
        row_square: f64,
        batch: usize,
        share: f64,
    ) -> Result<Self> {
        let size = batch as f64;
        let (low, high) = (ends.low.sqrt(), ends.high.sqrt());
        let (saturated, polyak, gamma) = match momentum {
            // η = 4 / (√h₁ + √h_d)², √γ = (√κ − 1)/(√κ + 1), 1 − γ ≥ η R² / (2 share s MEMORY)
            Momentum::Auto => {
                let step = 4.0 / (low + high).powi(2);
                let polyak = ((high - low) / (high + low)).powi(2);
                let useful = 1.0 - step * row_square / (2.0 * share * size * MEMORY);
                (step, polyak, polyak.min(useful.max(0.0)))
            }
            // η = 2 / (h₁ + h_d)
            Momentum::Off => (2.0 / (ends.low + ends.high), 0.0, 0.0),
            Momentum::Given { step, gamma } => (step, gamma, gamma),
        };
        let half = |gamma: f64| saturated * row_square / (2.0 * (1.0 - gamma) * share);
        let given = matches!(momentum, Momentum::Given { .. });
        let step = if given { saturated } else { saturated / (1.0 + half(gamma) / size) };
        let gain = step * row_square / (2.0 * size * (1.0 - gamma));
        if given {
            let good = step.is_finite() && step > 0.0 && (0.0..1.0).contains(&gamma);
            if !good {
                let (name, value) = ("momentum", gamma);
                let need = "must be in [0, 1), with a finite step above 0";
                return Err(ErrorKind::Parameter { name, value, need }.into());
            }
            if gain >= 1.0 {
                return Err(ErrorKind::Diverges { batch, gain, needed: gain * size }.into());
            }
        }
        Ok(Self { step, gamma, half: half(polyak), gain, rate: rate(step, gamma, ends.low) })
    }

    /// The batch from which momentum is worth having: half the batch at which the step is half of
    /// Polyak's. Below it gains less than a factor of 1.5 (Kaczmarz) to 2 (least squares).
    pub fn helps_from(&self) -> f64 {
        (self.half / 2.0).ceil().max(1.0)
    }

    /// Ticks of an SVRG epoch: the slowest mode halves twice, at least as many rows are read as the
    /// anchor takes, and at most twenty times as many. (A mode that needs longer is not in a hurry,
    /// and the anchor's noise is that of the modes that are.)
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive and capped
    pub fn epoch(&self, rows: usize, batch: usize) -> u64 {
        let halvings = (4.0_f64.ln() / -self.rate.ln()).ceil().clamp(1.0, 1e9) as u64;
        let pass = rows.div_ceil(batch) as u64;
        halvings.clamp(pass, 20 * pass)
    }

    /// Ticks in which the momentum builds up its speed: four times its memory $1 / (1 - \gamma)$.
    /// That the residual falls slowly before says nothing.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, casts saturate
    pub fn warm_up(&self) -> u64 {
        (4.0 / (1.0 - self.gamma)) as u64
    }

    /// The sentence about the batch for a reason.
    pub fn remark(&self, batch: usize) -> String {
        let text = format!("step {:.2e}, momentum {:.3}", self.step, self.gamma);
        let from = self.helps_from();
        if self.gamma > 0.0 && (batch as f64) < from {
            return format!(
                "{text}; warning: with batches of {batch} momentum hardly helps, and Polyak's step \
                 would diverge in mean square; it pays from batches of {from} on"
            );
        }
        text
    }
}

/// The modulus of the larger root of z² − (1 + γ − ηh) z + γ.
fn rate(step: f64, gamma: f64, low: f64) -> f64 {
    let middle = (1.0 + gamma - step * low) / 2.0;
    let inside = middle * middle - gamma;
    if inside > 0.0 { middle.abs() + inside.sqrt() } else { gamma.sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use favard_theory::second_moment::{GaussianRows, Scaled, mean_square_rate};
    use ndarray::{Array1, Array2};

    /// ρ of E‖e‖² for Gaussian rows with this spectrum.
    fn rate_of(spectrum: &[f64], step: f64, gamma: f64, batch: f64) -> f64 {
        let h = Array2::from_diag(&Array1::from(spectrum.to_vec()));
        let rows = GaussianRows::new(h.view()).unwrap();
        let noise = Scaled::new(rows, step * step / batch).unwrap();
        let mean = Array2::eye(spectrum.len()) * (1.0 + gamma) - &h * step;
        mean_square_rate(&noise, mean.view(), gamma).unwrap()
    }

    /// The chosen step is stable for every batch and gives at least half the rate, ln ρ, of the best
    /// step found by search for the same γ, from one row to thousands, κ = 10 to 1000. (With four
    /// unknowns R² overstates the noise of Gaussian rows the most: 0.60 at κ = 100, s = 1.)
    #[test]
    fn planned_steps_are_near_the_best() {
        for condition in [10.0_f64, 100.0, 1000.0] {
            let spectrum: Vec<f64> = (0..4).map(|i| condition.powf(-f64::from(i) / 3.0)).collect();
            let trace: f64 = spectrum.iter().sum();
            let fourth: f64 = spectrum.iter().map(|h| h * h).sum();
            // E‖a‖⁴ / E‖a‖² for Gaussian rows
            let row_square = trace + 2.0 * fourth / trace;
            let ends = Ends { low: condition.recip(), high: 1.0, steps: 0 };
            for batch in [1, 8, 64, 1024, 16_384] {
                let plan = Plan::new(Momentum::Auto, &ends, row_square, batch, GAIN).unwrap();
                let size = batch as f64;
                let found = rate_of(&spectrum, plan.step, plan.gamma, size);
                assert!(found < 1.0, "κ {condition}, s {batch}: {found}");
                let best = (-5..=5)
                    .map(|i| plan.step * 1.3_f64.powi(i))
                    .map(|step| rate_of(&spectrum, step, plan.gamma, size))
                    .fold(f64::INFINITY, f64::min);
                let share = found.ln() / best.ln();
                assert!(share >= 0.5, "κ {condition}, s {batch}: {share}");
            }
        }
    }

    /// A gain of one is the border: given parameters are refused above it, and what is refused does
    /// diverge.
    #[test]
    fn refused_parameters_diverge() {
        let spectrum = [1.0, 0.3, 0.1, 0.03];
        let ends = Ends { low: 0.03, high: 1.0, steps: 0 };
        let row_square = 1.43 + 2.0 * 1.1009 / 1.43;
        let given = Momentum::Given { step: 1.5, gamma: 0.6 };
        let refused = Plan::new(given, &ends, row_square, 2, GAIN).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Diverges { batch: 2, .. }));
        assert!(rate_of(&spectrum, 1.5, 0.6, 2.0) > 1.0);
        assert!(Plan::new(given, &ends, row_square, 64, GAIN).is_ok());
        assert!(rate_of(&spectrum, 1.5, 0.6, 64.0) < 1.0);
    }

    /// At κ = 10¹⁰ momentum is as long as the batch can use, η h/(1 − γ) = 16/17 · 2 s h share / R²
    /// for a slow mode, and warm after at most 30 s ticks; at κ = 100 it is Polyak's.
    #[test]
    fn momentum_is_no_longer_than_the_batch_can_use() {
        let hard = Ends { low: 1e-10, high: 1.0, steps: 1 };
        for batch in [1, 8, 64] {
            let plan = Plan::new(Momentum::Auto, &hard, 1.0, batch, GAIN).unwrap();
            let speed = plan.step / (1.0 - plan.gamma);
            let most = 2.0 * GAIN * batch as f64;
            // Each of some ten operations rounds; 1 − γ magnifies it by 1/(1 − γ).
            let rounding = 10.0 * f64::EPSILON / (1.0 - plan.gamma);
            assert!((speed / (most * MEMORY / (MEMORY + 1.0)) - 1.0).abs() <= rounding);
            assert!(plan.warm_up() <= 30 * batch as u64, "{}", plan.warm_up());
            assert!(plan.helps_from() > 1e4);
        }
        let easy = Ends { low: 0.01, high: 1.0, steps: 1 };
        let plan = Plan::new(Momentum::Auto, &easy, 1.0, 1, GAIN).unwrap();
        assert!((plan.gamma - (0.9_f64 / 1.1).powi(2)).abs() <= 4.0 * f64::EPSILON);
    }
}
