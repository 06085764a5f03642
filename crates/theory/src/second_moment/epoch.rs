//! The exact factor by which one variance-reduced epoch multiplies a small error.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use super::noise::{Noise, project};
use crate::{
    check, dense,
    deterministic::Growth,
    error::{ErrorKind, Result},
    momentum::Start,
};

/// One variance-reduced epoch near convergence: anchor $\tilde w=u_1+\varepsilon v$, $\varepsilon\to0$.
///
/// To first order $F_tw_0=p_t(\lambda_1)u_1+\varepsilon g_t$ with
/// $g_{t+1}=Ag_t-\beta g_{t-1}+N_t(\Pi g_t-p_tv)$, $\Pi=I-u_1u_1^T$: the noise sees only how far the
/// iterate has moved from the anchor. The epoch factor is $\mathbb E\|\Pi
/// g_T\|^2/(p_T(\lambda_1)^2\|v\|^2)$, the exact multiplier of $\mathbb E\tan^2$ as $\theta\to0$; it needs
/// no bound, and is what the theorems are pessimistic about.
///
/// # Example
/// ```
/// use favard_theory::{Start, second_moment::{Epoch, GaussianRows, Scaled}};
/// use ndarray::{Array1, Array2};
/// # fn main() -> favard_theory::Result<()> {
/// // The paper's data: λ = (1, 0.9, …, 0.9), d = 10, batches of 1000 Gaussian rows.
/// let mut diagonal = Array1::from_elem(10, 0.9);
/// diagonal[0] = 1.0;
/// let mean = Array2::from_diag(&diagonal);
/// let noise = Scaled::new(GaussianRows::new(mean.view())?, 1e-3)?;
/// let epoch = Epoch::new(&noise, mean.view(), 0.2025, Start::U, 10)?;
/// assert!((epoch.worst()? - 0.0670).abs() < 5e-5);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma svrgvar and equation (AtSVRG); errata 3.9, 3.12.
#[derive(Debug, Clone)]
pub struct Epoch<N> {
    noise: N,
    /// $A/\mu$ and $\beta/\mu^2$: the recurrence in units in which $p_t(\lambda_1)$ stays bounded.
    op: Array2<f64>,
    beta: f64,
    /// $1/\mu^2$, the unit of the noise.
    unit: f64,
    top: f64,
    /// Eigenvectors, $u_1$ last.
    basis: Array2<f64>,
    start: Start,
    ticks: usize,
}

impl<N: Noise> Epoch<N> {
    /// An epoch of `ticks` steps.
    ///
    /// # Errors
    /// `NoGap` unless the largest eigenvalue exceeds $2\sqrt\beta$ and every other modulus;
    /// `NotSymmetric`, `Shape`, `Count`, `OutOfRange`, `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Start, second_moment::{Epoch, NoiseFn}};
    /// let none = NoiseFn::new(2, |p| &p * 0.0);
    /// let flat = ndarray::array![[1.0, 0.0], [0.0, 1.0]];
    /// assert!(Epoch::new(none, flat.view(), 0.2, Start::U, 5).is_err());
    /// ```
    pub fn new(
        noise: N,
        mean: ArrayView2<f64>,
        beta: f64,
        start: Start,
        ticks: usize,
    ) -> Result<Self> {
        let dim = check::symmetric("mean", mean)?;
        check::count("dim", dim, 2, check::MAX_COUNT)?;
        check::size("noise", noise.dim(), dim)?;
        check::count("ticks", ticks, 1, check::MAX_COUNT)?;
        let (eigenvalues, basis) = dense::symmetric_eigen("mean", mean)?;
        let others = eigenvalues.iter().take(dim - 1).fold(0.0_f64, |m, v| m.max(v.abs()));
        let growth = Growth::new(eigenvalues[dim - 1].max(0.0), others, beta)?;
        let mu = growth.mu();
        let unit = 1.0 / (mu * mu);
        Ok(Self {
            noise,
            op: &mean / mu,
            beta: beta * unit,
            unit,
            top: growth.lambda1() / mu,
            basis,
            start,
            ticks,
        })
    }

