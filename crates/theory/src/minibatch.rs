//! Theorem nonsvrg, corrected: how long to run and how little noise, for a single mini-batch run.

use crate::{
    check,
    deterministic::Growth,
    error::{ErrorKind, Result},
    momentum::Start,
};

/// What Theorem nonsvrg demands, in its corrected form.
///
/// A start with $\|w_0\|=1$, $|u_1^Tw_0|\ge\frac12$, $2\sqrt\beta\in[\lambda_2,\lambda_1)$, run for
/// exactly [`iterations`](Self::iterations) steps with noise below one of the two thresholds, ends
/// with $1-(u_1^Tw_T)^2\le\epsilon$ with probability at least $1-2\delta$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, MiniBatch};
/// # fn main() -> favard_theory::Result<()> {
/// let demand = MiniBatch::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1e-3)?;
/// assert_eq!(demand.iterations(), 22);
/// let batch = demand.batch(90.0)?; // s_op of one sample is at most σ² = 90
/// assert!(batch > 6.6e10 as usize);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Theorem nonsvrg and Corollary nonsvrg; erratum 3.8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiniBatch {
    iterations: usize,
    closed_form: usize,
    budget: f64,
}

impl MiniBatch {
    /// The demands for failure probability $2\delta$ and error $\epsilon$.
    ///
    /// $T=\min\{t:(U_t(z)/(t+1))^2\ge32/(\delta\epsilon)\}$.
    ///
    /// # Errors
    /// `NoGap` if $\lambda_2>2\sqrt\beta$ (the theorem covers only the calm case); `OutOfRange` unless
    /// `delta` and `epsilon` lie in $(0,1)$; `Exhausted` if $T$ exceeds $2^{52}$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// assert!(MiniBatch::new(&Growth::new(1.0, 0.9, 0.1)?, 0.1, 0.1).is_err()); // λ₂ not calm
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.8.
    pub fn new(growth: &Growth, delta: f64, epsilon: f64) -> Result<Self> {
        check::fraction("delta", delta)?;
        check::fraction("epsilon", epsilon)?;
        let wanted = 32.0_f64.ln() - delta.ln() - epsilon.ln();
        let (iterations, closed_form) = epoch_length(growth, wanted)?;
        let budget = growth.discriminant() * delta * epsilon / iterations as f64;
        Ok(Self { iterations, closed_form, budget })
    }

    /// $T$, the number of steps, an integer.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// assert_eq!(MiniBatch::new(&Growth::optimal(1.0, 0.5)?, 0.1, 1e-3)?.iterations(), 7);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.8.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// $\lceil(L/2+\ln(1+2L))/\operatorname{arccosh}z\rceil$ with $L=\ln(32/(\delta\epsilon))$, an upper
    /// bound for $T$ valid for $L\ge4.7$.
    ///
    /// For smaller $L$ the formula is taken at 4.7; for $\beta=0$ the exact count is returned.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// assert_eq!(MiniBatch::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1e-3)?.closed_form(), 24);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.8.
    #[must_use]
    pub fn closed_form(&self) -> usize {
        self.closed_form
    }

    /// The largest $\|\Sigma\|$ with the paper's constants: $D\delta\epsilon/(256\sqrt d\,T)$.
    ///
    /// # Errors
    /// `Count` if `dim` is zero.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// let demand = MiniBatch::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1e-3)?;
    /// assert!(demand.sigma_max_paper(10)? * 4.0 <= demand.sigma_max(10)?);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Theorem nonsvrg; erratum 3.8.
    pub fn sigma_max_paper(&self, dim: usize) -> Result<f64> {
        check::count("dim", dim, 1, check::MAX_COUNT)?;
        Ok(self.budget / (256.0 * (dim as f64).sqrt()))
    }

    /// The largest $\|\Sigma\|$ with the sharp constant: $D\delta\epsilon/(64\sqrt d\,T)$.
    ///
    /// # Errors
    /// `Count` if `dim` is zero.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// let demand = MiniBatch::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1e-3)?;
    /// assert!(demand.sigma_max(10)? < demand.s_op_max());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Errata 3.5, 3.8.
    pub fn sigma_max(&self, dim: usize) -> Result<f64> {
        check::count("dim", dim, 1, check::MAX_COUNT)?;
        Ok(self.budget / (64.0 * (dim as f64).sqrt()))
    }

    /// The largest $s_{op}=\|\mathbb EN^TN\|$: $D\delta\epsilon/(64T)$, free of the dimension.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// let demand = MiniBatch::new(&Growth::optimal(1.0, 0.9)?, 0.01, 1e-3)?;
    /// assert!((demand.s_op_max() - 1.3494318181818181e-9).abs() < 1e-21);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Errata 3.7, 3.8.
    #[must_use]
    pub fn s_op_max(&self) -> f64 {
        self.budget / 64.0
    }

    /// The batch that brings a per-sample $s_{op}$ (or its bound $\sigma^2$) below the threshold.
    ///
    /// # Errors
    /// `OutOfRange` if `s_op` is negative or the batch exceeds $2^{52}$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Growth, MiniBatch};
    /// let demand = MiniBatch::new(&Growth::optimal(1.0, 0.5)?, 0.1, 1e-3)?;
    /// assert_eq!(demand.batch(0.2)?, 1_194_667);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary nonsvrg; errata 3.1, 3.8.
    pub fn batch(&self, s_op: f64) -> Result<usize> {
        check::non_negative("s_op", s_op)?;
        Ok(check::ceil_count("batch", s_op / self.s_op_max())?.max(1))
    }
}

/// $\min\{t:(U_t(z)/(t+1))^2\ge e^{L}\}$ and its closed form.
pub(crate) fn epoch_length(growth: &Growth, wanted: f64) -> Result<(usize, usize)> {
    if !growth.is_calm() {
        let edge = growth.lambda2();
        return Err(ErrorKind::NoGap { lambda1: 2.0 * growth.beta().sqrt(), edge }.into());
    }
    let exact = check::first_count("epoch length", 1, check::MAX_COUNT, |tick| {
        Ok(growth.ln_envelope(Start::U, tick)? <= -wanted)
    })?;
    let arccosh = -growth.ln_rate();
    let closed = if arccosh.is_finite() {
        let l = wanted.max(4.7);
        check::ceil_count("epoch length", (l / 2.0 + (2.0 * l).ln_1p()) / arccosh)?
    } else {
        exact
    };
    Ok((exact, closed.max(exact)))
}
