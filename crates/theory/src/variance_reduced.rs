//! Lemma svrgvar, Lemma svrgepoch and Theorem svrg in their corrected forms.

use crate::{
    check, covariance::Covariance, deterministic::Growth, error::Result, minibatch::epoch_length,
};

/// The factor by which the anchor shrinks the covariance of $F_tw_0$: $4\theta(1-\theta)$, at most 1.
///
/// $\theta=1-(u_1^Tw_0)^2$ with $w_0$ the anchor. For $\theta>\frac12$ the factor is 1: the projected
/// noise is never stronger than the noise.
///
/// # Errors
/// `OutOfRange` unless $0\le\theta\le1$.
///
/// # Example
/// ```
/// assert!((favard_theory::anchor_factor(0.2)? - 0.64).abs() < 1e-15);
/// assert_eq!(favard_theory::anchor_factor(0.7)?, 1.0);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgvar; erratum 3.9.
pub fn anchor_factor(theta: f64) -> Result<f64> {
    check::within("theta", theta, 0.0, 1.0)?;
    Ok(if theta <= 0.5 { 4.0 * theta * (1.0 - theta) } else { 1.0 })
}

/// Lemma svrgvar: the bound on $\|\mathrm{Cov}(F_tw_0)\|$ inside one epoch.
///
/// $4\theta(1-\theta)$ times the sum of Lemma covbound. Needs $w_0$ to be the anchor and $w_{-1}=0$ at
/// the start of the epoch. $O(t)$.
///
/// # Errors
/// As [`anchor_factor`] and [`Covariance::lemma_sum`].
///
/// # Example
/// ```
/// use favard_theory::{Covariance, epoch_covariance};
/// let noise = Covariance::new(1.0, 0.16, 0.04)?;
/// assert!((epoch_covariance(&noise, 0.2, 1)? - 0.0256).abs() < 1e-16);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgvar; erratum 3.9.
pub fn epoch_covariance(noise: &Covariance, theta: f64, tick: usize) -> Result<f64> {
    Ok(anchor_factor(theta)? * noise.lemma_sum(tick)?)
}

/// What Theorem svrg demands of each epoch, in its corrected form.
///
/// With the anchor at $\theta\le\frac12$, an epoch of $T$ steps with noise below the threshold
/// multiplies $\theta$ by at most $q=4c/(1-\sqrt c)^2$, with probability at least $1-2\delta$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, VarianceReduced};
/// # fn main() -> favard_theory::Result<()> {
/// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1.0 / 16.0)?;
/// assert_eq!(epoch.iterations(), 13);
/// assert!((epoch.contraction() - 4.0 / 9.0).abs() < 1e-15);
/// assert_eq!(epoch.epochs(0.5, 1e-3)?, 8);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgepoch and Theorem svrg; errata 3.10, 3.11.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceReduced {
    iterations: usize,
    closed_form: usize,
    budget: f64,
    delta: f64,
    c: f64,
}

impl VarianceReduced {
    /// The demands for failure probability $2\delta$ an epoch and the constant $c$.
    ///
    /// $T=\min\{t:(U_t(z)/(t+1))^2\ge1/(c\delta)\}$.
    ///
    /// # Errors
    /// `OutOfRange` unless `delta` is in $(0,1)$ and `c` in $(0,\frac19)$, beyond which $q\ge1$; as
    /// [`MiniBatch::new`](crate::MiniBatch::new) otherwise.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// assert!(VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 0.2).is_err());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.10.
    pub fn new(growth: &Growth, delta: f64, c: f64) -> Result<Self> {
        check::fraction("delta", delta)?;
        check::within("c", c, f64::MIN_POSITIVE, (1.0 - f64::EPSILON) / 9.0)?;
        let (iterations, closed_form) = epoch_length(growth, -delta.ln() - c.ln())?;
        let budget = growth.discriminant() * delta * c / iterations as f64;
        Ok(Self { iterations, closed_form, budget, delta, c })
    }

