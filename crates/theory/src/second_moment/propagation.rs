//! The exact covariance of $F_tw_0$ (or of $F_tXF_t^T$), step by step.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use super::noise::Noise;
use crate::{check, error::Result, momentum::Start};

/// The exact second moment of $F_t$ applied to a start, one step at a time.
///
/// $F_{t+1}=(A+N_t)F_t-\beta F_{t-1}$ with independent noise. For a start $X$ it carries the mean
/// $M_tXM_t^T$ with $M_t=p_t(A)$ apart from the covariance, so that small covariances keep their digits:
/// $$V_{t+1}=AV_tA^T+\mathcal S(V_t+M_tXM_t^T)-\beta(AK_t+K'_tA^T)+\beta^2V_{t-1},\quad
/// K_{t+1}=AV_t-\beta K'_t,\quad K'_{t+1}=V_tA^T-\beta K_t,$$
/// $\mathcal S(P)=\mathbb E[NPN^T]$. Each step is five products of $d\times d$ matrices and one
/// application of the noise. Memory: six such matrices.
///
/// # Example
/// ```
/// use favard_theory::{Start, second_moment::{Finite, Propagation}};
/// use ndarray::array;
/// # fn main() -> favard_theory::Result<()> {
/// let coin = Finite::new(vec![array![[0.8]], array![[1.2]]], vec![0.5, 0.5])?;
/// let mut run = Propagation::new(&coin, coin.mean().view(), 0.2025, Start::U, array![1.0].view())?;
/// run.advance_by(2)?;
/// assert!((run.covariance()[[0, 0]] - 0.0816).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., proof of Lemma covbound; erratum 3.3 (variance form).
#[derive(Debug, Clone)]
pub struct Propagation<N> {
    noise: N,
    op: Array2<f64>,
    beta: f64,
    start: Start,
    tick: usize,
    /// $M_tXM_t^T=\text{left}\cdot\text{right}^T$ with left $=M_tX_l$, right $=M_tX_r$.
    mean: [Array2<f64>; 2],
    mean_prev: [Array2<f64>; 2],
    variance: Array2<f64>,
    variance_prev: Array2<f64>,
    cross: Array2<f64>,
    cross_back: Array2<f64>,
}