    /// The factor for the error direction `v` (its part along $u_1$ is removed).
    ///
    /// # Errors
    /// `Orthogonal` if nothing is left of `v`; `Shape`; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Start, second_moment::{Epoch, NoiseFn}};
    /// use ndarray::array;
    /// let none = NoiseFn::new(2, |p| &p * 0.0);
    /// let epoch = Epoch::new(none, array![[1.0, 0.0], [0.0, 0.9]].view(), 0.2025, Start::T, 10)?;
    /// assert!((epoch.factor(array![0.0, 1.0].view())? - 3.5e-4).abs() < 5e-6);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.12 (the noiseless factors of both starts).
    pub fn factor(&self, v: ArrayView1<f64>) -> Result<f64> {
        check::size("v", v.len(), self.op.nrows())?;
        check::all_finite("v", v)?;
        let u = self.basis.column(self.basis.ncols() - 1);
        let v = &v - &(&u * u.dot(&v));
        let norm2 = v.dot(&v);
        if norm2 <= 0.0 {
            return Err(ErrorKind::Orthogonal { cosine: 0.0 }.into());
        }
        Ok(self.quadratic(&v)? / norm2)
    }

    /// The largest factor over all directions: the worst anchor near convergence.
    ///
    /// The factor is a quadratic form in $v$; its matrix is found by polarisation, $d(d-1)/2$ epochs.
    ///
    /// # Errors
    /// `NonFinite`; `Decomposition` if the eigenvalues do not converge.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{Start, second_moment::{Epoch, NoiseFn}};
    /// use ndarray::array;
    /// let none = NoiseFn::new(2, |p| &p * 0.0);
    /// let epoch = Epoch::new(none, array![[1.0, 0.0], [0.0, 0.9]].view(), 0.2025, Start::U, 10)?;
    /// assert!((epoch.worst()? - 0.003907).abs() < 1e-6);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// As [`Epoch`].
    pub fn worst(&self) -> Result<f64> {
        let n = self.op.nrows() - 1;
        let unit = |i: usize| self.basis.column(i).to_owned();
        let mut form = Array2::zeros((n, n));
        for i in 0..n {
            form[[i, i]] = self.quadratic(&unit(i))?;
        }
        for i in 0..n {
            for j in 0..i {
                let sum = self.quadratic(&(unit(i) + unit(j)))?;
                let value = 0.5 * (sum - form[[i, i]] - form[[j, j]]);
                form[[i, j]] = value;
                form[[j, i]] = value;
            }
        }
        let (values, _) = dense::symmetric_eigen("epoch form", form.view())?;
        Ok(values[n - 1])
    }

    /// $\mathbb E\|\Pi g_T\|^2/p_T(\lambda_1)^2$ for $v\perp u_1$, not divided by $\|v\|^2$.
    fn quadratic(&self, v: &Array1<f64>) -> Result<f64> {
        let (a, b) = (&self.op, self.beta);
        let u = self.basis.column(self.basis.ncols() - 1).to_owned();
        let dim = v.len();
        let zero = Array2::<f64>::zeros((dim, dim));
        let (mut g, mut g_prev) = (v.clone(), Array1::zeros(dim));
        let (mut p, mut p_prev) = (1.0, 0.0);
        let (mut var, mut var_prev, mut cross) = (zero.clone(), zero.clone(), zero);
        for tick in 0..self.ticks {
            let half = if tick == 0 && self.start == Start::T { 0.5 } else { 1.0 };
            // The noise acts on h = Π g − p v, of mean ḡ − p v and covariance Π V Π.
            let mean = &g - &(v * p);
            let mut second = project(&u, var.view());
            for (i, &hi) in mean.iter().enumerate() {
                second.row_mut(i).scaled_add(hi, &mean);
            }
            let noisy = self.noise.apply(second.view());
            check::size("noise output", noisy.len(), second.len())?;
            let image = a.dot(&var);
            // V₊ = A V A + 𝒮(E h hᵀ) − β (A K + Kᵀ A) + β² V₋
            let mixed = a.dot(&cross);
            let next = (image.dot(a) + noisy * self.unit) * (half * half)
                - (&mixed + &mixed.t()) * (half * b)
                + &var_prev * (b * b);
            check::all_finite("covariance", &next)?;
            cross = image * half - &cross.t() * b;
            var_prev = std::mem::replace(&mut var, next);
            let g_next = a.dot(&g) * half - &g_prev * b;
            g_prev = std::mem::replace(&mut g, g_next);
            (p, p_prev) = (half * self.top * p - b * p_prev, p);
        }
        let rest = project(&u, var.view());
        check::finite("epoch factor", (g.dot(&g) + rest.diag().sum()) / (p * p))
    }
}
