//! The scalar second moment's growth, and the contraction regime of heavy ball.

use crate::{
    check,
    error::{ErrorKind, Result},
    momentum::Root,
};

/// The growth of the scalar second moment $\mathbb Ef_t^2$ per step, as an excess over $\mu^2$.
///
/// $\mathbb Ef_t^2$ grows like $\mu^2(1+e)$ per step, where $e\ge0$ solves $e(1-r+e)(1-r^2+e)=\hat
/// s(1+e)(1+r+e)$ with $r=\beta/\mu^2$ and $\hat s=s/\mu^2$. For $\lambda\le2\sqrt\beta$, $\mu=\sqrt\beta$
/// and $r=1$: the worst case of the contraction regime. Solved for $e$ itself, so that a tiny excess
/// keeps its digits; at most 200 bisection steps.
///
/// # Errors
/// `OutOfRange` or `NonFinite` if a number is negative or not finite; `NoGap` if
/// $\lambda=\beta=0$.
///
/// # Example
/// ```
/// let e = favard_theory::excess(1.0, 0.2025, 1e-4)?;
/// assert!((e.ln_1p() - 0.000525870019172068).abs() < 1e-15);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Erratum 3.5: first order $e\approx s/D$, against the paper's $4s/D$.
pub fn excess(lambda: f64, beta: f64, noise: f64) -> Result<f64> {
    check::squarable("lambda", lambda)?;
    check::squarable("beta", beta)?;
    check::non_negative("noise", noise)?;
    let root = Root::new(lambda, beta);
    if root.mu == 0.0 {
        return Err(ErrorKind::NoGap { lambda1: lambda, edge: 0.0 }.into());
    }
    let s = noise / root.mu / root.mu;
    check::finite("noise / mu^2", s)?;
    if s == 0.0 {
        return Ok(0.0);
    }
    let gap = root.gap;
    let (r, gap2) = (1.0 - gap, gap * (2.0 - gap));
    // Both sides divided: increasing in e from 0, so the root is unique.
    let left = |e: f64| e * ((gap + e) / (1.0 + e)) * ((gap2 + e) / (1.0 + r + e));
    let (mut low, mut high) = (0.0, 1.0_f64);
    for _ in 0..1100 {
        if left(high) >= s {
            break;
        }
        (low, high) = (high, 2.0 * high);
    }
    // Geometric bisection from below once the bracket has a positive lower end.
    for _ in 0..1100 {
        if low > 0.0 {
            break;
        }
        let middle = high / 1024.0;
        if middle <= 0.0 || left(middle) < s {
            low = middle;
        } else {
            high = middle;
        }
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if left(middle) >= s {
            high = middle;
        } else {
            low = middle;
        }
    }
    check::finite("excess", high)
}

/// The largest $\|\Sigma\|$ for which the recurrence contracts in mean square.
///
/// $$\|\Sigma\|<\frac{(1-\beta)\left((1+\beta)^2-\lambda^2\right)}{1+\beta},$$ with $\lambda$ the
/// spectral radius, replaced by $2\sqrt\beta$ when smaller: then it is $(1-\beta)^3/(1+\beta)$. This is
/// the breakdown point of heavy ball; it is exact for a scalar and sufficient for a matrix.
///
/// # Errors
/// `OutOfRange` unless $0\le\beta<1$ and $0\le\lambda<1+\beta$ (otherwise even the mean does not
/// contract).
///
/// # Example
/// ```
/// let breaking = favard_theory::contraction_breaking_variance(0.0, 0.25)?;
/// assert!((breaking - 0.75_f64.powi(3) / 1.25).abs() < 1e-16);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Erratum 3.2 (the $k+1$ form) summed: $\sum_kp_k^2=(1+\beta)/((1-\beta)((1+\beta)^2-\lambda^2))$.
pub fn contraction_breaking_variance(lambda: f64, beta: f64) -> Result<f64> {
    check::within("beta", beta, 0.0, 1.0 - f64::EPSILON / 2.0)?;
    let lambda = check::non_negative("lambda", lambda)?.max(2.0 * beta.sqrt());
    check::within("lambda", lambda, 0.0, (1.0 + beta) * (1.0 - f64::EPSILON))?;
    Ok((1.0 - beta) * (1.0 + beta - lambda) * (1.0 + beta + lambda) / (1.0 + beta))
}

