//! The mean-square rate: how fast $\mathbb E\|F_tw\|^2$ grows or contracts, exactly.

use ndarray::{Array2, ArrayView2};

use super::{kernel::Kernel, noise::Noise};
use crate::{
    check, dense,
    error::{ErrorKind, Result},
};

/// Up to this dimension the positive map is written out and its eigenvalues taken.
const DENSE_LIMIT: usize = 8;
/// The most power steps for the positive map beyond that.
const POWER_STEPS: usize = 20_000;

/// The spectral radius of the exact second-moment map of $F_{t+1}=(A+N_t)F_t-\beta F_{t-1}$.
///
/// The factor per step of $\mathbb E\|F_tw\|^2$ for a generic start. It is the largest $x\ge x_0$ with
/// $\varrho(P\mapsto G_x\circ\mathcal S(P))=1$ in the eigenbasis of $A$, where $x_0$ is the noise-free
/// rate and $G_x(a,b)=\sum_kp_k(a)p_k(b)x^{-k-1}$ in closed form: the map $(P,C,Q)\mapsto
/// (APA^T+\mathcal S(P)-\beta(AC+C^TA^T)+\beta^2Q,\ AP-\beta C^T,\ P)$ is never formed. One symmetric
/// eigenproblem, then about 50 spectral radii of a positive map on $d\times d$ matrices ($O(d^3)$ a
/// power step).
///
/// # Errors
/// `NotSymmetric` unless the mean is symmetric; `Shape`, `OutOfRange`, `NonFinite`; `Exhausted` if the
/// power iteration for $d>8$ does not settle.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{GaussianRows, Scaled, mean_square_rate};
/// use ndarray::{Array2, array};
/// # fn main() -> favard_theory::Result<()> {
/// // Heavy-ball least squares on Gaussian rows: A = (1+γ)I − ηH, β = γ.
/// let h = Array2::from_diag(&array![0.01, 0.1, 0.4, 1.0]);
/// let (eta, gamma) = (1.5, 0.65);
/// let noise = Scaled::new(GaussianRows::new(h.view())?, eta * eta / 64.0)?;
/// let mean = Array2::eye(4) * (1.0 + gamma) - &h * eta;
/// let rate = mean_square_rate(&noise, mean.view(), gamma)?;
/// assert!((rate - 0.9079217223040542).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Reference
/// Erratum 3.5 (first-order perturbation of $M\otimes M$); the golden values' section
/// `k_least_squares_rate`.
pub fn mean_square_rate(noise: &impl Noise, mean: ArrayView2<f64>, beta: f64) -> Result<f64> {
    let mut map = PositiveMap::new(noise, mean, beta)?;
    let base = map.kernel.base();
    if base == 0.0 {
        // A = 0 and β = 0: the second moment is 𝒮 itself.
        return map.radius_of_noise();
    }
    // ln ϱ as a function of ln e decreases; bracket its zero.
    let mut low = f64::EPSILON / 16.0;
    if map.radius(low)? <= 1.0 {
        return Ok(base);
    }
    let mut high = 1.0;
    let mut is_bracketed = false;
    for _ in 0..1000 {
        if map.radius(high)? < 1.0 {
            is_bracketed = true;
            break;
        }
        (low, high) = (high, 4.0 * high);
    }
    if !is_bracketed {
        return Err(ErrorKind::Exhausted { name: "mean-square rate", limit: 1000 }.into());
    }
    let (mut a, mut b) = (low.ln(), high.ln());
    let (mut fa, mut fb) = (map.radius(low)?.ln(), map.radius(high)?.ln().max(-1e3));
    // Illinois: a secant that never leaves the bracket; 200 steps are four times what is ever used.
    for _ in 0..200 {
        if (b - a).abs() <= 4.0 * f64::EPSILON || fa == 0.0 {
            break;
        }
        let guess = (a * fb - b * fa) / (fb - fa);
        let middle = if guess > a && guess < b { guess } else { f64::midpoint(a, b) };
        let f = map.radius(middle.exp())?.ln().max(-1e3);
        if f == 0.0 || middle <= a || middle >= b {
            a = middle;
            break;
        }
        if f > 0.0 {
            if fb.abs() > 0.0 {
                fb *= 0.5;
            }
            (a, fa) = (middle, f);
        } else {
            fa *= 0.5;
            (b, fb) = (middle, f);
        }
        if f.abs() <= 4.0 * f64::EPSILON {
            a = middle;
            break;
        }
    }
    Ok(base * (1.0 + a.exp()))
}

/// The gain of the noise at the border of stability: $\mathbb E\|F_tw\|^2\to0$ if and only if it is below 1.
///
/// $\varrho(P\mapsto\sum_kp_k(A)\mathcal S(P)p_k(A))$. It is linear in the noise, so for the noise of one
/// sample it *is* the critical batch: heavy ball contracts in mean square exactly for batches above it.
///
/// # Errors
/// `OutOfRange` if the noise-free recurrence does not contract; as [`mean_square_rate`] otherwise.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{NoiseFn, stability_gain};
/// // Scalar, λ = 2√β: the gain is ‖Σ‖ (1+β)/(1−β)³.
/// let gain = stability_gain(&NoiseFn::new(1, |p| &p * 0.1), ndarray::array![[1.0]].view(), 0.25)?;
/// assert!((gain - 0.1 * 1.25 / 0.75_f64.powi(3)).abs() < 1e-15);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Erratum 3.2 (contraction regime).
pub fn stability_gain(noise: &impl Noise, mean: ArrayView2<f64>, beta: f64) -> Result<f64> {
    let mut map = PositiveMap::new(noise, mean, beta)?;
    let base = map.kernel.base();
    if base == 0.0 {
        return map.radius_of_noise();
    }
    check::within("noise-free mean-square rate", base, 0.0, 1.0 - f64::EPSILON)?;
    map.radius((1.0 - base) / base)
}

