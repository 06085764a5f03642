//! Lemma pcp: a product of $U_k^2$ against one $U^2$ of the joint degree.

use crate::{check, error::Result, momentum::Start, momentum::ln_poly};

/// Both sides of Lemma pcp at one point, as logarithms.
///
/// # Example
/// ```
/// let sides = favard_theory::lemma_pcp(1.5, &[3, 2])?;
/// assert!((sides.ln_product.exp() - 28224.0).abs() < 1e-8);
/// assert!((sides.ln_sharp.exp() - 28425.8).abs() < 1e-8);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma pcp; erratum 3.4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcpSides {
    /// $\ln\prod_{i\le n+1}U_{k_i}(z)^2$.
    pub ln_product: f64,
    /// $\ln\left[U_{\sum k+n}(z)^2/(4(z^2-1))^n\right]$, the sharp right side.
    pub ln_sharp: f64,
    /// $\ln\left[U_{\sum k+n}(z)^2/(z^2-1)^n\right]$, the paper's right side.
    pub ln_paper: f64,
}

/// Lemma pcp at `z` for the degrees $k_1,\dots,k_{n+1}$.
///
/// $$\prod_{i=1}^{n+1}U_{k_i}^2(z)\le\frac{U^2_{\sum k_i+n}(z)}{(4(z^2-1))^n}.$$
/// From $2\sinh A\sinh B\le\sinh(A+B)$; the ratio of the sides tends to 1 for large degrees, so the 4
/// cannot be improved. Costs one closed form per degree.
///
/// # Errors
/// `OutOfRange` unless `z` exceeds 1; `Count` if there are no degrees or their sum exceeds $2^{52}$.
///
/// # Example
/// ```
/// let sides = favard_theory::lemma_pcp(1.2, &[40, 40, 40])?;
/// assert!((sides.ln_sharp - sides.ln_product).abs() < 1e-12);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma pcp; erratum 3.4.
pub fn lemma_pcp(z: f64, degrees: &[usize]) -> Result<PcpSides> {
    check::within("z", z, 1.0 + f64::EPSILON, f64::MAX / 4.0)?;
    check::count("degrees", degrees.len(), 1, check::MAX_COUNT)?;
    let n = degrees.len() - 1;
    let mut joint = n;
    for &degree in degrees {
        joint = check::count("degree", joint.saturating_add(degree), 0, check::MAX_COUNT)?;
    }
    let ln_u = |k: usize| 2.0 * ln_poly(Start::U, k, 2.0 * z, 1.0).ln_abs;
    let ln_product = degrees.iter().map(|&k| ln_u(k)).sum();
    // z² − 1 without cancellation or overflow.
    let ln_gap = (z - 1.0).ln() + (z + 1.0).ln();
    let ln_paper = ln_u(joint) - n as f64 * ln_gap;
    let ln_sharp = ln_paper - n as f64 * 4.0_f64.ln();
    Ok(PcpSides { ln_product, ln_sharp, ln_paper })
}
