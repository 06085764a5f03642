//! The covariance of $F_t$: Lemma covbound's sum exactly and fast, and its corollaries, sharp and printed.

use crate::{
    check,
    error::{ErrorKind, Result},
    momentum::{Root, Start, ln_poly},
};

/// The variance bounds of one scalar problem: $\lambda_1$, $\beta$ and a noise strength $s$.
///
/// With $s = \|\Sigma\|$ the sum bounds $\|\mathbb E[F_t\otimes F_t]-\mathbb EF_t\otimes\mathbb
/// EF_t\|$; with $s = \|\mathbb E N^TN\|$ it bounds the total variance $\mathbb
/// E\|F_tw_0\|^2-\|\mathbb EF_tw_0\|^2$ of a unit vector, without any $\sqrt d$. The matrix need not be
/// positive: `lambda1` is its spectral radius. If $\lambda_1<2\sqrt\beta$ the lemma holds with
/// $2\sqrt\beta$ in its place, which is what is used then.
///
/// # Example
/// ```
/// use favard_theory::Covariance;
/// # fn main() -> favard_theory::Result<()> {
/// let bound = Covariance::new(1.0, 0.2025, 0.04)?;
/// assert!((bound.lemma_sum(5)? - 0.0695010715046875).abs() < 1e-16);
/// assert!(bound.lemma_sum(5)? <= bound.sharp_binomial(5)?);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma covbound and Corollary covbound; errata 3.2–3.7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Covariance {
    lambda: f64,
    beta: f64,
    noise: f64,
}

impl Covariance {
    /// The bounds for spectral radius `lambda1`, momentum `beta` and noise strength `noise`.
    ///
    /// # Errors
    /// `OutOfRange` or `NonFinite` if a number is negative or not finite.
    ///
    /// # Example
    /// ```
    /// assert!(favard_theory::Covariance::new(1.0, 0.2, -1e-3).is_err());
    /// ```
    ///
    /// # Reference
    /// Erratum 3.2.
    pub fn new(lambda1: f64, beta: f64, noise: f64) -> Result<Self> {
        check::squarable("lambda1", lambda1)?;
        check::squarable("beta", beta)?;
        check::non_negative("noise", noise)?;
        Ok(Self { lambda: lambda1.max(2.0 * beta.sqrt()), beta, noise })
    }

    /// The lemma's sum at $0, 1, \dots, t$, in $O(t)$ and without cancellation.
    ///
    /// $V_{t+1} = (\lambda^2+s)V_t-2\beta\lambda K_t+\beta^2V_{t-1}+s\,p_t^2$, $K_{t+1} = \lambda
    /// V_t-\beta K_t$, all zero at the start.
    ///
    /// # Errors
    /// `NonFinite` when the sum leaves the range of `f64`; use [`Covariance::relative`] there.
    ///
    /// # Example
    /// ```
    /// let sums = favard_theory::Covariance::new(1.0, 0.0, 0.04)?.lemma_sums(2)?;
    /// assert!((sums[2] - 0.0816).abs() < 1e-16); // 1.04² − 1
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Lemma covbound; erratum 3.3.
    pub fn lemma_sums(&self, ticks: usize) -> Result<Vec<f64>> {
        let mut state = Scalar::new(self.lambda, self.beta, self.noise);
        let mut sums = vec![0.0];
        for _ in 0..ticks {
            state.advance();
            sums.push(check::finite("lemma sum", state.variance)?);
        }
        Ok(sums)
    }

