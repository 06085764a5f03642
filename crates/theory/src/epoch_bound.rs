//! A bound on the exact epoch factor from three numbers.

use crate::{
    check,
    deterministic::Growth,
    error::Result,
    momentum::{Root, Start},
};

/// The longest epoch the bound is asked for.
pub(crate) const MAX_TICKS: usize = 1 << 20;

/// How far an eigenvalue's polynomial may be from $p_k(\lambda_1)$ during an epoch.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Spread, epoch_factor_bound};
/// let growth = Growth::optimal(1.0, 0.9)?;
/// let flat = epoch_factor_bound(&growth, 1e-3, 10, Spread::Flat)?;
/// assert!(flat <= epoch_factor_bound(&growth, 1e-3, 10, Spread::Any)?);
/// # Ok::<(), favard_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// All other eigenvalues equal $\lambda_2=2\sqrt\beta$: $p_k(\lambda_1)-p_k(\lambda_2)$.
    Flat,
    /// Anything in the interval: $p_k(\lambda_1)+\sup|p_k|$.
    Any,
}

/// A bound on the factor of one variance-reduced epoch near convergence, U start.
///
/// With $e_k=\sup_{|x|\le\max(\lambda_2,2\sqrt\beta)}|p_k(x)|$, $B_0=0$ and
/// $B_k=s_{op}\sum_{j<k}e_{k-1-j}^2(h_j^2+B_j)$: the factor is at most $(e_T^2+B_T)/p_T(\lambda_1)^2$, with
/// $h_j=p_j(\lambda_1)+e_j$ in general and $p_j(\lambda_1)-e_j$ for a flat spectrum at the edge. From
/// $\mathrm{tr}\,\mathcal S(P)\le s_{op}\mathrm{tr}P$; needs no eigenvectors. The convolution is run as the
/// scalar recurrence of Lemma covbound with $\lambda=\max(\lambda_2,2\sqrt\beta)$, in $O(T)$.
///
/// # Errors
/// `OutOfRange` if `s_op` is negative; `Count` unless $1\le T\le2^{20}$; `NonFinite` on overflow.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Spread, epoch_factor_bound};
/// // The paper's data at s = 1000: exactly .0670.
/// let bound = epoch_factor_bound(&Growth::optimal(1.0, 0.9)?, 10.1e-3, 10, Spread::Flat)?;
/// assert!(bound > 0.0670 && bound < 0.1);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Erratum 3.7 (trace of a completely positive map) applied to Lemma svrgvar.
pub fn epoch_factor_bound(growth: &Growth, s_op: f64, ticks: usize, spread: Spread) -> Result<f64> {
    check::non_negative("s_op", s_op)?;
    check::count("ticks", ticks, 1, MAX_TICKS)?;
    let top = growth.root();
    let edge = Root::new(growth.lambda2(), growth.beta());
    // In units of μ^k, so that nothing leaves the range.
    let shrink = edge.ln_mu - top.ln_mu;
    let height = |k: usize| {
        let power = if k == 0 { 0.0 } else { k as f64 * shrink };
        (power + edge.ln_normalized(Start::U, k)).exp()
    };
    let peak = |k: usize| top.ln_normalized(Start::U, k).exp();
    let l = growth.lambda2().max(2.0 * growth.beta().sqrt()) / top.mu;
    let b = growth.beta() / top.mu / top.mu;
    let s = s_op / top.mu / top.mu;
    let (mut var, mut var_prev, mut cross) = (0.0, 0.0, 0.0);
    for k in 0..ticks {
        let h = match spread {
            Spread::Flat => peak(k) - height(k),
            Spread::Any => peak(k) + height(k),
        };
        // B₊ = (λ² + s) B − 2βλ K + β² B₋ + s h², K₊ = λ B − β K
        let next = (l * l + s) * var - 2.0 * b * l * cross + b * b * var_prev + s * h * h;
        cross = l * var - b * cross;
        (var, var_prev) = (next, var);
    }
    let (e, p) = (height(ticks), peak(ticks));
    check::finite("epoch factor", (e * e + var) / (p * p))
}
