//! Theorem 1 in its corrected forms: both starts, both cases of $\lambda_2$, and its iteration count.

use std::f64::consts::LN_2;

use crate::{
    check,
    error::{ErrorKind, Result},
    momentum::{self, Root, Start},
};

/// The growth regime: one eigenvalue $\lambda_1$ above $\max(2\sqrt\beta, \lambda_2)$.
///
/// `lambda2` is $\max_{i\ge2}|\lambda_i|$: the matrix need not be positive, only $\lambda_1 >
/// \max(2\sqrt\beta, |\lambda_d|)$ is used. Notation: $D = \lambda_1^2-4\beta$, $\mu =
/// (\lambda_1+\sqrt D)/2$, $z = \lambda_1/(2\sqrt\beta)$, $\rho = z+\sqrt{z^2-1} = \mu/\sqrt\beta$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Start};
/// # fn main() -> favard_theory::Result<()> {
/// let growth = Growth::new(1.0, 0.9, 0.2025)?;
/// let tan2 = 99.0; // cos² of the start with u₁ is 1/100
/// let needed = growth.iterations(Start::U, tan2, 1e-10)?;
/// assert!(growth.bound(Start::U, needed, tan2)? <= 1e-10);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Theorem 1 and its general form; errata 1.1, 2.1, 2.2, 2.4, 2.7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    lambda1: f64,
    lambda2: f64,
    beta: f64,
}

impl Growth {
    /// The regime, checked.
    ///
    /// # Errors
    /// `NoGap` unless $\lambda_1 > \max(2\sqrt\beta, \lambda_2)$; `NonFinite` or `OutOfRange` if a
    /// number is not finite or negative, or $\lambda_1$ is outside $[10^{-150}, 10^{150}]$, where its
    /// square is no number.
    ///
    /// # Example
    /// ```
    /// use favard_theory::Growth;
    /// assert!(Growth::new(1.0, 1.0, 0.1).is_err()); // no gap
    /// assert!(Growth::new(1.0, -0.5, 0.1).is_err()); // pass the modulus
    /// ```
    ///
    /// # Reference
    /// Erratum 2.7.
    pub fn new(lambda1: f64, lambda2: f64, beta: f64) -> Result<Self> {
        check::within("lambda1", lambda1, 1e-150, 1e150)?;
        check::non_negative("lambda2", lambda2)?;
        check::non_negative("beta", beta)?;
        let edge = lambda2.max(2.0 * beta.sqrt());
        if lambda1 <= edge || Root::new(lambda1, beta).gap <= 0.0 {
            return Err(ErrorKind::NoGap { lambda1, edge }.into());
        }
        Ok(Self { lambda1, lambda2, beta })
    }

    /// The regime with the optimal $\beta = \lambda_2^2/4$.
    ///
    /// Optimal for the symmetric interval $[-\lambda_2, \lambda_2]$ within the one-parameter family;
    /// for a one-sided spectrum a shift gains another factor up to $\sqrt2$, see
    /// [`Shift`](crate::Shift).
    ///
    /// # Errors
    /// As [`Growth::new`].
    ///
    /// # Example
    /// ```
    /// assert!((favard_theory::Growth::optimal(1.0, 0.9)?.beta() - 0.2025).abs() < 1e-16);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., remark after Corollary convergence; erratum 2.5.
    pub fn optimal(lambda1: f64, lambda2: f64) -> Result<Self> {
        check::non_negative("lambda2", lambda2)?;
        Self::new(lambda1, lambda2, lambda2 * lambda2 / 4.0)
    }

    /// The regime of a whole spectrum, in any order and of any sign.
    ///
    /// # Errors
    /// As [`Growth::new`]; in particular `NoGap` if the most negative eigenvalue is the largest in
    /// modulus, as the recurrence then converges to its eigenvector; `Count` for fewer than two.
    ///
    /// # Example
    /// ```
    /// use favard_theory::Growth;
    /// let growth = Growth::from_spectrum(&[0.3, 1.0, -0.95], 0.2025)?;
    /// assert_eq!(growth.lambda2(), 0.95);
    /// assert!(Growth::from_spectrum(&[1.0, -1.0], 0.2).is_err()); // a rectangular dilation
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 2.7.
    pub fn from_spectrum(spectrum: &[f64], beta: f64) -> Result<Self> {
        check::count("spectrum", spectrum.len(), 2, check::MAX_COUNT)?;
        check::all_finite("eigenvalue", spectrum)?;
        let top = (0..spectrum.len()).fold(0, |m, i| if spectrum[i] > spectrum[m] { i } else { m });
        let others = spectrum.iter().enumerate().filter(|&(i, _)| i != top);
        let lambda2 = others.fold(0.0_f64, |m, (_, v)| m.max(v.abs()));
        Self::new(spectrum[top], lambda2, beta)
    }

