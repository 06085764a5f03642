//! The statements of the paper that are wrong, exactly as printed, for study and for tests.
//!
//! Nothing in this crate uses them. Each function names its erratum and the corrected function, and
//! its example shows the printed statement fail. Statements that are true but loose are not here; see
//! [`Covariance::paper_exponential`](crate::Covariance::paper_exponential) for those.

use crate::{
    check,
    deterministic::Growth,
    error::Result,
    momentum::{self, Root, Start},
    optimal::Optimal,
};

/// Lemma op as printed: $\beta^{t/2}\cos(t\arccos(x/(2\beta)))$; `None` where the arccos has no value.
///
/// # Errors
/// `OutOfRange` unless `beta` is positive; `NonFinite`.
///
/// # Example
/// ```
/// // Inside the calm interval (0.9 = 2√β), yet the printed argument is 2.22.
/// assert_eq!(favard_theory::as_printed::lemma_op(5, 0.9, 0.2025)?, None);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma op; erratum 1.2; corrected: [`momentum::value`].
pub fn lemma_op(tick: usize, x: f64, beta: f64) -> Result<Option<f64>> {
    check::positive("beta", beta)?;
    let cosine = check::finite("x", x)? / (2.0 * beta);
    let scale = (0.5 * tick as f64 * beta.ln()).exp();
    Ok((cosine.abs() <= 1.0).then(|| scale * (tick as f64 * cosine.acos()).cos()))
}

/// Theorem 1 of the body: $\frac4{c^2}\rho^{-2t}$, claimed for Algorithm 1 too.
///
/// True for the T start with $\lambda_2\le2\sqrt\beta$, false for the U start that the algorithm uses.
///
/// # Errors
/// `OutOfRange` unless $0<c^2\le1$; `Count`.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Start, as_printed, sin2};
/// let growth = Growth::optimal(1.0, 0.9)?;
/// let truth = sin2(Start::U, 400, &[1.0, 0.9], &[0.5, 0.5], 0.2025)?;
/// assert!(truth > 7e3 * as_printed::theorem1_body(&growth, 400, 0.5)?);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem 1; errata 1.1, 2.2; corrected: [`Growth::bound`].
pub fn theorem1_body(growth: &Growth, tick: usize, cos2: f64) -> Result<f64> {
    check::count("tick", tick, 0, check::MAX_COUNT)?;
    check::within("cos2", cos2, f64::MIN_POSITIVE, 1.0)?;
    // In logarithms: 4/c² may overflow where the bound does not.
    Ok((4.0_f64.ln() - cos2.ln() + growth.root().ln_power(tick)).exp())
}

/// The general theorem of the appendix: constant 4 below $2\sqrt\beta$, constant 1 from there on.
///
/// # Errors
/// As [`theorem1_body`].
///
/// # Example
/// ```
/// use favard_theory::{Growth, Start, as_printed, sin2};
/// let growth = Growth::new(1.0, 0.95, 0.2025)?;
/// let truth = sin2(Start::T, 1, &[1.0, 0.95], &[0.99, 0.01], 0.2025)?;
/// assert!(truth > as_printed::theorem1_appendix(&growth, 1, 0.99)?);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., appendix A; erratum 2.1; corrected: [`Growth::bound`].
pub fn theorem1_appendix(growth: &Growth, tick: usize, cos2: f64) -> Result<f64> {
    Ok(crate::tan2(cos2)? * block_factor(growth, tick)?.powi(2))
}

/// Theorem bpm's factor as printed: constant 2 below $2\sqrt\beta$, constant 1 from there on.
///
/// # Errors
/// `Count` if `tick` exceeds $2^{52}$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Start, as_printed, block};
/// let growth = Growth::new(1.0, 0.95, 0.2025)?;
/// assert!(block::exact_ratio(Start::T, 2, &[1.0, 0.95], 1, 0.2025)?
///     > as_printed::block_factor(&growth, 2)?);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem bpm; erratum 4.1; corrected: [`block::factor`](crate::block::factor).
pub fn block_factor(growth: &Growth, tick: usize) -> Result<f64> {
    check::count("tick", tick, 0, check::MAX_COUNT)?;
    let is_below = growth.lambda2() < 2.0 * growth.beta().sqrt();
    let edge = if growth.is_calm() { 0.0 } else { growth.lambda2() };
    let ln_rate = Root::new(edge, growth.beta()).ln_mu - growth.root().ln_mu;
    let geometric = if tick == 0 { 1.0 } else { (tick as f64 * ln_rate).exp() };
    Ok(if is_below { 2.0 * geometric } else { geometric })
}