    /// The lemma's sum at `tick`: the exact variance of the scalar recurrence. $O(t)$.
    ///
    /// # Errors
    /// As [`Covariance::lemma_sums`].
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Covariance::new(1.0, 0.1, 0.5)?.lemma_sum(1)?, 0.5);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Lemma covbound; erratum 3.3.
    pub fn lemma_sum(&self, tick: usize) -> Result<f64> {
        let mut state = Scalar::new(self.lambda, self.beta, self.noise);
        for _ in 0..tick {
            state.advance();
        }
        check::finite("lemma sum", state.variance)
    }

    /// The lemma's sum by the $O(t^2)$ dynamic programme over the compositions of $t$.
    ///
    /// $h_m = p_m^2+s\sum_{k<m}p_k^2h_{m-1-k}$, answer $h_t-p_t^2$. The oracle of
    /// [`Covariance::lemma_sum`]: it adds the terms of the printed sum, nothing else. The last
    /// subtraction is not carried out; the terms with noise are summed instead.
    ///
    /// # Errors
    /// As [`Covariance::lemma_sums`]; `Count` if `tick` exceeds $2^{16}$.
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!((bound.lemma_sum_quadratic(9)? - bound.lemma_sum(9)?).abs() < 1e-16);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Lemma covbound; erratum 3.3.
    pub fn lemma_sum_quadratic(&self, tick: usize) -> Result<f64> {
        check::count("tick", tick, 0, 1 << 16)?;
        let p = crate::momentum::sequence(Start::U, tick, self.lambda, self.beta)?;
        let squares: Vec<f64> = p.iter().map(|v| v * v).collect();
        let mut h: Vec<f64> = Vec::with_capacity(tick + 1);
        let mut noisy = 0.0;
        for m in 0..=tick {
            noisy = self.noise * (0..m).map(|k| squares[k] * h[m - 1 - k]).sum::<f64>();
            h.push(squares[m] + noisy);
        }
        check::finite("lemma sum", noisy)
    }

    /// The lemma's sum divided by $p_t(\lambda_1)^2$; neither overflows nor underflows on the way.
    ///
    /// Grows like $\exp(st/D)$. $O(t)$.
    ///
    /// # Errors
    /// `NonFinite` when the ratio itself leaves the range of `f64`.
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 1e-6)?;
    /// let relative = bound.relative(100_000)?; // p_t is about 10^-14400 here
    /// assert!((relative.ln_1p() - 1e5 * 1e-6 / 0.19).abs() < 1e-2);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.3, facts about the breakdown variance.
    pub fn relative(&self, tick: usize) -> Result<f64> {
        check::count("tick", tick, 0, check::MAX_COUNT)?;
        if self.lambda == 0.0 {
            return if tick == 0 { Ok(0.0) } else { Err(self.no_gap()) };
        }
        let mut state = Scalar::normalized(self.lambda, self.beta, self.noise);
        for _ in 0..tick {
            state.advance();
        }
        check::finite("relative variance", state.variance / (state.value * state.value))
    }

    /// The first tick at which the relative variance reaches 1, or `None` up to `limit`.
    ///
    /// There the mean stops dominating. For small noise it is $D\ln2/s$. $O(\text{limit})$.
    ///
    /// # Errors
    /// `NoGap` if $\lambda_1 = \beta = 0$.
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.1, 1e-2)?;
    /// assert_eq!(bound.breaking_time(1000)?, Some(43));
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.5 and the breakdown table of the golden values.
    pub fn breaking_time(&self, limit: usize) -> Result<Option<usize>> {
        if self.lambda == 0.0 {
            return Err(self.no_gap());
        }
        let mut state = Scalar::normalized(self.lambda, self.beta, self.noise);
        for tick in 1..=limit {
            state.advance();
            if state.variance >= state.value * state.value {
                return Ok(Some(tick));
            }
        }
        Ok(None)
    }

    /// The noise strength at which the relative variance at `tick` reaches 1.
    ///
    /// The noise of `self` plays no part. Bisection below $(p_t/p_{t-1})^2$, at which the first error
    /// alone suffices; at most 200 evaluations of $O(t)$.
    ///
    /// # Errors
    /// `Count` if `tick` is zero; `NoGap` if $\lambda_1=\beta=0$.
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.0)?;
    /// let breaking = bound.breaking_variance(1321)?; // st/D ≈ ln 2
    /// assert!((breaking * 1321.0 / 0.19 - std::f64::consts::LN_2).abs() < 0.01);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.5.
    pub fn breaking_variance(&self, tick: usize) -> Result<f64> {
        check::count("tick", tick, 1, check::MAX_COUNT)?;
        if self.lambda == 0.0 {
            return Err(self.no_gap());
        }
        let unit = Root::new(self.lambda, self.beta);
        let growth = unit.ln_normalized(Start::U, tick) - unit.ln_normalized(Start::U, tick - 1);
        // V ≥ s Σ_k p_k² p_{t−1−k}² ≥ s p_{t−1}², the term of an error in the first step.
        let mut high = (unit.mu * growth.exp()) * (unit.mu * growth.exp());
        let mut low = 0.0;
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            let at = Self { noise: middle, ..*self };
            if at.breaking_within(tick) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high)
    }

    /// Whether the relative variance at `tick` is 1 or more (an overflow counts as more).
    fn breaking_within(&self, tick: usize) -> bool {
        let mut state = Scalar::normalized(self.lambda, self.beta, self.noise);
        for _ in 0..tick {
            state.advance();
            if !state.variance.is_finite() {
                return true;
            }
        }
        state.variance >= state.value * state.value
    }

    /// $p_t^2\left[(1+s/D)^t-1\right]$, the sharp form of the corollary.
    ///
    /// # Errors
    /// `NoGap` unless $\lambda_1^2>4\beta$; `NonFinite` on overflow.
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!((bound.sharp_binomial(1)? - 0.04 / 0.19).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary covbound; errata 3.4, 3.5.
    pub fn sharp_binomial(&self, tick: usize) -> Result<f64> {
        self.binomial(tick, 1.0)
    }

    /// $p_t^2\left[\exp(st/D)-1\right]$; the rate $s/D$ is asymptotically exact.
    ///
    /// # Errors
    /// As [`Covariance::sharp_binomial`].
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!(bound.sharp_exponential(7)? >= bound.sharp_binomial(7)?);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary covbound; erratum 3.5.
    pub fn sharp_exponential(&self, tick: usize) -> Result<f64> {
        self.exponential(tick, 1.0)
    }

    /// $p_t^2\cdot2st/D$ when $st\le D$, else `None`.
    ///
    /// # Errors
    /// As [`Covariance::sharp_binomial`].
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!(bound.sharp_linear(4)?.is_some() && bound.sharp_linear(5)?.is_none());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary covbound; errata 3.5, 3.6 (the condition).
    pub fn sharp_linear(&self, tick: usize) -> Result<Option<f64>> {
        self.linear(tick, 1.0)
    }

    /// $p_t^2\left[(1+4s/D)^t-1\right]$, the corollary with the paper's constant; true, four times loose.
    ///
    /// # Errors
    /// As [`Covariance::sharp_binomial`].
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!(bound.paper_binomial(3)? > bound.sharp_binomial(3)?);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., proof of Corollary covbound.
    pub fn paper_binomial(&self, tick: usize) -> Result<f64> {
        self.binomial(tick, 4.0)
    }

    /// $p_t^2\left[\exp(4st/D)-1\right]$, Corollary covbound as stated; true, loose in the exponent.
    ///
    /// # Errors
    /// As [`Covariance::sharp_binomial`].
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!(bound.paper_exponential(3)? > bound.sharp_exponential(3)?);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary covbound.
    pub fn paper_exponential(&self, tick: usize) -> Result<f64> {
        self.exponential(tick, 4.0)
    }

    /// $p_t^2\cdot8st/D$ when $4st\le D$, else `None`.
    ///
    /// # Errors
    /// As [`Covariance::sharp_binomial`].
    ///
    /// # Example
    /// ```
    /// let bound = favard_theory::Covariance::new(1.0, 0.2025, 0.04)?;
    /// assert!(bound.paper_linear(1)?.is_some() && bound.paper_linear(2)?.is_none());
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollaries covbound, veccov, numcov; erratum 3.6 (the condition).
    pub fn paper_linear(&self, tick: usize) -> Result<Option<f64>> {
        self.linear(tick, 4.0)
    }

    fn binomial(&self, tick: usize, constant: f64) -> Result<f64> {
        let (rate, square) = self.rate(tick, constant)?;
        check::finite("bound", square * (tick as f64 * rate.ln_1p()).exp_m1())
    }

    fn exponential(&self, tick: usize, constant: f64) -> Result<f64> {
        let (rate, square) = self.rate(tick, constant)?;
        check::finite("bound", square * (tick as f64 * rate).exp_m1())
    }

    fn linear(&self, tick: usize, constant: f64) -> Result<Option<f64>> {
        let (rate, square) = self.rate(tick, constant)?;
        let exponent = rate * tick as f64;
        Ok((exponent <= 1.0).then_some(2.0 * square * exponent))
    }

    /// $(\text{constant}\cdot s/D,\ p_t^2)$.
    fn rate(&self, tick: usize, constant: f64) -> Result<(f64, f64)> {
        check::count("tick", tick, 0, check::MAX_COUNT)?;
        let discriminant = self.lambda.mul_add(self.lambda, -4.0 * self.beta);
        if discriminant <= 0.0 {
            return Err(self.no_gap());
        }
        let square = (2.0 * ln_poly(Start::U, tick, self.lambda, self.beta).ln_abs).exp();
        Ok((constant * self.noise / discriminant, square))
    }

    fn no_gap(&self) -> crate::Error {
        ErrorKind::NoGap { lambda1: self.lambda, edge: 2.0 * self.beta.sqrt() }.into()
    }
}