    /// $\lambda_1$.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Growth::new(1.0, 0.5, 0.1)?.lambda1(), 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn lambda1(&self) -> f64 {
        self.lambda1
    }

    /// $\lambda_2 = \max_{i\ge2}|\lambda_i|$.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Growth::new(1.0, 0.5, 0.1)?.lambda2(), 0.5);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn lambda2(&self) -> f64 {
        self.lambda2
    }

    /// $\beta$.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Growth::new(1.0, 0.5, 0.1)?.beta(), 0.1);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// $D = \lambda_1^2-4\beta$, with one rounding.
    ///
    /// # Example
    /// ```
    /// assert!((favard_theory::Growth::new(1.0, 0.9, 0.2025)?.discriminant() - 0.19).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn discriminant(&self) -> f64 {
        self.lambda1.mul_add(self.lambda1, -4.0 * self.beta)
    }

    /// $\mu = (\lambda_1+\sqrt D)/2$, the growth of the iterates per step.
    ///
    /// # Example
    /// ```
    /// assert!((favard_theory::Growth::new(1.0, 0.9, 0.16)?.mu() - 0.8).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.root().mu
    }

    /// $\ln q$, the logarithm of the asymptotic factor per step on the tangent.
    ///
    /// $q = \rho^{-1} = 2\sqrt\beta/(\lambda_1+\sqrt D)$ for $\lambda_2\le2\sqrt\beta$, else $q =
    /// (\lambda_2+\sqrt{\lambda_2^2-4\beta})/(\lambda_1+\sqrt D)$. $-\infty$ if everything but
    /// $\lambda_1$ is zero.
    ///
    /// # Example
    /// ```
    /// // λ_d = −0.95 above 2√β = 0.9: .873 a step instead of .627.
    /// let growth = favard_theory::Growth::from_spectrum(&[1.0, 0.9, -0.95], 0.2025)?;
    /// assert!((growth.ln_rate().exp() - 0.873).abs() < 5e-4);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Theorem 1 (general form); erratum 2.7.
    #[must_use]
    pub fn ln_rate(&self) -> f64 {
        if self.is_calm() { 0.5 * self.root().ln_ratio } else { self.ln_edge() }
    }

    /// Whether $\lambda_2 \le 2\sqrt\beta$: everything but $\lambda_1$ lies in the calm interval.
    ///
    /// # Example
    /// ```
    /// use favard_theory::Growth;
    /// assert!(Growth::optimal(1.0, 0.9)?.is_calm() && !Growth::new(1.0, 0.9, 0.1)?.is_calm());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn is_calm(&self) -> bool {
        self.lambda2 * self.lambda2 <= 4.0 * self.beta || self.lambda2 <= 2.0 * self.beta.sqrt()
    }

    /// $\ln\sup p_t(x)^2/p_t(\lambda_1)^2$ over $|x| \le \max(\lambda_2, 2\sqrt\beta)$, exactly.
    ///
    /// Calm: $1/T_t(z)^2$ and $((t+1)/U_t(z))^2$. Otherwise the ratio at $\lambda_2$. No polynomial
    /// estimate is involved, so no bound of this form is smaller.
    ///
    /// # Errors
    /// `Count` if `tick` exceeds $2^{52}$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, Start};
    /// let ln = Growth::optimal(1.0, 0.9)?.ln_envelope(Start::U, 10)?;
    /// assert!((ln.exp() - 0.003907).abs() < 1e-6);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Errata 1.1, 2.1.
    pub fn ln_envelope(&self, start: Start, tick: usize) -> Result<f64> {
        check::count("tick", tick, 0, check::MAX_COUNT)?;
        if tick == 0 {
            return Ok(0.0);
        }
        let edge = if self.is_calm() {
            // The double root: p_t(2√β) = β^{t/2} or (t+1) β^{t/2}.
            let height = if start == Start::U { ((tick + 1) as f64).ln() } else { 0.0 };
            height + tick as f64 * 0.5 * self.root().ln_ratio
        } else {
            let root = Root::new(self.lambda2, self.beta);
            tick as f64 * self.ln_edge() + root.ln_normalized(start, tick)
        };
        Ok(2.0 * (edge - self.root().ln_normalized(start, tick)))
    }

    /// $\ln$ of the factor of $\tan^2\theta_0$ in the corrected theorem.
    ///
    /// | start | $\lambda_2\le2\sqrt\beta$ | $\lambda_2>2\sqrt\beta$ |
    /// |---|---|---|
    /// | T | $4q^{2t}$ | $4q^{2t}$ |
    /// | U | $\left[\frac{(t+1)(1-\rho^{-2})}{1-\rho^{-2(t+1)}}\right]^2q^{2t}$ | $\min\left\{\left[\frac{1-\rho_1^{-2}}{1-\rho_2^{-2}}\right]^2,(t+1)^2\right\}q^{2t}$ |
    ///
    /// # Errors
    /// As [`Growth::ln_envelope`].
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, Start};
    /// let growth = Growth::optimal(1.0, 0.9)?;
    /// assert!(growth.ln_factor(Start::T, 7)? >= growth.ln_envelope(Start::T, 7)?);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Theorem 1; errata 1.1 (U start), 2.1 (factor 4 in both cases).
    pub fn ln_factor(&self, start: Start, tick: usize) -> Result<f64> {
        let geometric = if tick == 0 { 0.0 } else { 2.0 * tick as f64 * self.ln_rate() };
        match start {
            Start::T => {
                check::count("tick", tick, 0, check::MAX_COUNT)?;
                Ok(2.0 * LN_2 + geometric)
            }
            Start::U if self.is_calm() => self.ln_envelope(start, tick),
            Start::U => {
                check::count("tick", tick, 0, check::MAX_COUNT)?;
                let ratio = self.root().gap.ln() - Root::new(self.lambda2, self.beta).gap.ln();
                Ok(2.0 * ratio.min(((tick + 1) as f64).ln()) + geometric)
            }
        }
    }

    /// The corrected Theorem 1: $\sin^2\angle(u_1, w_t) \le \tan^2\theta_0 \cdot$ factor.
    ///
    /// `tan2` is $(1-c^2)/c^2$ with $c = u_1^Tw_0/\|w_0\|$; [`tan2`] computes it.
    ///
    /// # Errors
    /// `OutOfRange` if `tan2` is negative; `Count` for `tick`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, Start};
    /// let growth = Growth::optimal(1.0, 0.9)?;
    /// assert!((growth.bound(Start::T, 1, 9.0)? - 14.14312050186068).abs() < 1e-12);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Theorem 1; errata 1.1, 2.1, 2.2.
    pub fn bound(&self, start: Start, tick: usize, tan2: f64) -> Result<f64> {
        check::non_negative("tan2", tan2)?;
        Ok(tan2 * self.ln_factor(start, tick)?.exp())
    }

    /// The fewest iterations after which the exact envelope guarantees $\sin^2 \le \epsilon$.
    ///
    /// The smallest $t$ with $\tan^2\theta_0 \cdot \sup p_t^2/p_t(\lambda_1)^2 \le \epsilon$, by
    /// bisection; at most 104 evaluations. No start with this angle and no spectrum in the interval
    /// needs more, and some need exactly this many up to the difference of $\sin^2$ and $\tan^2$.
    ///
    /// # Errors
    /// `OutOfRange` if `epsilon` is not in $(0, 1)$ or `tan2` is negative; `Exhausted` if $2^{52}$
    /// iterations do not suffice.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, Start};
    /// let growth = Growth::optimal(1.0, 0.9)?;
    /// assert_eq!(growth.iterations(Start::T, 1.0, 1e-10)?, 27);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary convergence; erratum 2.4.
    pub fn iterations(&self, start: Start, tan2: f64, epsilon: f64) -> Result<usize> {
        check::non_negative("tan2", tan2)?;
        check::fraction("epsilon", epsilon)?;
        let wanted = epsilon.ln() - tan2.ln();
        check::first_count("iterations", 0, check::MAX_COUNT, |tick| {
            Ok(self.ln_envelope(start, tick)? <= wanted)
        })
    }

    /// The closed form of the T start: $\lceil\ln(4\tan^2\theta_0/\epsilon)/(-2\ln q)\rceil$.
    ///
    /// For $\lambda_2\le2\sqrt\beta$, $-\ln q = \operatorname{arccosh} z$, and the count is at most
    /// $\lceil(\frac12+\sqrt\beta/\sqrt D)\ln(4\tan^2\theta_0/\epsilon)\rceil$.
    ///
    /// # Errors
    /// As [`Growth::iterations`].
    ///
    /// # Example
    /// ```
    /// let growth = favard_theory::Growth::optimal(1.0, 0.9)?;
    /// assert_eq!(growth.iterations_closed_form(1.0, 1e-10)?, 27);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 2.4.
    pub fn iterations_closed_form(&self, tan2: f64, epsilon: f64) -> Result<usize> {
        check::non_negative("tan2", tan2)?;
        check::fraction("epsilon", epsilon)?;
        let decades = (2.0 * LN_2 + tan2.ln() - epsilon.ln()).max(0.0);
        if decades == 0.0 || self.ln_rate() == f64::NEG_INFINITY {
            return Ok(usize::from(decades > 0.0));
        }
        check::ceil_count("iterations", decades / (-2.0 * self.ln_rate()))
    }

    /// $\frac12+\sqrt\beta/\sqrt D$, the uniform factor of the logarithm in the iteration count.
    ///
    /// It bounds $1/(2\operatorname{arccosh} z)$ from above for every $\beta$; the printed
    /// $\sqrt\beta/\sqrt D$ tends to zero with $\beta$.
    ///
    /// # Example
    /// ```
    /// let growth = favard_theory::Growth::optimal(1.0, 0.01)?;
    /// assert!(growth.complexity() > 0.5);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary convergence; erratum 2.4.
    #[must_use]
    pub fn complexity(&self) -> f64 {
        0.5 + (self.beta / self.discriminant()).sqrt()
    }

    /// $\ln(\mu_2 / \mu_1)$ outside of the calm interval, with all digits when the two are close.
    fn ln_edge(&self) -> f64 {
        let (top, edge) = (self.root(), Root::new(self.lambda2, self.beta));
        // μ₁ − μ₂ = (λ₁ − λ₂ + √D₁ − √D₂)/2 with D₁ − D₂ = (λ₁ − λ₂)(λ₁ + λ₂)
        let roots = top.gap * top.mu + edge.gap * edge.mu;
        let stretch = 1.0 + (self.lambda1 + self.lambda2) / roots;
        let share = 0.5 * (self.lambda1 - self.lambda2) * stretch / top.mu;
        if share < 0.5 { (-share).ln_1p() } else { edge.ln_mu - top.ln_mu }
    }

    pub(crate) fn root(&self) -> Root {
        Root::new(self.lambda1, self.beta)
    }
}

