//! [`TrackingMomentum`]: whether momentum is worth its noise.

use favard_engine::Measure;
use favard_operator::Scalar;
use favard_theory::{Growth, ball_coefficient};
use serde::{Deserialize, Serialize};

use super::motion::Moved;
use super::steps::{Settings, TrackingStep};
use crate::error::{ErrorKind, Result};

/// A batch counts with at least this weight in the means of the eigenvalues.
const RECENT: f64 = 0.1;

/// Pairs of windows that are remembered. Their medians count, so that neither the way from a random
/// start nor a single jump is taken for drift.
const PAIRS: usize = 7;

/// Pairs before the first decision.
const LEAST: usize = 3;

/// The other mode has to promise an error smaller by this factor.
const HYSTERESIS: f64 = 0.9;

/// $\lambda_{k+1}/\lambda_k$ is taken to be at most this: windows then have at most 75 batches.
const CLOSEST: f64 = 0.98;

/// Whether [`SubspaceTracker`](super::SubspaceTracker) uses momentum.
///
/// # Example
/// ```
/// use favard_models::{SubspaceTracker, TrackingMomentum};
/// let tracker = SubspaceTracker::<f64>::new(100, 5)?.momentum(TrackingMomentum::Never);
/// # Ok::<(), favard_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TrackingMomentum {
    /// Where its lag gain beats its noise, as estimated while tracking; starts without.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always, with $\beta = \mu_{k+1}^2 / 4$ for the estimated eigenvalue
    /// $\mu_{k+1} = a \lambda_{k+1} + b$ of the step.
    Always,
    /// Always, with this β.
    Fixed(f64),
}

/// Lag against noise, as squared angles between the tracked subspace and the true one.
///
/// # Example
/// ```
/// use favard_models::SubspaceTracker;
/// use favard_operator::Block;
/// let mut tracker = SubspaceTracker::<f64>::new(4, 1)?;
/// for t in 0..40 {
///     let noise = Block::<f64>::gaussian(100, 4, t);
///     let rows = Block::from_fn(100, 4, |i, j| noise.row(i)[j] * if j == 0 { 2.0 } else { 1.0 });
///     tracker.update(rows.as_ref())?;
/// }
/// let weighing = tracker.report().weighing.expect("after two windows");
/// assert!(weighing.plain <= weighing.momentum); // nothing moves: momentum would only add noise
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Weighing {
    /// How fast the subspace turns, in radians a batch.
    pub speed: f64,
    /// The squared lag without momentum.
    pub lag2: f64,
    /// The noise ball without momentum.
    pub ball: f64,
    /// The squared error predicted without momentum: their sum.
    pub plain: f64,
    /// The squared error predicted with momentum.
    pub momentum: f64,
}

/// Keeps the estimates and decides.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Judge {
    forced: TrackingMomentum,
    step: TrackingStep,
    /// Whether momentum is on.
    on: bool,
    /// Means of λ_k and λ_{k+1}, and the batches behind them.
    values: (f64, f64),
    batches: f64,
    /// (ball, speed²) of the latest pairs of windows in the present mode, the oldest first.
    pairs: Vec<(f64, f64)>,
    weighing: Option<Weighing>,
}

/// How a mode responds, for a step whose wanted eigenvalue is 1 and whose next one is r: the error
/// along an eigenvector is $e_{t+1} = a_1 (e_t + \omega) + a_2 (e_{t-1} + 2\omega) + \text{noise}$.
struct Response {
    /// Lag over speed.
    lag: f64,
    /// Ball over the noise of a batch.
    ball: f64,
    /// a₁ and a₂.
    a: (f64, f64),
}

impl Response {
    fn new(ratio: f64, beta: f64) -> Option<Self> {
        let growth = Growth::new(1.0, ratio, beta).ok()?;
        let mu = growth.mu();
        let (a1, a2) = (ratio / mu, -beta / (mu * mu));
        let lag = (a1 + 2.0 * a2) / (1.0 - a1 - a2);
        Some(Self { lag, ball: ball_coefficient(&growth, ratio).ok()?, a: (a1, a2) })
    }

    /// The correlation of the noise with itself L batches later.
    fn correlation(&self, window: u64) -> f64 {
        let (a1, a2) = self.a;
        let (mut before, mut now) = (1.0, a1 / (1.0 - a2));
        for _ in 1..window {
            (before, now) = (now, a1 * now + a2 * before);
        }
        now
    }
}

impl Judge {
    pub fn new(forced: TrackingMomentum, step: TrackingStep) -> Self {
        let on = matches!(forced, TrackingMomentum::Always | TrackingMomentum::Fixed(_));
        Self {
            forced,
            step,
            on,
            values: (0.0, 0.0),
            batches: 0.0,
            pairs: Vec::with_capacity(PAIRS),
            weighing: None,
        }
    }

    /// `Ok` when it can be one of this module: it may come from a file.
    pub fn check(&self) -> Result<()> {
        if self.pairs.len() <= PAIRS {
            return Ok(());
        }
        Err(ErrorKind::Damaged { problem: "the tracker remembers too many windows" }.into())
    }

