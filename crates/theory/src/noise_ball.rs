//! The stationary error of mini-batch power iteration with momentum: the AR(2) noise ball.

use crate::{check, deterministic::Growth, error::Result};

/// The noise-ball coefficient of one eigenvalue: $s\,\mathbb Ev_i^2/\kappa_i$ at stationarity.
///
/// With $a_1=\lambda_i/\mu$, $a_2=-\beta/\mu^2$: $$\frac{1-a_2}{\mu^2(1+a_2)\left((1-a_2)^2-a_1^2\right)},$$
/// the variance of $v_{t+1}=a_1v_t+a_2v_{t-1}+n/\mu$. Exact to leading order in $1/s$; $\kappa_i=\mathbb
/// E(u_i^TNu_1)^2$ for one sample.
///
/// # Errors
/// `OutOfRange` unless $|\lambda_i|<\lambda_1$, where the recurrence is stationary; `NonFinite`.
///
/// # Example
/// ```
/// use favard_theory::{Growth, ball_coefficient};
/// let c = ball_coefficient(&Growth::optimal(1.0, 0.9)?, 0.9)?;
/// assert!((c - 12.074512308976935).abs() < 1e-11);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Yule–Walker variance of an AR(2) process; the golden values' section `j_noise_ball`.
pub fn ball_coefficient(growth: &Growth, eigenvalue: f64) -> Result<f64> {
    let limit = growth.lambda1() * (1.0 - f64::EPSILON);
    check::within("eigenvalue", eigenvalue, -limit, limit)?;
    let root = growth.root();
    let gap = root.gap;
    // 1 + a₂ = 1 − β/μ² = √D/μ and 1 − a₂ = 2 − √D/μ = λ₁/μ without cancellation, and then
    // μ² ((1 − a₂)² − a₁²) = λ₁² − λ_i².
    let (plus, minus) = (gap, 2.0 - gap);
    let (near, far) = (growth.lambda1() - eigenvalue, growth.lambda1() + eigenvalue);
    check::finite("ball coefficient", minus / (plus * near * far))
}

/// The size of the noise ball: $\frac1s\sum_i\kappa_i\cdot$ coefficient.
///
/// `others` lists pairs $(\lambda_i,\kappa_i)$, $i\ge2$. Meaningful while the result is well below 1.
///
/// # Errors
/// As [`ball_coefficient`]; `OutOfRange` for a negative $\kappa$; `Count` if `batch` is zero.
///
/// # Example
/// ```
/// use favard_theory::{Growth, noise_ball};
/// // The paper's data: nine eigenvalues 0.9, Σκ = 8.096.
/// let ball = noise_ball(&Growth::optimal(1.0, 0.9)?, &[(0.9, 8.096)], 1000)?;
/// assert!((ball - 0.09775).abs() < 1e-5);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// As [`ball_coefficient`].
pub fn noise_ball(growth: &Growth, others: &[(f64, f64)], batch: usize) -> Result<f64> {
    check::count("batch", batch, 1, check::MAX_COUNT)?;
    let mut sum = 0.0;
    for &(eigenvalue, kappa) in others {
        sum += check::non_negative("kappa", kappa)? * ball_coefficient(growth, eigenvalue)?;
    }
    Ok(sum / batch as f64)
}
