//! Jacobi coefficients from a measure: samples with weights, moments, or modified moments.

use crate::{
    check,
    error::{ErrorKind, Result},
    family::Family,
};

/// The most degrees any of these algorithms is asked for.
const MAX_DEGREE: usize = 1 << 20;

/// The family of a discrete measure: nodes with positive weights, by the Stieltjes procedure.
///
/// The weights are normalised to sum to one; equal weights make it the family of a sample. Costs
/// `4 · degree · nodes` flops. Orthogonality is kept against the two previous polynomials only, as
/// the three-term recurrence says; reliable while `degree` is well below the number of nodes.
///
/// # Errors
/// `Shape` if the lists differ in length; `NonFinite` or `OutOfRange` for a node or weight;
/// `Degenerate` if the measure has no more than `degree` distinct nodes.
///
/// # Example
/// ```
/// use favard_theory::{Family, measure};
/// # fn main() -> favard_theory::Result<()> {
/// let rule = Family::legendre(20)?.gauss()?;
/// let (nodes, weights): (Vec<f64>, Vec<f64>) = rule.into_iter().unzip();
/// let found = measure::from_samples(&nodes, &weights, 5)?;
/// assert!((found.beta()[4] - 25.0 / 99.0).abs() < 1e-14);
/// # Ok(()) }
/// ```
///
/// # Reference
/// Gautschi (2004), section 2.2 (discretised Stieltjes).
pub fn from_samples(nodes: &[f64], weights: &[f64], degree: usize) -> Result<Family> {
    check::size("weights", weights.len(), nodes.len())?;
    check::count("degree", degree, 0, MAX_DEGREE)?;
    check::count("nodes", nodes.len(), 1, check::MAX_COUNT)?;
    check::all_finite("node", nodes)?;
    for &weight in weights {
        check::positive("weight", weight)?;
    }
    let total = check::finite("total weight", weights.iter().sum())?;
    let mut sorted = nodes.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    // q_n vanishes on n nodes: its norm is zero, whatever rounding makes of it.
    if degree >= sorted.len() {
        return Err(ErrorKind::Degenerate { degree: sorted.len(), norm: 0.0 }.into());
    }
    // Orthonormal values at the nodes: q is the current polynomial, prev the one before.
    let mut prev = vec![0.0; nodes.len()];
    let mut q = vec![1.0; nodes.len()];
    let (mut alpha, mut beta) = (Vec::with_capacity(degree), Vec::with_capacity(degree));
    let mut off = 0.0_f64;
    for k in 0..degree {
        let a: f64 = nodes.iter().zip(weights).zip(&q).map(|((x, w), v)| w * x * v * v).sum();
        let a = a / total;
        // r = (x − α) q − √β q₋
        for ((r, v), x) in prev.iter_mut().zip(&q).zip(nodes) {
            *r = (x - a) * v - off * *r;
        }
        let b: f64 = prev.iter().zip(weights).map(|(r, w)| w * r * r).sum::<f64>() / total;
        if !b.is_finite() || b <= 0.0 {
            return Err(ErrorKind::Degenerate { degree: k + 1, norm: b }.into());
        }
        off = b.sqrt();
        for r in &mut prev {
            *r /= off;
        }
        std::mem::swap(&mut prev, &mut q);
        alpha.push(a);
        beta.push(b);
    }
    Family::new(alpha, beta)
}

