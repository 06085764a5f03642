//! The shifted recurrence for a one-sided spectrum.

use crate::{check, deterministic::Growth, error::Result};

/// The best shift and momentum when the other eigenvalues lie in a known interval.
///
/// Run on $A - \sigma I$ with $\sigma = (a+b)/2$ and $2\sqrt\beta = (b-a)/2$ for
/// $a\le\lambda_i\le b$, $i\ge2$. On a positive matrix with a small gap this takes a factor up to $\sqrt2$ fewer iterations
/// than $\beta=\lambda_2^2/4$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Shift, Start};
/// # fn main() -> favard_theory::Result<()> {
/// let shifted = Shift::new(1.0, 0.0, 0.9)?;
/// let plain = Growth::optimal(1.0, 0.9)?;
/// let gain = shifted.growth().ln_rate() / plain.ln_rate();
/// assert!(gain > 1.35 && gain < 2.0_f64.sqrt());
/// # Ok(()) }
/// ```
///
/// # Reference
/// Erratum 2.5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    shift: f64,
    growth: Growth,
}

impl Shift {
    /// The shift for $\lambda_1$ above the interval $[\text{lower}, \text{upper}]$ of all others.
    ///
    /// # Errors
    /// `NoGap` unless `lambda1` exceeds `upper`; `OutOfRange` if `upper` is below `lower`;
    /// `NonFinite`.
    ///
    /// # Example
    /// ```
    /// let shifted = favard_theory::Shift::new(1.0, -0.2, 0.6)?;
    /// assert!((shifted.shift() - 0.2).abs() < 1e-16);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 2.5.
    pub fn new(lambda1: f64, lower: f64, upper: f64) -> Result<Self> {
        check::finite("lambda1", lambda1)?;
        check::finite("upper", upper)?;
        check::within("lower", lower, f64::MIN, upper)?;
        let shift = f64::midpoint(lower, upper);
        let half = 0.5 * upper - 0.5 * lower;
        check::finite("upper - lower", half)?;
        if lambda1 <= upper {
            return Err(crate::ErrorKind::NoGap { lambda1, edge: upper }.into());
        }
        Ok(Self { shift, growth: Growth::optimal(lambda1 - shift, half)? })
    }

    /// The amount to subtract from the diagonal.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Shift::new(1.0, 0.0, 0.5)?.shift(), 0.25);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// The regime of the shifted matrix: its $\beta$, bounds and iteration counts.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Shift::new(1.0, 0.0, 0.5)?.growth().beta(), 0.015625);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn growth(&self) -> Growth {
        self.growth
    }
}
