//! [`Family`]: a sequence of orthogonal polynomials by its recurrence (Favard's theorem).

use favard_operator::Scalar;

use super::Triple;
use crate::error::{ErrorKind, Result, check};

/// A family of polynomials $p_0 = 1$, $p_{n+1}(x) = (a_n x + b_n) p_n(x) - c_n p_{n-1}(x)$.
///
/// By Favard's theorem every such recurrence with $a_n a_{n-1} c_n > 0$ belongs to polynomials that
/// are orthogonal for some measure. $c_0$ is not used.
///
/// # Example
/// ```
/// use favard_engine::recurrence::{Family, Legendre};
/// // The orthonormal Legendre polynomials: q₁(x) = √3 x
/// let first = Family::<f64>::coefficients(&Legendre, 0);
/// assert_eq!((first.a, first.b), (3f64.sqrt(), 0.0));
/// ```
pub trait Family<T: Scalar> {
    /// The family's name, for checkpoints.
    fn name(&self) -> &'static str;

    /// $(a_n, b_n, c_n)$.
    fn coefficients(&self, n: u64) -> Triple<T>;

    /// The parameters, for checkpoints.
    fn parameters(&self) -> Vec<T> {
        Vec::new()
    }
}

/// The Chebyshev polynomials of the first kind on an interval:
/// $p_n(x) = T_n((x - m) / e)$ with the interval's middle m and half-length e.
///
/// On the interval they stay within ±1; above it they grow as fast as any polynomial can. As a
/// recurrence on a positive semidefinite operator with $[\lambda_d, \lambda_{k+1}]$ it needs √2
/// fewer steps than plain momentum (erratum 2.5).
///
/// # Example
/// ```
/// use favard_engine::recurrence::{Chebyshev, Family};
/// let family = Chebyshev::new(0.0, 2.0)?; // T_n(x − 1)
/// let second: favard_engine::recurrence::Triple<f64> = family.coefficients(1);
/// assert_eq!((second.a, second.b, second.c), (2.0, -2.0, 1.0));
/// # Ok::<(), favard_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chebyshev<T> {
    low: T,
    high: T,
}

impl<T: Scalar> Chebyshev<T> {
    /// On the interval `[low, high]`.
    ///
    /// # Errors
    /// Unless both are finite and low < high.
    pub fn new(low: T, high: T) -> Result<Self> {
        check("low", low.as_f64(), true, "must be finite")?;
        check("high", high.as_f64(), high > low, "must be finite and above the lower end")?;
        Ok(Self { low, high })
    }
}

impl<T: Scalar> Family<T> for Chebyshev<T> {
    fn name(&self) -> &'static str {
        "chebyshev"
    }

    fn coefficients(&self, n: u64) -> Triple<T> {
        let half = (self.high - self.low) * T::of(0.5);
        let middle = (self.high + self.low) * T::of(0.5);
        // T₁(z) = z, T_{n+1}(z) = 2 z T_n(z) − T_{n−1}(z)
        let twice = if n == 0 { T::one() } else { T::of(2.0) };
        Triple { a: twice / half, b: -twice * middle / half, c: T::one() }
    }

    fn parameters(&self) -> Vec<T> {
        vec![self.low, self.high]
    }
}

/// The Legendre polynomials, orthonormal for the uniform probability measure on [−1, 1]:
/// $q_n = \sqrt{2n + 1} P_n$.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Legendre;

impl<T: Scalar> Family<T> for Legendre {
    fn name(&self) -> &'static str {
        "legendre"
    }

    fn coefficients(&self, n: u64) -> Triple<T> {
        // (n+1) P_{n+1} = (2n+1) x P_n − n P_{n−1}, times √(2n+3)
        let n = n as f64;
        let root = |m: f64| (2.0 * m + 1.0).sqrt();
        let a = root(n + 1.0) * root(n) / (n + 1.0);
        let c = if n == 0.0 { 0.0 } else { n / (n + 1.0) * root(n + 1.0) / root(n - 1.0) };
        Triple { a: T::of(a), b: T::zero(), c: T::of(c) }
    }
}

/// A family by a table of its coefficients; the last row serves for all higher degrees.
///
/// # Example
/// ```
/// use favard_engine::recurrence::{Tabulated, Triple};
/// // The momentum family of the U start with β = 1/4 is one row.
/// let family = Tabulated::new(vec![Triple { a: 1.0, b: 0.0, c: 0.25 }])?;
/// # Ok::<(), favard_engine::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tabulated<T>(Vec<Triple<T>>);

impl<T: Scalar> Tabulated<T> {
    /// The family with these rows.
    ///
    /// # Errors
    /// When there is no row, when a number is not finite, or when an a is zero.
    pub fn new(rows: Vec<Triple<T>>) -> Result<Self> {
        if rows.is_empty() {
            let (name, need) = ("rows of the table", "must be at least one");
            return Err(ErrorKind::Parameter { name, value: 0.0, need }.into());
        }
        for row in &rows {
            check("a", row.a.as_f64(), row.a != T::zero(), "must be finite and not 0")?;
            check("b", row.b.as_f64(), true, "must be finite")?;
            check("c", row.c.as_f64(), true, "must be finite")?;
        }
        Ok(Self(rows))
    }
}

impl<T: Scalar> Family<T> for Tabulated<T> {
    fn name(&self) -> &'static str {
        "tabulated"
    }

    fn coefficients(&self, n: u64) -> Triple<T> {
        let last = self.0.len() - 1;
        self.0[usize::try_from(n).map_or(last, |n| n.min(last))]
    }

    fn parameters(&self) -> Vec<T> {
        self.0.iter().flat_map(|row| [row.a, row.b, row.c]).collect()
    }
}