impl<N: Noise> Propagation<N> {
    /// The propagation of $w_0w_0^T$ for a mean operator and a start vector.
    ///
    /// # Errors
    /// `Shape` if sizes differ; `OutOfRange` if `beta` is negative; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// use ndarray::array;
    /// let none = NoiseFn::new(1, |p| &p * 0.0);
    /// let run = Propagation::new(none, array![[1.0]].view(), 0.1, Start::T, array![1.0].view())?;
    /// assert_eq!(run.tick(), 0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn new(
        noise: N,
        mean: ArrayView2<f64>,
        beta: f64,
        start: Start,
        w0: ArrayView1<f64>,
    ) -> Result<Self> {
        let column = w0.insert_axis(ndarray::Axis(1)).to_owned();
        Self::from_factors(noise, mean, beta, start, [column.clone(), column])
    }

    /// The propagation of $X=X_lX_r^T$, as the full covariance of $F_t$ needs it.
    pub(crate) fn from_factors(
        noise: N,
        mean: ArrayView2<f64>,
        beta: f64,
        start: Start,
        factors: [Array2<f64>; 2],
    ) -> Result<Self> {
        let dim = check::square("mean", mean)?;
        check::size("noise", noise.dim(), dim)?;
        check::non_negative("beta", beta)?;
        for factor in &factors {
            check::size("start", factor.nrows(), dim)?;
            check::all_finite("start", factor)?;
        }
        let zero = Array2::zeros((dim, dim));
        let mean_prev = [Array2::zeros(factors[0].raw_dim()), Array2::zeros(factors[1].raw_dim())];
        Ok(Self {
            noise,
            op: mean.to_owned(),
            beta,
            start,
            tick: 0,
            mean: factors,
            mean_prev,
            variance: zero.clone(),
            variance_prev: zero.clone(),
            cross: zero.clone(),
            cross_back: zero,
        })
    }

    /// One step.
    ///
    /// # Errors
    /// `NonFinite` when the covariance leaves the range of `f64`, or the noise returns such a number;
    /// `Shape` if the noise returns a matrix of another size.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// use ndarray::array;
    /// let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let mut run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![1.0].view())?;
    /// run.advance()?;
    /// assert_eq!(run.covariance()[[0, 0]], 0.5);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn advance(&mut self) -> Result<()> {
        let (a, b) = (&self.op, self.beta);
        let half = if self.tick == 0 && self.start == Start::T { 0.5 } else { 1.0 };
        let second = &self.variance + &self.mean[0].dot(&self.mean[1].t());
        let noisy = self.noise.apply(second.view());
        check::size("noise output", noisy.len(), second.len())?;
        // V₊ = A V Aᵀ + 𝒮(V + M X Mᵀ) − β (A K + K' Aᵀ) + β² V₋ (a halved first product halves A and N)
        let image = a.dot(&self.variance); // A V
        let next = (image.dot(&a.t()) + noisy) * (half * half)
            - (a.dot(&self.cross) + self.cross_back.dot(&a.t())) * (half * b)
            + &self.variance_prev * (b * b);
        check::all_finite("covariance", &next)?;
        // K₊ = A V − β K', K'₊ = V Aᵀ − β K
        let cross = image * half - &self.cross_back * b;
        let cross_back = self.variance.dot(&a.t()) * half - &self.cross * b;
        self.variance_prev = std::mem::replace(&mut self.variance, next);
        (self.cross, self.cross_back) = (cross, cross_back);
        for (cur, prev) in self.mean.iter_mut().zip(&mut self.mean_prev) {
            let next = a.dot(&*cur) * half - &*prev * b;
            check::all_finite("mean", &next)?;
            *prev = std::mem::replace(cur, next);
        }
        self.tick += 1;
        Ok(())
    }

    /// `ticks` steps.
    ///
    /// # Errors
    /// As [`Propagation::advance`].
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// use ndarray::array;
    /// let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let mut run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![1.0].view())?;
    /// run.advance_by(4)?;
    /// assert_eq!(run.tick(), 4);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn advance_by(&mut self, ticks: usize) -> Result<()> {
        (0..ticks).try_for_each(|_| self.advance())
    }

    /// $t$.
    ///
    /// # Example
    /// ```
    /// # use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// # use ndarray::array;
    /// # let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![1.0].view())?;
    /// assert_eq!(run.tick(), 0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn tick(&self) -> usize {
        self.tick
    }

    /// $\mathrm{Cov}(F_tw_0)$, a $d\times d$ matrix.
    ///
    /// # Example
    /// ```
    /// # use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// # use ndarray::array;
    /// # let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![1.0].view())?;
    /// assert_eq!(run.covariance()[[0, 0]], 0.0); // F₀ = I is certain
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn covariance(&self) -> &Array2<f64> {
        &self.variance
    }

    /// $\mathbb EF_tw_0=p_t(A)w_0$.
    ///
    /// # Example
    /// ```
    /// # use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// # use ndarray::array;
    /// # let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![3.0].view())?;
    /// assert_eq!(run.mean()[0], 3.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn mean(&self) -> Array1<f64> {
        self.mean[0].column(0).to_owned()
    }

    /// $\|\mathbb E[F_tw_0\otimes F_tw_0]-\mathbb EF_tw_0\otimes\mathbb EF_tw_0\|$.
    ///
    /// The vector's Euclidean norm, which is the Frobenius norm of the covariance matrix.
    ///
    /// # Example
    /// ```
    /// # use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// # use ndarray::array;
    /// # let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![3.0].view())?;
    /// assert_eq!(run.covariance_norm(), 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary veccov.
    #[must_use]
    pub fn covariance_norm(&self) -> f64 {
        self.variance.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// $\mathbb E\|F_tw_0\|^2-\|\mathbb EF_tw_0\|^2$, the trace of the covariance.
    ///
    /// # Example
    /// ```
    /// # use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// # use ndarray::array;
    /// # let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![3.0].view())?;
    /// assert_eq!(run.total_variance(), 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.7.
    #[must_use]
    pub fn total_variance(&self) -> f64 {
        self.variance.diag().sum()
    }

    /// $\mathrm{Var}(u^TF_tw_0)$.
    ///
    /// # Errors
    /// `Shape` if `u` has another length; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// # use favard_theory::{Start, second_moment::{NoiseFn, Propagation}};
    /// # use ndarray::array;
    /// # let noise = NoiseFn::new(1, |p| &p * 0.5);
    /// let run = Propagation::new(noise, array![[1.0]].view(), 0.1, Start::U, array![3.0].view())?;
    /// assert_eq!(run.variance_along(array![1.0].view())?, 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Corollary numcov.
    pub fn variance_along(&self, u: ArrayView1<f64>) -> Result<f64> {
        check::size("u", u.len(), self.variance.nrows())?;
        check::all_finite("u", u)?;
        Ok(u.dot(&self.variance.dot(&u)))
    }
}