/// $\tan^2\theta_0 = (1-c^2)/c^2$ from $c^2 = (u_1^Tw_0)^2/\|w_0\|^2$.
///
/// # Errors
/// `OutOfRange` unless $0 < c^2 \le 1$.
///
/// # Example
/// ```
/// assert_eq!(favard_theory::tan2(0.5)?, 1.0);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Erratum 2.2.
pub fn tan2(cos2: f64) -> Result<f64> {
    check::within("cos2", cos2, f64::MIN_POSITIVE, 1.0)?;
    Ok((1.0 - cos2) / cos2)
}

/// The exact $\sin^2\angle(u_1, w_t)$ of a run on a known spectrum.
///
/// `spectrum[0]` is $\lambda_1$; `squares[i]` is $(u_i^Tw_0)^2$ in any common scale:
/// $$\sin^2 = \frac{\sum_{i\ge2}p_t(\lambda_i)^2d_i^2}{\sum_ip_t(\lambda_i)^2d_i^2}.$$
/// Evaluated from logarithms, so that errors far below $\epsilon$ keep their digits.
///
/// # Errors
/// `Shape`, `Count` or `NonFinite` for the lists; `Orthogonal` if the start has no part along $u_1$ or
/// $p_t(\lambda_1) = 0$.
///
/// # Example
/// ```
/// use favard_theory::{Start, sin2};
/// assert_eq!(sin2(Start::U, 1, &[1.0, 0.5], &[1.0, 1.0], 0.0)?, 0.2);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., proof of Theorem 1; erratum 2.3.
pub fn sin2(
    start: Start,
    tick: usize,
    spectrum: &[f64],
    squares: &[f64],
    beta: f64,
) -> Result<f64> {
    check::count("spectrum", spectrum.len(), 1, check::MAX_COUNT)?;
    check::size("squares", squares.len(), spectrum.len())?;
    for &square in squares {
        check::non_negative("square", square)?;
    }
    let top = momentum::ln_value(start, tick, spectrum[0], beta)?;
    if squares[0] == 0.0 || top.sign == 0 {
        return Err(ErrorKind::Orthogonal { cosine: 0.0 }.into());
    }
    let mut tan2 = 0.0;
    for (&eigenvalue, &square) in spectrum.iter().zip(squares).skip(1) {
        let value = momentum::ln_value(start, tick, eigenvalue, beta)?;
        if value.sign != 0 {
            tan2 += square / squares[0] * (2.0 * (value.ln_abs - top.ln_abs)).exp();
        }
    }
    Ok(if tan2.is_finite() { tan2 / (1.0 + tan2) } else { 1.0 })
}