    /// $T$, the steps of an epoch.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// assert_eq!(VarianceReduced::new(&Growth::optimal(1.0, 0.5)?, 0.1, 0.02)?.iterations(), 4);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Errata 3.8, 3.10.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// The closed form $\lceil(L/2+\ln(1+2L))/\operatorname{arccosh}z\rceil$, $L=\ln(1/(c\delta))$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.5)?, 0.1, 0.02)?;
    /// assert!(epoch.closed_form() >= epoch.iterations());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.8.
    #[must_use]
    pub fn closed_form(&self) -> usize {
        self.closed_form
    }

    /// The largest $\|\Sigma\|$ with the paper's constants: $D\delta c/(32\sqrt d\,T)$.
    ///
    /// # Errors
    /// `Count` if `dim` is zero.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625)?;
    /// assert!((epoch.sigma_max_paper(10)? - 9.02693442656238e-8).abs() < 1e-20);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Lemma svrgepoch; erratum 3.10 (a).
    pub fn sigma_max_paper(&self, dim: usize) -> Result<f64> {
        check::count("dim", dim, 1, check::MAX_COUNT)?;
        Ok(self.budget / (32.0 * (dim as f64).sqrt()))
    }

    /// The largest $s_{op}=\|\mathbb EN^TN\|$: $D\delta c/(8T)$, free of the dimension.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625)?;
    /// assert!(epoch.s_op_max() > 4.0 * epoch.sigma_max_paper(10)?);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Errata 3.5, 3.7, 3.10.
    #[must_use]
    pub fn s_op_max(&self) -> f64 {
        self.budget / 8.0
    }

    /// The batch that brings a per-sample $s_{op}$ (or its bound $\sigma^2$) below the threshold; it does
    /// not depend on $\epsilon$.
    ///
    /// # Errors
    /// `OutOfRange` if `s_op` is negative or the batch exceeds $2^{52}$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625)?;
    /// assert_eq!(epoch.batch(90.0)?, 78_821_053);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Theorem svrg; erratum 3.11 (scales like $D^{-3/2}$ through $T$).
    pub fn batch(&self, s_op: f64) -> Result<usize> {
        check::non_negative("s_op", s_op)?;
        Ok(check::ceil_count("batch", s_op / self.s_op_max())?.max(1))
    }

    /// $q=4c/(1-\sqrt c)^2$, the factor on $\theta$ an epoch; $\frac49$ at $c=\frac1{16}$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1.0 / 49.0)?;
    /// assert!((epoch.contraction() - 1.0 / 9.0).abs() < 1e-15); // the printed 1/9 needs c ≤ 1/49
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.10 (d).
    #[must_use]
    pub fn contraction(&self) -> f64 {
        let root = 1.0 - self.c.sqrt();
        4.0 * self.c / (root * root)
    }

    /// $K=\lceil\ln(\theta_0/\epsilon)/\ln(1/q)\rceil$ epochs from $\theta_0\le\frac12$ to $\epsilon$.
    ///
    /// # Errors
    /// `OutOfRange` unless $0<\theta_0\le\frac12$ and `epsilon` is in $(0,1)$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.99)?, 0.1, 0.02)?;
    /// assert_eq!(epoch.epochs(0.5, 1e-4)?, 4);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.11.
    pub fn epochs(&self, theta0: f64, epsilon: f64) -> Result<usize> {
        check::within("theta0", theta0, f64::MIN_POSITIVE, 0.5)?;
        check::fraction("epsilon", epsilon)?;
        let decades = (theta0.ln() - epsilon.ln()).max(0.0);
        check::ceil_count("epochs", decades / -self.contraction().ln())
    }

    /// $1-2K\delta$, the probability that all of `epochs` epochs succeed; negative means no guarantee.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, VarianceReduced};
    /// let epoch = VarianceReduced::new(&Growth::optimal(1.0, 0.9)?, 0.01, 0.0625)?;
    /// assert!((epoch.success(8) - 0.84).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.11.
    #[must_use]
    pub fn success(&self, epochs: usize) -> f64 {
        1.0 - 2.0 * epochs as f64 * self.delta
    }
}