    pub fn forced(&self) -> TrackingMomentum {
        self.forced
    }

    pub fn step(&self) -> TrackingStep {
        self.step
    }

    pub fn weighing(&self) -> Option<Weighing> {
        self.weighing
    }

    /// The eigenvalues μ = a λ + b of the step: the wanted one and the next.
    fn spectrum(&self) -> (f64, f64) {
        let (a, b) = self.step.weights();
        (a * self.values.0 + b, a * self.values.1.max(0.0) + b)
    }

    fn ratio(&self) -> f64 {
        let (wanted, next) = self.spectrum();
        if wanted > 0.0 { (next / wanted).clamp(0.0, CLOSEST) } else { CLOSEST }
    }

    /// The coefficients of the coming step.
    pub fn settings(&self) -> Settings {
        let (a, b) = self.step.weights();
        let beta = match self.forced {
            TrackingMomentum::Fixed(beta) => beta,
            // Not before a batch has been seen.
            _ if self.on && self.batches > 0.0 => self.beta(),
            _ => 0.0,
        };
        Settings { a, b, beta }
    }

    /// β = μ²_{k+1}/4, short of μ_k however close the two are.
    fn beta(&self) -> f64 {
        let edge = self.ratio() * self.spectrum().0;
        edge * edge / 4.0
    }

    /// Batches of a window: 1.5 correlation times of the slowest noise.
    // At most 75.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn window(&self) -> u64 {
        ((1.5 / (1.0 - self.ratio())).ceil() as u64).max(4)
    }

    /// Takes the Ritz values of a batch.
    pub fn see<T: Scalar>(&mut self, measure: &Measure<T>, components: usize) {
        let at = |j: usize| measure.ritz.get(j).map_or(0.0, |value| value.as_f64());
        self.batches += 1.0;
        let weight = self.batches.recip().max(RECENT);
        let (wanted, next) = (at(components - 1), at(components));
        self.values.0 += weight * (wanted - self.values.0);
        self.values.1 += weight * (next - self.values.1);
    }

    /// Takes the motion of a pair of windows, and decides; whether the mode has changed.
    ///
    /// Noise that is stationary moves the basis by $2 b (1 - \rho_L)$ within L batches, a drift of
    /// speed ω by $\omega^2 L^2$ more. Two windows give two equations for the ball b and ω².
    pub fn weigh(&mut self, moved: Moved) -> bool {
        let (ratio, wanted) = (self.ratio(), self.spectrum().0);
        let share = match self.forced {
            TrackingMomentum::Fixed(beta) => beta / (wanted * wanted),
            _ => ratio * ratio / 4.0,
        };
        let (Some(plain), Some(fast)) = (Response::new(ratio, 0.0), Response::new(ratio, share))
        else {
            return false;
        };
        let own = if self.on { &fast } else { &plain };
        let spread = |window: u64| 2.0 * (1.0 - own.correlation(window));
        let (one, two) = (spread(moved.window), spread(2 * moved.window));
        // near = b A₁ + ω²L², far = b A₂ + 4ω²L²
        let ball = (4.0 * moved.near - moved.far) / (4.0 * one - two);
        let length = moved.window as f64;
        let speed2 = (moved.far - two * ball) / (4.0 * length * length);
        if self.pairs.len() == PAIRS {
            self.pairs.remove(0);
        }
        self.pairs.push((ball, speed2));
        let ball = median(self.pairs.iter().map(|pair| pair.0)).max(0.0);
        let speed2 = median(self.pairs.iter().map(|pair| pair.1)).max(0.0);
        let noise = ball / own.ball;
        let error = |mode: &Response| speed2 * mode.lag * mode.lag + noise * mode.ball;
        let weighing = Weighing {
            speed: speed2.sqrt(),
            lag2: speed2 * plain.lag * plain.lag,
            ball: noise * plain.ball,
            plain: error(&plain),
            momentum: error(&fast),
        };
        self.weighing = Some(weighing);
        let (here, there) = if self.on {
            (weighing.momentum, weighing.plain)
        } else {
            (weighing.plain, weighing.momentum)
        };
        let change = self.forced == TrackingMomentum::Auto
            && self.pairs.len() >= LEAST
            && there < HYSTERESIS * here;
        if change {
            // The noise of the other mode is another one: its motion is measured anew.
            self.on = !self.on;
            self.pairs.clear();
        }
        change
    }

    pub fn is_on(&self) -> bool {
        self.on
    }
}

/// The middle of at most [`PAIRS`] numbers; of an even count, the lower one.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sorted, mut count) = ([f64::INFINITY; PAIRS], 0_usize);
    for (slot, value) in sorted.iter_mut().zip(values) {
        *slot = value;
        count += 1;
    }
    sorted.sort_by(f64::total_cmp);
    sorted[count.max(1).div_ceil(2) - 1]
}
