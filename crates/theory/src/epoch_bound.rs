//! A bound on the exact epoch factor from three numbers.

use crate::{
    check,
    deterministic::Growth,
    error::Result,
    momentum::{Root, Start},
};

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
/// $\mathrm{tr}\,\mathcal S(P)\le s_{op}\mathrm{tr}P$; needs no eigenvectors. $O(T^2)$.
///
/// # Errors
/// `OutOfRange` if `s_op` is negative; `Count` unless $1\le T\le2^{14}$; `NonFinite` on overflow.
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
pub fn epoch_factor_bound(
    growth: &Growth,
    s_op: f64,
    ticks: usize,
    spread: Spread,
) -> Result<f64> {
    check::non_negative("s_op", s_op)?;
    check::count("ticks", ticks, 1, 1 << 14)?;
    let top = growth.root();
    let edge = Root::new(growth.lambda2(), growth.beta());
    // In units of μ^k, so that nothing leaves the range.
    let shrink = edge.ln_mu - top.ln_mu;
    let height = |k: usize| {
        let power = if k == 0 { 0.0 } else { k as f64 * shrink };
        (power + edge.ln_normalized(Start::U, k)).exp()
    };
    let e: Vec<f64> = (0..=ticks).map(height).collect();
    let p: Vec<f64> = (0..=ticks).map(|k| top.ln_normalized(Start::U, k).exp()).collect();
    let noise = s_op / (top.mu * top.mu);
    let mut b: Vec<f64> = Vec::with_capacity(ticks + 1);
    for k in 0..=ticks {
        let mut sum = 0.0;
        for j in 0..k {
            let h = match spread {
                Spread::Flat => p[j] - e[j],
                Spread::Any => p[j] + e[j],
            };
            sum += e[k - 1 - j] * e[k - 1 - j] * (h * h + b[j]);
        }
        b.push(noise * sum);
    }
    check::finite("epoch factor", (e[ticks] * e[ticks] + b[ticks]) / (p[ticks] * p[ticks]))
}