/// The scalar recurrence $f_{t+1} = (\lambda+n_t)f_t-\beta f_{t-1}$: its mean and its variance.
struct Scalar {
    lambda: f64,
    beta: f64,
    noise: f64,
    /// $p_t$ and $p_{t-1}$.
    value: f64,
    value_prev: f64,
    /// $V_t$, $V_{t-1}$ and $K_t = \mathrm{Cov}(f_t, f_{t-1})$.
    variance: f64,
    variance_prev: f64,
    cross: f64,
}

impl Scalar {
    fn new(lambda: f64, beta: f64, noise: f64) -> Self {
        let (value, value_prev, variance, variance_prev, cross) = (1.0, 0.0, 0.0, 0.0, 0.0);
        Self { lambda, beta, noise, value, value_prev, variance, variance_prev, cross }
    }

    /// In units of $\mu^t$, where $p_t$ stays between 1 and $t+1$.
    fn normalized(lambda: f64, beta: f64, noise: f64) -> Self {
        let root = Root::new(lambda, beta);
        Self::new(lambda / root.mu, beta / root.mu / root.mu, noise / root.mu / root.mu)
    }

    fn advance(&mut self) {
        let (l, b, s) = (self.lambda, self.beta, self.noise);
        let square = self.value * self.value;
        // V₊ = (λ² + s) V − 2βλ K + β² V₋ + s p²
        let variance = (l * l + s) * self.variance - 2.0 * b * l * self.cross
            + b * b * self.variance_prev
            + s * square;
        // K₊ = λ V − β K
        self.cross = l * self.variance - b * self.cross;
        (self.variance, self.variance_prev) = (variance, self.variance);
        (self.value, self.value_prev) = (l * self.value - b * self.value_prev, self.value);
    }
}
