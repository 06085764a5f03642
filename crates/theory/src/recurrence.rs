//! Any polynomial family given by the coefficients of its three-term recurrence.

use crate::{check, error::Result, log_sign::LogSign};

/// One step of the recurrence: $p_{n+1}(x) = (a x + b)\,p_n(x) - c\,p_{n-1}(x)$.
///
/// The same triple drives the engine's block: $F_{t+1} = a\,\Phi(F_t) + b F_t - c F_{t-1}$.
///
/// # Example
/// ```
/// use favard_theory::Triple;
/// let chebyshev = Triple { a: 2.0, b: 0.0, c: 1.0 };
/// assert_eq!(chebyshev.a, 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triple {
    /// The factor of $x\,p_n$.
    pub a: f64,
    /// The factor of $p_n$.
    pub b: f64,
    /// The factor of $-p_{n-1}$; ignored in the first step, where $p_{-1} = 0$.
    pub c: f64,
}

/// A polynomial family: a list of [`Triple`]s, starting from $p_0 = 1$, $p_{-1} = 0$.
///
/// Favard's theorem: if every $a_n \neq 0$ and $c_n a_n / a_{n-1} > 0$ this is an orthogonal family
/// for some measure. Nothing here needs that; any coefficients are evaluated.
///
/// # Example
/// ```
/// use favard_theory::{Recurrence, Triple};
/// # fn main() -> favard_theory::Result<()> {
/// let steps = vec![Triple { a: 1.0, b: 0.0, c: 0.0 }, Triple { a: 2.0, b: 0.0, c: 1.0 }];
/// let t2 = Recurrence::new(steps)?;
/// assert_eq!(t2.values(0.5)?, [1.0, 0.5, -0.5]);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., equation (`p_tilde`); Favard (1935).
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrence {
    triples: Vec<Triple>,
}

impl Recurrence {
    /// A family from its triples, $p_1$ first.
    ///
    /// # Errors
    /// `NonFinite` if a coefficient is not finite.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Recurrence::new(vec![])?.degree(), 0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn new(triples: Vec<Triple>) -> Result<Self> {
        for triple in &triples {
            check::all_finite("triple", &[triple.a, triple.b, triple.c])?;
        }
        Ok(Self { triples })
    }

    /// A family whose coefficients are known to be finite.
    pub(crate) fn trusted(triples: Vec<Triple>) -> Self {
        Self { triples }
    }

    /// The highest degree the coefficients reach.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Family::legendre(4)?.recurrence().degree(), 4);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn degree(&self) -> usize {
        self.triples.len()
    }

    /// The triples, $p_1$ first.
    ///
    /// # Example
    /// ```
    /// let triples = favard_theory::Family::legendre(3)?.recurrence().triples().to_vec();
    /// assert!((triples[0].a - 3.0_f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn triples(&self) -> &[Triple] {
        &self.triples
    }

    /// $p_0(x), \dots, p_n(x)$; one multiply-add pair per degree.
    ///
    /// # Errors
    /// `NonFinite` if `x` is not finite.
    ///
    /// # Example
    /// ```
    /// let q = favard_theory::Family::legendre(1)?.recurrence().values(1.0)?;
    /// assert!((q[1] - 3.0_f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn values(&self, x: f64) -> Result<Vec<f64>> {
        check::finite("x", x)?;
        let mut values = vec![1.0];
        let (mut prev, mut cur) = (0.0, 1.0);
        for step in &self.triples {
            (prev, cur) = (cur, (step.a * x + step.b) * cur - step.c * prev);
            values.push(cur);
        }
        Ok(values)
    }

    /// $\ln|p_k(x)|$ and signs for every degree; never overflows, at the same cost as [`values`].
    ///
    /// The pair $(p_k, p_{k-1})$ is rescaled by a power of two whenever it leaves
    /// $[2^{-500}, 2^{500}]$, which changes no digit.
    ///
    /// # Errors
    /// As [`values`].
    ///
    /// # Example
    /// ```
    /// let q = favard_theory::Family::legendre(5000)?.recurrence().ln_values(3.0)?;
    /// assert!(q[5000].ln_abs > 8000.0); // e^8000 is no f64
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// [`values`]: Self::values
    pub fn ln_values(&self, x: f64) -> Result<Vec<LogSign>> {
        check::finite("x", x)?;
        let (big, small) = (2.0_f64.powi(500), 2.0_f64.powi(-500));
        let mut values = vec![LogSign::ONE];
        let (mut prev, mut cur, mut shift) = (0.0_f64, 1.0_f64, 0.0);
        for step in &self.triples {
            (prev, cur) = (cur, (step.a * x + step.b) * cur - step.c * prev);
            let largest = prev.abs().max(cur.abs());
            if largest > big {
                (prev, cur, shift) = (prev * small, cur * small, shift + big.ln());
            } else if largest < small && largest > 0.0 {
                (prev, cur, shift) = (prev * big, cur * big, shift - big.ln());
            }
            check::finite("polynomial value", cur)?;
            let value = LogSign::from_value(cur);
            values.push(LogSign { ln_abs: value.ln_abs + shift, ..value });
        }
        Ok(values)
    }

    /// The coefficients of $p_n$ in powers of $x$, constant term first.
    ///
    /// For study: monomial coefficients grow like $2^n$, so their values lose digits beyond degree 30.
    ///
    /// # Errors
    /// `Count` if `degree` exceeds [`degree`](Self::degree).
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Recurrence, Triple};
    /// let cube = Recurrence::new(vec![Triple { a: 1.0, b: 0.0, c: 0.0 }; 3])?;
    /// assert_eq!(cube.monomials(3)?, [0.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn monomials(&self, degree: usize) -> Result<Vec<f64>> {
        check::count("degree", degree, 0, self.degree())?;
        let (mut prev, mut cur) = (vec![0.0], vec![1.0]);
        for step in &self.triples[..degree] {
            let mut next = vec![0.0; cur.len() + 1];
            for (k, &c) in cur.iter().enumerate() {
                next[k + 1] += step.a * c;
                next[k] += step.b * c;
            }
            for (k, &c) in prev.iter().enumerate() {
                next[k] -= step.c * c;
            }
            (prev, cur) = (cur, next);
        }
        Ok(cur)
    }
}
