//! A real number kept as a logarithm and a sign.

use std::ops::{Div, Mul};

/// A real number $s\,e^{\ell}$ kept as its logarithm $\ell$ and its sign $s$.
///
/// $p_t(\lambda_1)$ leaves the range of `f64` near $t = 10^3$; its logarithm does not before
/// $t = 10^{300}$. Zero has sign 0 and logarithm $-\infty$.
///
/// # Example
/// ```
/// use favard_theory::LogSign;
/// let big = LogSign::from_value(-1e300);
/// let ratio = (big * big) / (big * LogSign::from_value(1e299));
/// assert!((ratio.value() + 10.0).abs() < 1e-11);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogSign {
    /// The natural logarithm of the modulus; $-\infty$ for zero.
    pub ln_abs: f64,
    /// $-1$, $0$ or $1$.
    pub sign: i8,
}

impl LogSign {
    /// Zero.
    pub const ZERO: Self = Self { ln_abs: f64::NEG_INFINITY, sign: 0 };
    /// One.
    pub const ONE: Self = Self { ln_abs: 0.0, sign: 1 };

    /// The number $\pm e^{\ell}$, the sign given as whether it is negative.
    ///
    /// # Example
    /// ```
    /// let x = favard_theory::LogSign::new(1.0, true);
    /// assert_eq!(x.sign, -1);
    /// ```
    #[must_use]
    pub fn new(ln_abs: f64, is_negative: bool) -> Self {
        if ln_abs == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        Self { ln_abs, sign: if is_negative { -1 } else { 1 } }
    }

    /// The logarithm and sign of a number.
    ///
    /// # Example
    /// ```
    /// use favard_theory::LogSign;
    /// assert_eq!(LogSign::from_value(0.0), LogSign::ZERO);
    /// ```
    #[must_use]
    pub fn from_value(value: f64) -> Self {
        Self::new(value.abs().ln(), value < 0.0)
    }

    /// The number itself: $\pm\infty$ above the range of `f64`, zero below it.
    ///
    /// # Example
    /// ```
    /// use favard_theory::LogSign;
    /// assert_eq!(LogSign::new(1e6, true).value(), f64::NEG_INFINITY);
    /// ```
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.sign) * if self.sign == 0 { 0.0 } else { self.ln_abs.exp() }
    }

    /// The modulus.
    ///
    /// # Example
    /// ```
    /// use favard_theory::LogSign;
    /// assert_eq!(LogSign::from_value(-2.0).abs().sign, 1);
    /// ```
    #[must_use]
    pub fn abs(self) -> Self {
        Self { sign: self.sign.abs(), ..self }
    }
}

impl Mul for LogSign {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.sign == 0 || other.sign == 0 {
            return Self::ZERO;
        }
        Self { ln_abs: self.ln_abs + other.ln_abs, sign: self.sign * other.sign }
    }
}

impl Div for LogSign {
    type Output = Self;
    /// Division; by zero it has an infinite logarithm, as in IEEE arithmetic.
    fn div(self, other: Self) -> Self {
        if self.sign == 0 {
            return Self::ZERO;
        }
        let sign = if other.sign == 0 { self.sign } else { self.sign * other.sign };
        Self { ln_abs: self.ln_abs - other.ln_abs, sign }
    }
}