/// Corollary convergence's count $\frac{\sqrt\beta}{\sqrt D}\ln\frac1\epsilon$: tends to 0 with $\beta$.
///
/// # Errors
/// `OutOfRange` unless `epsilon` is in $(0,1)$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, as_printed};
/// assert!(as_printed::iterations(&Growth::optimal(1.0, 0.01)?, 1e-6)? < 0.08);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Corollary convergence; erratum 2.4; corrected: [`Growth::iterations`].
pub fn iterations(growth: &Growth, epsilon: f64) -> Result<f64> {
    check::fraction("epsilon", epsilon)?;
    Ok(slope(growth) * -epsilon.ln())
}

/// Theorem nonsvrg's $T=\frac{\sqrt\beta}{\sqrt D}\ln\frac{32}{\delta\epsilon}$: too short for every problem.
///
/// # Errors
/// `OutOfRange` unless `delta` and `epsilon` are in $(0,1)$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Start, as_printed, sin2};
/// // No noise at all, w₀ = (1/2, √3/2), δ = 0.1, ε = 1e−3: still above ε after ⌈T⌉ steps.
/// let growth = Growth::optimal(1.0, 0.99)?;
/// let tick = as_printed::nonsvrg_iterations(&growth, 0.1, 1e-3)?.ceil();
/// assert_eq!(tick, 45.0);
/// assert!(sin2(Start::U, 45, &[1.0, 0.99], &[0.25, 0.75], growth.beta())? > 1.08e-3);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem nonsvrg; erratum 3.8; corrected: [`MiniBatch`](crate::MiniBatch).
pub fn nonsvrg_iterations(growth: &Growth, delta: f64, epsilon: f64) -> Result<f64> {
    check::fraction("delta", delta)?;
    check::fraction("epsilon", epsilon)?;
    Ok(slope(growth) * (32.0_f64.ln() - delta.ln() - epsilon.ln()))
}

/// Theorem nonsvrg's threshold $\|\Sigma\|\le D\delta\epsilon/(256\sqrt d\,T)$ with its own (real) $T$.
///
/// # Errors
/// As [`nonsvrg_iterations`]; `Count` if `dim` is zero.
///
/// # Example
/// ```
/// use favard_theory::{Growth, MiniBatch, as_printed};
/// let growth = Growth::optimal(1.0, 0.9)?;
/// let printed = as_printed::nonsvrg_sigma_max(&growth, 0.01, 1e-3, 10)?;
/// assert!(printed > MiniBatch::new(&growth, 0.01, 1e-3)?.sigma_max_paper(10)?);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem nonsvrg; erratum 3.8.
pub fn nonsvrg_sigma_max(growth: &Growth, delta: f64, epsilon: f64, dim: usize) -> Result<f64> {
    let length = nonsvrg_iterations(growth, delta, epsilon)?;
    let root = (check::count("dim", dim, 1, check::MAX_COUNT)? as f64).sqrt();
    Ok(growth.discriminant() * delta * epsilon / (256.0 * root * length))
}

/// Theorem svrg's $T=\frac{\sqrt\beta}{\sqrt D}\ln\frac1{c\delta}$.
///
/// # Errors
/// `OutOfRange` unless `delta` and `c` are in $(0,1)$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, as_printed};
/// // The caption of Fig. 1(c) says 10 for δ = 1 %, c = 1/16; its own formula says 7.62.
/// let length = as_printed::svrg_iterations(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625)?;
/// assert!((length - 7.62).abs() < 5e-3);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem svrg, equation (T); errata 3.10 (e), 4.10; corrected:
/// [`VarianceReduced`](crate::VarianceReduced).
pub fn svrg_iterations(growth: &Growth, delta: f64, c: f64) -> Result<f64> {
    check::fraction("delta", delta)?;
    check::fraction("c", c)?;
    Ok(slope(growth) * (-delta.ln() - c.ln()))
}

/// Theorem svrg's batch, with the printed exponent 1 of $D$: not invariant under $A\to2A$.
///
/// $\frac{32\sqrt d\sqrt\beta\sigma^2}{cD\delta}\ln\frac1{c\delta}$.
///
/// # Errors
/// As [`svrg_iterations`]; `OutOfRange` for a negative `sigma2`; `Count` if `dim` is zero.
///
/// # Example
/// ```
/// use favard_theory::{Growth, as_printed};
/// let once = as_printed::svrg_batch(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625, 10, 90.0)?;
/// let twice = as_printed::svrg_batch(&Growth::optimal(2.0, 1.8)?, 0.01, 0.0625, 10, 360.0)?;
/// assert!((twice / once - 2.0).abs() < 1e-12);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem svrg; erratum 3.11.
pub fn svrg_batch(growth: &Growth, delta: f64, c: f64, dim: usize, sigma2: f64) -> Result<f64> {
    let three_halves = svrg_batch_three_halves(growth, delta, c, dim, sigma2)?;
    Ok(three_halves * growth.discriminant().sqrt())
}

