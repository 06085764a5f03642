//! The optimal combination: the polynomial of least mean square on a measure with $f(\lambda_1) = 1$.

use crate::{
    check,
    error::{ErrorKind, Result},
    family::Family,
};

/// The degree-$t$ polynomials that minimise $\mathbb E f^2$ under $f(\lambda_1) = 1$.
///
/// $$f^*_t(x) = \frac{\sum_{i\le t} q_i(\lambda_1)\,q_i(x)}{\sum_{j\le t} q_j(\lambda_1)^2},\qquad
/// \mathbb E f_t^{*2} = \frac1{\sum_{j\le t}q_j(\lambda_1)^2}.$$
/// The sum in the denominator runs over $j$ with $q_j$, not the printed $q_i$. Evaluated in the ratio
/// form, which never overflows: $\hat p_t = q_t(x)/q_t(\lambda_1)$, $\gamma_{t+1} =
/// \tau^2\gamma/(1+\tau^2\gamma)$ with $\tau = q_{t+1}(\lambda_1)/q_t(\lambda_1)$, and $f_{t+1} = f_t +
/// \gamma_{t+1}(\hat p_{t+1} - f_t)$.
///
/// # Example
/// ```
/// use favard_theory::{Family, Optimal};
/// # fn main() -> favard_theory::Result<()> {
/// let optimal = Optimal::new(Family::legendre(50)?, 1.001)?;
/// assert!((optimal.mean_square(50)? - 1.0889460964731342e-4).abs() < 1e-15);
/// assert!((optimal.values(1.001)?[50] - 1.0).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Theorem optimal and Algorithm 5; errata 4.5, 4.6, 4.8.
#[derive(Debug, Clone)]
pub struct Optimal {
    family: Family,
    lambda1: f64,
    /// $\tau_t = q_{t+1}(\lambda_1)/q_t(\lambda_1)$.
    tau: Vec<f64>,
    /// $\ln q_j(\lambda_1)$.
    ln_top: Vec<f64>,
    /// $1-\gamma_t$, kept apart because $\gamma_t$ may round to 1.
    keep: Vec<f64>,
    /// $\gamma_t = q_t(\lambda_1)^2 / \sum_{j\le t} q_j(\lambda_1)^2$.
    gamma: Vec<f64>,
    /// $\ln \sum_{j\le t} q_j(\lambda_1)^2$.
    ln_sum: Vec<f64>,
}

/// The coefficients of the corrected four-term recurrence of $f^*$.
///
/// $f_{n+2} = (a x - b) f_{n+1} + (c x - d) f_n + e f_{n-1}$.
///
/// # Example
/// ```
/// use favard_theory::{Family, Optimal};
/// # fn main() -> favard_theory::Result<()> {
/// let optimal = Optimal::new(Family::legendre(6)?, 1.1)?;
/// let (x, f, k) = (0.3, optimal.values(0.3)?, optimal.four_term(2)?);
/// let next = (k.a * x - k.b) * f[3] + (k.c * x - k.d) * f[2] + k.e * f[1];
/// assert!((next - f[4]).abs() < 1e-14);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., equation (4term); erratum 4.7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FourTerm {
    /// The factor of $x f_{n+1}$.
    pub a: f64,
    /// The factor of $-f_{n+1}$.
    pub b: f64,
    /// The factor of $x f_n$.
    pub c: f64,
    /// The factor of $-f_n$.
    pub d: f64,
    /// The factor of $f_{n-1}$.
    pub e: f64,
}

impl Optimal {
    /// The optimal polynomials of a family for the eigenvalue `lambda1`.
    ///
    /// `lambda1` must lie above the support of the measure; an underestimate that still does so costs
    /// nothing visible.
    ///
    /// # Errors
    /// `NoGap` if some $q_j(\lambda_1) \le 0$, which happens only when `lambda1` is below a zero of
    /// $q_j$ and so inside the support; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// assert!(Optimal::new(Family::legendre(9)?, 0.9).is_err());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 4.8: $\tilde\lambda_1$ must exceed the support.
    pub fn new(family: Family, lambda1: f64) -> Result<Self> {
        check::finite("lambda1", lambda1)?;
        let (mut tau, mut ln_top) = (Vec::with_capacity(family.degree()), vec![0.0]);
        let (mut gamma, mut keep, mut ln_sum) = (vec![1.0], vec![0.0], vec![0.0]);
        for (t, step) in family.recurrence().triples().iter().enumerate() {
            // τ_t = aλ + b − c/τ_{t−1}: positive exactly while λ₁ is above every zero of q_{t+1}.
            let back = if t == 0 { 0.0 } else { step.c / tau[t - 1] };
            let ratio = step.a * lambda1 + step.b - back;
            if !ratio.is_finite() || ratio <= 0.0 {
                let edge = family.gauss()?.iter().fold(f64::NEG_INFINITY, |m, node| m.max(node.0));
                return Err(ErrorKind::NoGap { lambda1, edge }.into());
            }
            // τ²γ = q_{t+1}² / Σ_{j≤t} q_j²
            let grown = ratio * ratio * gamma[t];
            gamma.push(grown / (1.0 + grown));
            keep.push(1.0 / (1.0 + grown));
            ln_sum.push(ln_sum[t] + grown.ln_1p());
            ln_top.push(ln_top[t] + ratio.ln());
            tau.push(ratio);
        }
        Ok(Self { family, lambda1, tau, ln_top, keep, gamma, ln_sum })
    }

