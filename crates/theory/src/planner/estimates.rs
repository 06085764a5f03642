//! What a planner is told about a problem.

use crate::{
    check,
    deterministic::Growth,
    error::{ErrorKind, Result},
};

/// The numbers a plan is made from: measured, estimated or known.
///
/// Noise numbers are those of *one* sample. `Default` is a noiseless problem without a spectrum; fill in
/// what is known.
///
/// # Example
/// ```
/// use favard_theory::planner::Estimates;
/// let known = Estimates { s_op: 10.1, kappa: 8.1, ..Estimates::from_spectrum(&[1.0, 0.9, 0.9])? };
/// assert_eq!((known.lambda1, known.lambda2, known.dim), (1.0, 0.9, 3));
/// # Ok::<(), favard_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
    /// $\lambda_1$.
    pub lambda1: f64,
    /// $\max_{i\ge2}|\lambda_i|$.
    pub lambda2: f64,
    /// The smallest eigenvalue, if known: with it a shift is offered.
    pub lower: Option<f64>,
    /// The dimension.
    pub dim: usize,
    /// $\|\Sigma\|=\|\mathbb E[N\otimes N]\|$.
    pub sigma_norm: f64,
    /// $s_{op}=\|\mathbb E[N^TN]\|$; $\mathbb E\|N\|^2$ is an upper bound for it.
    pub s_op: f64,
    /// $\sum_{i\ge2}\kappa_i=\mathbb E\|(I-u_1u_1^T)Nu_1\|^2$; $s_{op}$ is an upper bound for it.
    pub kappa: f64,
    /// The number of terms $n$; `None` for a stream.
    pub terms: Option<usize>,
    /// $\cos^2\angle(w_0,u_1)$ of the start; $1/d$ for a random one.
    pub cos2: f64,
}

impl Default for Estimates {
    fn default() -> Self {
        Self {
            lambda1: 0.0,
            lambda2: 0.0,
            lower: None,
            dim: 1,
            sigma_norm: 0.0,
            s_op: 0.0,
            kappa: 0.0,
            terms: None,
            cos2: 1.0,
        }
    }
}

impl Estimates {
    /// The noiseless estimates of a known spectrum with a random start.
    ///
    /// # Errors
    /// `Count` for fewer than two eigenvalues; `NonFinite`. A missing gap is reported by the planner.
    ///
    /// # Example
    /// ```
    /// use favard_theory::planner::Estimates;
    /// let known = Estimates::from_spectrum(&[0.2, -0.5, 1.0])?;
    /// assert_eq!((known.lambda2, known.lower), (0.5, Some(-0.5)));
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn from_spectrum(spectrum: &[f64]) -> Result<Self> {
        check::count("spectrum", spectrum.len(), 2, check::MAX_COUNT)?;
        check::all_finite("eigenvalue", spectrum)?;
        let mut sorted = spectrum.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let lower = sorted[sorted.len() - 1];
        Ok(Self {
            lambda1: sorted[0],
            lambda2: sorted[1].abs().max(lower.abs()),
            lower: Some(lower),
            dim: sorted.len(),
            cos2: 1.0 / sorted.len() as f64,
            ..Self::default()
        })
    }

    /// The growth regime with the optimal momentum, everything checked.
    pub(super) fn growth(&self) -> Result<Growth> {
        check::finite("lambda1", self.lambda1)?;
        check::non_negative("lambda2", self.lambda2)?;
        check::count("dim", self.dim, 1, check::MAX_COUNT)?;
        check::non_negative("sigma_norm", self.sigma_norm)?;
        check::non_negative("s_op", self.s_op)?;
        check::non_negative("kappa", self.kappa)?;
        check::within("cos2", self.cos2, f64::MIN_POSITIVE, 1.0)?;
        if let Some(terms) = self.terms {
            check::count("terms", terms, 1, check::MAX_COUNT)?;
        }
        if self.lambda1 <= self.lambda2 {
            let (lambda1, edge) = (self.lambda1, self.lambda2);
            return Err(ErrorKind::NoGap { lambda1, edge }.into());
        }
        Growth::optimal(self.lambda1, self.lambda2)
    }
}

/// What is asked for: $\sin^2\angle(w,u_1)\le\epsilon$ with failure probability at most $\delta$.
///
/// # Example
/// ```
/// use favard_theory::planner::Target;
/// let target = Target { largest_batch: Some(100_000), ..Target::new(1e-3, 0.05) };
/// assert_eq!(target.epsilon, 1e-3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The error, in $(0,1)$.
    pub epsilon: f64,
    /// The probability of failure, in $(0,1)$.
    pub delta: f64,
    /// The largest batch that can be drawn; `None` for no limit.
    pub largest_batch: Option<usize>,
}

impl Target {
    /// A target without a limit on the batch.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::planner::Target::new(0.1, 0.2).largest_batch, None);
    /// ```
    #[must_use]
    pub fn new(epsilon: f64, delta: f64) -> Self {
        Self { epsilon, delta, largest_batch: None }
    }
}
