//! The momentum family $p_t(x;\beta)$ of the recurrence $p_{t+1} = xp_t - \beta p_{t-1}$, both starts.

use std::f64::consts::LN_2;

use crate::{check, error::Result, log_sign::LogSign};

/// Which of the two polynomial families a run of the recurrence follows.
///
/// The paper's Theorem 1 is about `T`, its algorithms and its stochastic results are about `U`.
/// The two differ by a factor that grows like $t$, so every function that depends on the choice
/// takes it as an argument.
///
/// # Example
/// ```
/// use favard_theory::{Start, momentum};
/// # fn main() -> favard_theory::Result<()> {
/// assert_eq!(momentum::value(Start::T, 1, 0.9, 0.2)?, 0.45);
/// assert_eq!(momentum::value(Start::U, 1, 0.9, 0.2)?, 0.9);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., equation (P) and Algorithm 1; errata 1.1, 1.3, 1.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Start {
    /// $p_1 = x/2$: the first product is halved. $p_t = \beta^{t/2}\,T_t(x/2\sqrt\beta)$.
    ///
    /// Worst-case optimal when the spectrum sits at $\lambda_2$.
    T,
    /// $p_1 = x$: $w_{-1} = 0$. $p_t = \beta^{t/2}\,U_t(x/2\sqrt\beta)$.
    ///
    /// Far better on spread spectra, where $T_t$ stays at full height on the whole calm interval.
    U,
}

/// Above this degree the closed form takes over from the recurrence.
///
/// The recurrence finds simple zeros exactly; its error near the edge grows like $t^2\epsilon$, which
/// at 128 is still below $10^{-11}$ in the worst case.
const RECURRENCE_LIMIT: usize = 128;

/// $p_t(x;\beta)$ in closed form.
///
/// $$p_t = \begin{cases}\tfrac12(\mu^t+\nu^t)\ \text{or}\ \dfrac{\mu^{t+1}-\nu^{t+1}}{\mu-\nu}, &
/// |x|>2\sqrt\beta,\\\\ \beta^{t/2}\cos t\varphi\ \text{or}\
/// \beta^{t/2}\dfrac{\sin(t+1)\varphi}{\sin\varphi}, & |x|\le2\sqrt\beta,\end{cases}$$
/// with $\mu,\nu=(x\pm\sqrt{x^2-4\beta})/2$ and $\varphi=\arccos(x/(2\sqrt\beta))$, not the printed
/// $\arccos(x/(2\beta))$.
///
/// Costs at most 128 multiply-adds at any `tick`. Beyond the range of `f64` the value is
/// $\pm\infty$ or zero: use [`ln_value`].
///
/// # Errors
/// `NonFinite` or `OutOfRange` if `x` is not finite or `beta` is negative or not finite; `Count` if
/// `tick` exceeds $2^{52}$.
///
/// # Example
/// ```
/// use favard_theory::{Start, momentum};
/// # fn main() -> favard_theory::Result<()> {
/// // x² − β = 1 − 0.2025
/// assert!((momentum::value(Start::U, 2, 1.0, 0.2025)? - 0.7975).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma op; errata 1.2 (the arccos), 1.3 ($\beta=0$ gives $\lambda^t/2$ for `T`).
pub fn value(start: Start, tick: usize, x: f64, beta: f64) -> Result<f64> {
    check_arguments(tick, x, beta)?;
    if tick <= RECURRENCE_LIMIT {
        let direct = last(start, tick, x, beta);
        if direct.is_finite() {
            return Ok(direct);
        }
    }
    Ok(ln_poly(start, tick, x, beta).value())
}

/// $\ln|p_t(x;\beta)|$ and the sign of $p_t(x;\beta)$, for `tick` to $10^6$ and far beyond.
///
/// Costs at most 128 multiply-adds and a handful of logarithms; absolute error of the logarithm
/// about $t\,\epsilon$ times $|\ln\mu| + \mu/\sqrt{x^2-4\beta}$.
///
/// # Errors
/// As [`value`].
///
/// # Example
/// ```
/// use favard_theory::{Start, momentum};
/// # fn main() -> favard_theory::Result<()> {
/// let p = momentum::ln_value(Start::U, 1_000_000, 1.0, 0.2025)?;
/// assert!(p.sign == 1 && p.ln_abs < -3.3e5); // the value itself underflows
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma op; erratum 1.2.
pub fn ln_value(start: Start, tick: usize, x: f64, beta: f64) -> Result<LogSign> {
    check_arguments(tick, x, beta)?;
    Ok(ln_poly(start, tick, x, beta))
}

/// $p_0, p_1, \dots, p_t$ at one point, by the recurrence itself.
///
/// The oracle of [`value`]: no closed form, `ticks` multiply-adds, plain `f64` range.
///
/// # Errors
/// As [`value`].
///
/// # Example
/// ```
/// use favard_theory::{Start, momentum};
/// # fn main() -> favard_theory::Result<()> {
/// assert_eq!(momentum::sequence(Start::T, 2, 1.0, 0.25)?, [1.0, 0.5, 0.25]);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., equation (P).
pub fn sequence(start: Start, ticks: usize, x: f64, beta: f64) -> Result<Vec<f64>> {
    check_arguments(ticks, x, beta)?;
    let mut values = vec![1.0];
    let (mut prev, mut cur) = (0.0, 1.0);
    for tick in 0..ticks {
        let factor = if tick == 0 && start == Start::T { 0.5 } else { 1.0 };
        (prev, cur) = (cur, factor * x * cur - beta * prev);
        values.push(cur);
    }
    Ok(values)
}