/// The family of a measure given by its moments $m_k = \mathbb E X^k$, $k = 0, \dots, 2n$.
///
/// The Chebyshev algorithm, $O(n^2)$. The map from moments to coefficients is badly conditioned (its
/// condition number grows like $(17+6\sqrt8)^n$ on $[0, 1]$): beyond degree 10 use
/// [`from_modified_moments`].
///
/// # Errors
/// `Shape` if the number of moments is even; `Degenerate` at the first degree whose squared norm is
/// not positive; `NonFinite`.
///
/// # Example
/// ```
/// use favard_theory::measure;
/// # fn main() -> favard_theory::Result<()> {
/// // Uniform on [0, 1]: moments 1/(k+1).
/// let family = measure::from_moments(&[1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0])?;
/// assert!((family.alpha()[1] - 0.5).abs() < 1e-13 && (family.beta()[0] - 1.0 / 12.0).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// Gautschi (2004), section 2.1.3 with $a_k = b_k = 0$.
pub fn from_moments(moments: &[f64]) -> Result<Family> {
    let zeros = vec![0.0; moments.len()];
    modified_chebyshev(moments, &zeros, &zeros)
}

/// The family of a measure given by its moments $\mathbb E\,\pi_k(X)$, $k = 0, \dots, 2n$, against the
/// monic polynomials $\pi_k$ of a reference family.
///
/// The modified Chebyshev algorithm, $O(n^2)$; well conditioned when the reference measure is close
/// to the measure. The reference must reach degree $2n$.
///
/// # Errors
/// As [`from_moments`]; `Count` if the reference is too short.
///
/// # Example
/// ```
/// use favard_theory::{Family, measure};
/// # fn main() -> favard_theory::Result<()> {
/// // The reference measure itself: E π₀ = 1, all others vanish.
/// let reference = Family::legendre(12)?;
/// let mut moments = vec![0.0; 13];
/// moments[0] = 1.0;
/// let family = measure::from_modified_moments(&moments, &reference)?;
/// assert!((family.beta()[5] - reference.beta()[5]).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// Gautschi (2004), section 2.1.3; Sack and Donovan (1971).
pub fn from_modified_moments(moments: &[f64], reference: &Family) -> Result<Family> {
    let needed = moments.len().saturating_sub(1);
    check::count("degree of the reference", reference.degree(), needed, check::MAX_COUNT)?;
    // Shift β so that entry k multiplies π_{k−1}.
    let mut beta = vec![0.0];
    beta.extend_from_slice(reference.beta());
    modified_chebyshev(moments, reference.alpha(), &beta)
}

/// The modified Chebyshev algorithm; `a[k]`, `b[k]` are the reference's monic coefficients.
fn modified_chebyshev(moments: &[f64], a: &[f64], b: &[f64]) -> Result<Family> {
    check::count("moments", moments.len(), 1, 2 * MAX_DEGREE + 1)?;
    check::size("moments", moments.len() | 1, moments.len())?;
    check::all_finite("moment", moments)?;
    if moments[0] <= 0.0 {
        return Err(ErrorKind::Degenerate { degree: 0, norm: moments[0] }.into());
    }
    let degree = (moments.len() - 1) / 2;
    // σ_{k,l} = E[P_k π_l]; rows k−1 and k are kept.
    let mut before = vec![0.0; moments.len()];
    let mut row = moments.to_vec();
    let (mut alpha, mut beta) = (Vec::with_capacity(degree), Vec::with_capacity(degree));
    let mut norm = moments[0];
    let (mut last_ratio, mut last_beta) = (0.0, 0.0);
    for k in 0..degree {
        let ratio = row[k + 1] / row[k];
        let current = a[k] + ratio - last_ratio;
        let mut next = vec![0.0; moments.len()];
        for l in k + 1..moments.len() - 1 - k {
            next[l] =
                row[l + 1] - (current - a[l]) * row[l] - last_beta * before[l] + b[l] * row[l - 1];
        }
        let squared = next[k + 1];
        if !squared.is_finite() || squared <= 0.0 || !current.is_finite() {
            return Err(ErrorKind::Degenerate { degree: k + 1, norm: squared }.into());
        }
        alpha.push(current);
        beta.push(squared / norm);
        (last_ratio, last_beta, norm) = (ratio, squared / norm, squared);
        (before, row) = (row, next);
    }
    Family::new(alpha, beta)
}
