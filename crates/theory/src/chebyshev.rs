//! Chebyshev polynomials of both kinds: values, and logarithm with sign at any degree.
//!
//! Up to degree 128 inside $[-1, 1]$ the recurrence is used (its zeros at simple points come out
//! exactly zero); elsewhere the closed form, so that the cost does not depend on the degree.

use crate::{check, error::Result, log_sign::LogSign, momentum, momentum::Start};

/// $T_k(x)$, the Chebyshev polynomial of the first kind.
///
/// $T_{k+1} = 2xT_k - T_{k-1}$, $T_0 = 1$, $T_1 = x$. Costs at most 128 multiply-adds. Outside the
/// range of `f64` the value is $\pm\infty$: use [`ln_t`].
///
/// # Errors
/// `NonFinite` if `x` is not finite; `Count` if `degree` exceeds $2^{52}$.
///
/// # Example
/// ```
/// # fn main() -> favard_theory::Result<()> {
/// assert_eq!(favard_theory::chebyshev::t(2, 0.5)?, -0.5);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., notation paragraph of appendix A with erratum 1.4 ($T_0 = 1$).
pub fn t(degree: usize, x: f64) -> Result<f64> {
    momentum::value(Start::T, degree, 2.0 * check::finite("x", x)?, 1.0)
}

/// $U_k(x)$, the Chebyshev polynomial of the second kind.
///
/// $U_{k+1} = 2xU_k - U_{k-1}$, $U_0 = 1$, $U_1 = 2x$. Costs at most 128 multiply-adds.
///
/// # Errors
/// As [`t`].
///
/// # Example
/// ```
/// # fn main() -> favard_theory::Result<()> {
/// assert_eq!(favard_theory::chebyshev::u(7, 1.0)?, 8.0);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., notation paragraph of appendix A.
pub fn u(degree: usize, x: f64) -> Result<f64> {
    momentum::value(Start::U, degree, 2.0 * check::finite("x", x)?, 1.0)
}

/// $\ln|T_k(x)|$ and the sign of $T_k(x)$; never overflows.
///
/// # Errors
/// As [`t`].
///
/// # Example
/// ```
/// # fn main() -> favard_theory::Result<()> {
/// let huge = favard_theory::chebyshev::ln_t(1_000_001, -2.0)?;
/// assert_eq!(huge.sign, -1);
/// assert!((huge.ln_abs / 1_000_001.0 - 2.0_f64.acosh()).abs() < 1e-6);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma op with erratum 1.2.
pub fn ln_t(degree: usize, x: f64) -> Result<LogSign> {
    momentum::ln_value(Start::T, degree, 2.0 * check::finite("x", x)?, 1.0)
}

/// $\ln|U_k(x)|$ and the sign of $U_k(x)$; never overflows.
///
/// # Errors
/// As [`t`].
///
/// # Example
/// ```
/// # fn main() -> favard_theory::Result<()> {
/// let edge = favard_theory::chebyshev::ln_u(999_999, 1.0)?;
/// assert!((edge.ln_abs - 1e6_f64.ln()).abs() < 1e-14);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., appendix A.
pub fn ln_u(degree: usize, x: f64) -> Result<LogSign> {
    momentum::ln_value(Start::U, degree, 2.0 * check::finite("x", x)?, 1.0)
}