fn check_arguments(tick: usize, x: f64, beta: f64) -> Result<()> {
    check::count("tick", tick, 0, check::MAX_COUNT)?;
    check::finite("x", x)?;
    check::non_negative("beta", beta)?;
    Ok(())
}

/// The recurrence, last value only.
fn last(start: Start, tick: usize, x: f64, beta: f64) -> f64 {
    if tick == 0 {
        return 1.0;
    }
    let (mut prev, mut cur) = (1.0, if start == Start::T { 0.5 * x } else { x });
    for _ in 1..tick {
        (prev, cur) = (cur, x * cur - beta * prev);
    }
    cur
}

/// What the growth side of the family is made of, at one point $x \ge 2\sqrt\beta$.
///
/// Everything is arranged so that $x \to 2\sqrt\beta$ loses no digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    /// $\mu = (x+\sqrt D)/2$.
    pub mu: f64,
    /// $\ln\mu$.
    pub ln_mu: f64,
    /// $1-\nu/\mu = \sqrt D/\mu$, in $[0, 1]$.
    pub gap: f64,
    /// $\ln(\nu/\mu) = -2\ln\rho$, in $[-\infty, 0]$.
    pub ln_ratio: f64,
}

impl Root {
    /// The root at $x \ge 0$; at or below $2\sqrt\beta$ the double root $\sqrt\beta$.
    pub fn new(x: f64, beta: f64) -> Self {
        // D = x² − 4β with one rounding.
        let root_d = x.mul_add(x, -4.0 * beta).max(0.0).sqrt();
        let mu = if root_d > 0.0 { f64::midpoint(x, root_d) } else { beta.sqrt() };
        let gap = if root_d > 0.0 { (root_d / mu).min(1.0) } else { 0.0 };
        // For β = 0 the gap is 1 and ν = 0; rounding must not pretend otherwise.
        let ln_ratio = if beta == 0.0 { f64::NEG_INFINITY } else { (-gap).ln_1p() };
        Self { mu, ln_mu: mu.ln(), gap, ln_ratio }
    }

    /// $\ln\dfrac{1-r^{n}}{1-r}$ with $r=\nu/\mu$: $\ln n$ at the double root.
    pub fn ln_geometric(&self, n: usize) -> f64 {
        if self.gap == 0.0 {
            return (n as f64).ln();
        }
        (-(n as f64 * self.ln_ratio).exp_m1()).ln() - self.gap.ln()
    }

    /// $\ln r^{n}$ with $r^0 = 1$ also for $r = 0$.
    pub fn ln_power(&self, n: usize) -> f64 {
        if n == 0 { 0.0 } else { n as f64 * self.ln_ratio }
    }

    /// $\ln(p_t/\mu^t)$.
    pub fn ln_normalized(&self, start: Start, tick: usize) -> f64 {
        match start {
            Start::T => self.ln_power(tick).exp().ln_1p() - LN_2,
            Start::U => self.ln_geometric(tick + 1),
        }
    }
}

/// The unchecked heart of [`ln_value`].
pub(crate) fn ln_poly(start: Start, tick: usize, x: f64, beta: f64) -> LogSign {
    if tick == 0 {
        return LogSign::ONE;
    }
    let is_odd = tick % 2 == 1;
    let is_negative = x < 0.0 && is_odd;
    // Far from 1 the squares x², 4β would leave the range: scale by an exact power of two.
    let largest = x.abs().max(2.0 * beta.sqrt());
    if largest == 0.0 {
        return LogSign::ZERO;
    }
    let exponent = match largest {
        l if l > 2.0_f64.powi(300) => -600,
        l if l < 2.0_f64.powi(-300) => 600,
        _ => 0,
    };
    let (scaled, beta) = if exponent == 0 {
        (x.abs(), beta)
    } else {
        let unit = 2.0_f64.powi(exponent);
        (x.abs() * unit, beta * unit * unit)
    };
    let shift = -f64::from(exponent) * LN_2 * tick as f64;
    // 4β − x² with one rounding.
    let inside = (-scaled).mul_add(scaled, 4.0 * beta);
    if inside <= 0.0 {
        let root = Root::new(scaled, beta);
        let ln_abs = tick as f64 * root.ln_mu + root.ln_normalized(start, tick) + shift;
        return LogSign::new(ln_abs, is_negative);
    }
    // The calm side: |p_t| = β^{t/2} |cos tφ| or β^{t/2} |sin (t+1)φ / sin φ|, φ in (0, π/2].
    let scale = 0.5 * tick as f64 * beta.ln() + shift;
    let chebyshev = if tick <= RECURRENCE_LIMIT {
        last(start, tick, scaled / beta.sqrt(), 1.0)
    } else {
        let (sine, n) = (inside.sqrt(), (tick + 1) as f64);
        if scaled > sine {
            let angle = sine.atan2(scaled);
            match start {
                Start::T => (tick as f64 * angle).cos(),
                Start::U => (n * angle).sin() / angle.sin(),
            }
        } else {
            // From ψ = π/2 − φ, which has all digits of a small x.
            let angle = scaled.atan2(sine);
            match start {
                Start::T => turned(tick, tick as f64 * angle),
                Start::U => turned(tick, n * angle) / angle.cos(),
            }
        }
    };
    let value = LogSign::from_value(chebyshev);
    if value.sign == 0 {
        return LogSign::ZERO;
    }
    LogSign::new(value.ln_abs + scale, (value.sign < 0) != is_negative)
}

/// cos(nπ/2 − a).
fn turned(n: usize, a: f64) -> f64 {
    match n % 4 {
        0 => a.cos(),
        1 => a.sin(),
        2 => -a.cos(),
        _ => -a.sin(),
    }
}