/// Theorem svrg's batch with the exponent $\frac32$ of its own lemma, but still the printed $T$.
///
/// # Errors
/// As [`svrg_batch`].
///
/// # Example
/// ```
/// use favard_theory::{Growth, as_printed};
/// let once = as_printed::svrg_batch_three_halves(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625, 10, 90.0)?;
/// assert!((once / 584142818.6590426 - 1.0).abs() < 1e-12);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgepoch and Table 1; erratum 3.11.
pub fn svrg_batch_three_halves(
    growth: &Growth,
    delta: f64,
    c: f64,
    dim: usize,
    sigma2: f64,
) -> Result<f64> {
    check::non_negative("sigma2", sigma2)?;
    Ok(sigma2 / svrg_sigma_max(growth, delta, c, dim)?)
}

/// Lemma svrgepoch's threshold $\|\Sigma\|\le D\delta c/(32\sqrt d\,T)$ with the printed $T$.
///
/// # Errors
/// As [`svrg_iterations`]; `Count` if `dim` is zero.
///
/// # Example
/// ```
/// use favard_theory::{Growth, as_printed};
/// let most = as_printed::svrg_sigma_max(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625, 10)?;
/// assert!((most / 1.540719103704876e-7 - 1.0).abs() < 1e-12);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgepoch; erratum 3.10.
pub fn svrg_sigma_max(growth: &Growth, delta: f64, c: f64, dim: usize) -> Result<f64> {
    let length = svrg_iterations(growth, delta, c)?;
    let root = (check::count("dim", dim, 1, check::MAX_COUNT)? as f64).sqrt();
    Ok(growth.discriminant() * delta * c / (32.0 * root * length))
}

/// Lemma svrgepoch's contraction $\frac19$, claimed for every $c\in(0,\frac1{16})$; it needs $c\le\frac1{49}$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, VarianceReduced, as_printed};
/// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625)?;
/// assert!(epoch.contraction() > 3.9 * as_printed::svrg_contraction()); // 4/9
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgepoch; erratum 3.10 (d).
#[must_use]
pub fn svrg_contraction() -> f64 {
    1.0 / 9.0
}

/// Theorem svrg's epochs $\lceil\ln(1/\epsilon)/\ln9\rceil$.
///
/// # Errors
/// `OutOfRange` unless `epsilon` is in $(0,1)$.
///
/// # Example
/// ```
/// assert_eq!(favard_theory::as_printed::svrg_epochs(1e-3)?, 4);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem svrg; erratum 3.11; corrected:
/// [`VarianceReduced::epochs`](crate::VarianceReduced::epochs).
pub fn svrg_epochs(epsilon: f64) -> Result<usize> {
    check::fraction("epsilon", epsilon)?;
    check::ceil_count("epochs", epsilon.ln() / svrg_contraction().ln())
}

/// Theorem optimal as printed, its mean square: $\sum_jq_i^2$ in the denominator gives weights
/// $1/((t+1)q_i(\lambda_1))$.
///
/// # Errors
/// `Count` if `tick` exceeds the family's degree.
///
/// # Example
/// ```
/// use favard_theory::{Family, Optimal, as_printed};
/// let optimal = Optimal::new(Family::legendre(5)?, 1.001)?;
/// assert!((as_printed::optimal_mean_square(&optimal, 5)? - 0.0519).abs() < 5e-5);
/// assert!((optimal.mean_square(5)? - 0.0273).abs() < 5e-5);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem optimal; erratum 4.5; corrected: [`Optimal::mean_square`].
pub fn optimal_mean_square(optimal: &Optimal, tick: usize) -> Result<f64> {
    check::count("tick", tick, 0, optimal.family().degree())?;
    let values = optimal.family().recurrence().ln_values(optimal.lambda1())?;
    let sum: f64 = values[..=tick].iter().map(|q| (-2.0 * q.ln_abs).exp()).sum();
    let n = (tick + 1) as f64;
    Ok(sum / (n * n))
}

/// The printed "$\beta=0$: $p_t(\lambda)=\lambda^t$" for the family (P); true only for the U start.
///
/// # Errors
/// `NonFinite`.
///
/// # Example
/// ```
/// use favard_theory::{Start, as_printed, momentum};
/// assert_eq!(as_printed::without_momentum(3, 0.5)?, 2.0 * momentum::value(Start::T, 3, 0.5, 0.0)?);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., appendix "Effect of momentum"; erratum 1.3.
pub fn without_momentum(tick: usize, x: f64) -> Result<f64> {
    momentum::value(Start::U, tick, x, 0.0)
}

/// $\sqrt\beta/\sqrt D$.
fn slope(growth: &Growth) -> f64 {
    (growth.beta() / growth.discriminant()).sqrt()
}