/// The bound on the factor per step of $\mathbb E\|F_tw\|^2$ in the contraction regime.
///
/// $\mu^2(1+e)$ with $e$ from [`excess`]; for $\lambda\le2\sqrt\beta$ and small noise about
/// $\beta/(1-(2\|\Sigma\|/\beta)^{1/3})$.
///
/// # Errors
/// `BeyondBreakingPoint` if `noise` is not below [`contraction_breaking_variance`]; as there
/// otherwise.
///
/// # Example
/// ```
/// let rate = favard_theory::contraction_rate(0.5, 0.25, 1e-6)?;
/// assert!(rate > 0.25 && rate < 0.26);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Errata 3.2, 3.5.
pub fn contraction_rate(lambda: f64, beta: f64, noise: f64) -> Result<f64> {
    check::non_negative("noise", noise)?;
    let breaking = contraction_breaking_variance(lambda, beta)?;
    if noise >= breaking {
        let kind = ErrorKind::BeyondBreakingPoint { name: "noise", variance: noise, breaking };
        return Err(kind.into());
    }
    if lambda == 0.0 && beta == 0.0 {
        return Ok(noise);
    }
    let mu = Root::new(lambda, beta).mu;
    Ok(mu * mu * (1.0 + excess(lambda, beta, noise)?))
}

/// Polyak's heavy-ball parameters for a spectrum in $[h_{\min},h_{\max}]$.
///
/// The error obeys $e_{t+1}=((1+\gamma)I-\eta H)e_t-\gamma e_{t-1}$.
///
/// # Example
/// ```
/// let ball = favard_theory::HeavyBall::polyak(0.01, 1.0)?;
/// assert!((ball.gamma - (9.0_f64 / 11.0).powi(2)).abs() < 1e-15);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Polyak (1964).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeavyBall {
    /// The step $\eta=4/(\sqrt{h_{\max}}+\sqrt{h_{\min}})^2$.
    pub step: f64,
    /// The momentum $\gamma=\left(\frac{\sqrt\kappa-1}{\sqrt\kappa+1}\right)^2$.
    pub gamma: f64,
}

impl HeavyBall {
    /// The parameters that put both ends of the spectrum at the edge of the calm interval.
    ///
    /// # Errors
    /// `OutOfRange` unless $0<h_{\min}\le h_{\max}$; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// assert!(favard_theory::HeavyBall::polyak(0.0, 1.0).is_err());
    /// ```
    ///
    /// # Reference
    /// Polyak (1964).
    pub fn polyak(h_min: f64, h_max: f64) -> Result<Self> {
        check::positive("h_max", h_max)?;
        check::within("h_min", h_min, f64::MIN_POSITIVE, h_max)?;
        let (low, high) = (h_min.sqrt(), h_max.sqrt());
        let ratio = (high - low) / (high + low);
        Ok(Self { step: 4.0 / ((high + low) * (high + low)), gamma: ratio * ratio })
    }

    /// The batch above which heavy ball contracts in mean square, from norms alone.
    ///
    /// $s>\eta^2\|\Sigma_H\|(1+\gamma)/(1-\gamma)^3$ with $\|\Sigma_H\|$ of one sample. Sufficient; within
    /// a factor 2 of the exact value on the spectra tried.
    ///
    /// # Errors
    /// `OutOfRange` if `sigma` is negative, $\gamma\ge1$, or the batch exceeds $2^{52}$.
    ///
    /// # Example
    /// ```
    /// let ball = favard_theory::HeavyBall::polyak(0.01, 1.0)?;
    /// assert!(ball.batch(4.2)? > 2000);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// [`contraction_breaking_variance`] with $\Sigma_A=\eta^2\Sigma_H/s$.
    pub fn batch(&self, sigma: f64) -> Result<usize> {
        check::non_negative("sigma", sigma)?;
        let breaking = contraction_breaking_variance(0.0, self.gamma)?;
        let needed = self.step * self.step * sigma / breaking;
        Ok(check::ceil_count("batch", needed)?.max(1))
    }
}