/// The smallest batch for which a monotone question has the answer yes: doubling, then bisection.
///
/// The question is asked at most 104 times. Use it with [`mean_square_rate`], with
/// [`Epoch`](super::Epoch), or to compare two methods.
///
/// # Errors
/// `Exhausted` if the answer at `limit` is no; whatever the question returns.
///
/// # Example
/// ```
/// use favard_theory::second_moment::critical_batch;
/// assert_eq!(critical_batch(1 << 20, |batch| Ok(7.0 / batch as f64 <= 0.01))?, 700);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Facts about VR power iteration with momentum: contraction from 98 on, faster than VR power from 487.
pub fn critical_batch(limit: usize, holds: impl FnMut(usize) -> Result<bool>) -> Result<usize> {
    check::count("limit", limit, 1, check::MAX_COUNT)?;
    check::first_count("critical batch", 1, limit, holds)
}

/// $P\mapsto G_x\circ\mathcal S(P)$ in the eigenbasis of the mean.
struct PositiveMap<'a, N> {
    noise: &'a N,
    basis: Array2<f64>,
    kernel: Kernel,
    /// The eigenvector of the last radius: the next one is near.
    warm: Array2<f64>,
}

impl<'a, N: Noise> PositiveMap<'a, N> {
    fn new(noise: &'a N, mean: ArrayView2<f64>, beta: f64) -> Result<Self> {
        let dim = check::symmetric("mean", mean)?;
        check::size("noise", noise.dim(), dim)?;
        check::non_negative("beta", beta)?;
        let (eigenvalues, basis) = dense::symmetric_eigen("mean", mean)?;
        let kernel = Kernel::new(&eigenvalues, beta);
        Ok(Self { noise, basis, kernel, warm: Array2::eye(dim) })
    }

    /// $Q^T\mathcal S(QPQ^T)Q$.
    fn noisy(&self, p: &Array2<f64>) -> Result<Array2<f64>> {
        let q = &self.basis;
        let out = self.noise.apply(q.dot(p).dot(&q.t()).view());
        check::size("noise output", out.len(), p.len())?;
        let out = q.t().dot(&out).dot(q);
        check::all_finite("noise output", &out)?;
        Ok(out)
    }

    fn radius_of_noise(&mut self) -> Result<f64> {
        let weights = Array2::ones(self.basis.raw_dim());
        self.weighted_radius(&weights)
    }

    fn radius(&mut self, excess: f64) -> Result<f64> {
        let weights = self.kernel.at(excess);
        check::all_finite("kernel", &weights)?;
        self.weighted_radius(&weights)
    }

    fn weighted_radius(&mut self, weights: &Array2<f64>) -> Result<f64> {
        let d = self.basis.nrows();
        if d > DENSE_LIMIT {
            return self.power(weights);
        }
        let mut matrix = Array2::zeros((d * d, d * d));
        for k in 0..d {
            for l in 0..d {
                let mut unit = Array2::zeros((d, d));
                unit[[k, l]] = 1.0;
                // Balanced by √|G| on both sides: near the pole of one pair the rows of G∘𝒮 differ by
                // 1e17, and an eigensolver would drop the small ones.
                let into = weights[[k, l]].abs().sqrt();
                for ((i, j), &value) in self.noisy(&unit)?.indexed_iter() {
                    let out = weights[[i, j]].abs().sqrt().copysign(weights[[i, j]]);
                    matrix[[i * d + j, k * d + l]] = out * value * into;
                }
            }
        }
        dense::spectral_radius("second-moment map", matrix.view())
    }

    /// Power iteration on the map plus its own radius, which makes the Perron value strictly dominant.
    fn power(&mut self, weights: &Array2<f64>) -> Result<f64> {
        let mut p = self.warm.clone();
        let mut radius = 0.0_f64;
        for _ in 0..POWER_STEPS {
            let scale = p.diag().sum();
            p /= scale;
            let image = self.noisy(&p)? * weights;
            let ratio = image.diag().sum();
            if ratio <= 0.0 {
                return Ok(0.0);
            }
            let mut drift = 0.0_f64;
            let next = &image + &p * (0.1 * ratio);
            for (new, old) in next.iter().zip(&p) {
                drift = drift.max((new / (1.1 * ratio) - old).abs());
            }
            let is_settled = drift <= 8.0 * f64::EPSILON
                || (ratio - radius).abs() <= f64::EPSILON * ratio && drift <= 1e-12;
            radius = ratio;
            p = next;
            if is_settled {
                self.warm = p;
                return Ok(radius);
            }
        }
        Err(ErrorKind::Exhausted { name: "spectral radius", limit: POWER_STEPS }.into())
    }
}