    /// The family of the measure.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// assert_eq!(Optimal::new(Family::legendre(9)?, 1.1)?.family().degree(), 9);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// The mixing weights $\gamma_0 = 1, \gamma_1, \dots$ of the ratio form.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// assert_eq!(Optimal::new(Family::legendre(9)?, 1.1)?.weights()[0], 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 4.8.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.gamma
    }

    /// $\mathbb E f_t^{*2}$, the least mean square on the measure.
    ///
    /// # Errors
    /// `Count` if `tick` exceeds the family's degree.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// assert_eq!(Optimal::new(Family::legendre(9)?, 1.1)?.mean_square(0)?, 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 4.5.
    pub fn mean_square(&self, tick: usize) -> Result<f64> {
        check::count("tick", tick, 0, self.family.degree())?;
        Ok((-self.ln_sum[tick]).exp())
    }

    /// $f^*_0(x), \dots, f^*_n(x)$ by the ratio form; one step of the recurrence per degree.
    ///
    /// # Errors
    /// `NonFinite` if `x` is not finite.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// let f = Optimal::new(Family::legendre(9)?, 1.1)?.values(0.2)?;
    /// assert!(f[9].abs() < 0.05);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 4.8.
    pub fn values(&self, x: f64) -> Result<Vec<f64>> {
        check::finite("x", x)?;
        let mut f = vec![1.0];
        let (mut prev, mut cur) = (0.0, 1.0);
        for (t, step) in self.family.recurrence().triples().iter().enumerate() {
            // p̂_{t+1} = ((a x + b) p̂_t − (c/τ_{t−1}) p̂_{t−1}) / τ_t
            let back = if t == 0 { 0.0 } else { step.c / self.tau[t - 1] };
            (prev, cur) = (cur, ((step.a * x + step.b) * cur - back * prev) / self.tau[t]);
            let last = f[t];
            f.push(last + self.gamma[t + 1] * (cur - last));
        }
        Ok(f)
    }

    /// The coefficients of $f^*_t$ in powers of $x$, constant term first.
    ///
    /// # Errors
    /// `Count` if `tick` exceeds the family's degree.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// let c = Optimal::new(Family::legendre(3)?, 1.001)?.monomials(1)?;
    /// assert!((c[0] - 0.24962537471889062).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 4.5.
    pub fn monomials(&self, tick: usize) -> Result<Vec<f64>> {
        check::count("tick", tick, 0, self.family.degree())?;
        let recurrence = self.family.recurrence();
        let mut sum = vec![0.0; tick + 1];
        for i in 0..=tick {
            let weight = (self.ln_top[i] - self.ln_sum[tick]).exp();
            for (total, c) in sum.iter_mut().zip(recurrence.monomials(i)?) {
                *total += weight * c;
            }
        }
        Ok(sum)
    }

    /// The corrected four-term recurrence that gives $f_{n+2}$ from $f_{n+1}$, $f_n$, $f_{n-1}$.
    ///
    /// With $q_{n+1} = (\tilde a_nx+\tilde c_n)q_n - \tilde b_nq_{n-1}$ and $R_n = \sum_{j\le n}q_j^2$
    /// (all at $\lambda_1$): $a = \tilde a_{n+1}\frac{q_{n+2}R_{n+1}}{q_{n+1}R_{n+2}}$, $c = -\tilde
    /// a_{n+1}\frac{q_{n+2}R_n}{q_{n+1}R_{n+2}}$, $b$ and $d$ as erratum 4.7 with the $\tilde c$ terms,
    /// $e = \tilde b_{n+1}\frac{q_{n+2}R_{n-1}}{q_nR_{n+2}}$. For $n = 0$, $e = 0$.
    ///
    /// # Errors
    /// `Count` if $n+2$ exceeds the family's degree.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// let k = Optimal::new(Family::legendre(3)?, 1.1)?.four_term(0)?;
    /// assert_eq!(k.e, 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., equation (4term); erratum 4.7.
    pub fn four_term(&self, n: usize) -> Result<FourTerm> {
        check::count("n", n, 0, self.family.degree().saturating_sub(2))?;
        check::count("degree", self.family.degree(), 2, check::MAX_COUNT)?;
        let step = self.family.recurrence().triples()[n + 1];
        let up = self.tau[n + 1];
        let skip = up * self.tau[n];
        // R_{n+1}/R_{n+2}, R_n/R_{n+2} and R_{n−1}/R_{n+2}; 1 − γ₀ = 0 makes the last vanish at n = 0.
        let r1 = self.keep[n + 2];
        let r0 = r1 * self.keep[n + 1];
        Ok(FourTerm {
            a: step.a * up * r1,
            b: -r1 - step.b * up * r1,
            c: -step.a * up * r0,
            d: step.c * skip * r0 + step.b * up * r0,
            e: step.c * skip * r0 * self.keep[n],
        })
    }

    /// The eigenvalue the constraint is set at.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Family, Optimal};
    /// assert_eq!(Optimal::new(Family::legendre(3)?, 1.1)?.lambda1(), 1.1);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn lambda1(&self) -> f64 {
        self.lambda1
    }
}
