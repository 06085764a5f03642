//! The block rate (Theorem bpm) in its corrected form, and the distance it bounds.

use ndarray::{Array2, ArrayView2};

use crate::{
    check, dense,
    deterministic::Growth,
    error::{ErrorKind, Result},
    log_sign::LogSign,
    momentum::{self, Start},
};

/// The corrected factor of $d_0/\sqrt{1-d_0^2}$ after `tick` steps.
///
/// `growth` holds $\lambda_j$ (the smallest wanted) in the place of $\lambda_1$ and the largest
/// unwanted modulus in the place of $\lambda_2$. T start: $2q^t$ in every case; U start: the square
/// root of the factor of Theorem 1.
///
/// # Errors
/// `Count` if `tick` exceeds $2^{52}$.
///
/// # Example
/// ```
/// use favard_theory::{Growth, Start, block};
/// let growth = Growth::new(0.95, 0.9, 0.21)?; // λ₃ and λ₄ of a spectrum, k = 3
/// let factor = block::factor(&growth, Start::T, 20)?;
/// assert!(factor < 0.02);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem bpm; erratum 4.1.
pub fn factor(growth: &Growth, start: Start, tick: usize) -> Result<f64> {
    Ok((0.5 * growth.ln_factor(start, tick)?).exp())
}

/// The exact ratio of Lemma bp: $\max_{i\le j<l}|p_t(\lambda_l)/p_t(\lambda_i)|$.
///
/// Valid for any symmetric matrix and either start, whatever the signs of the eigenvalues.
/// `spectrum` lists all eigenvalues, the `wanted` ones first.
///
/// # Errors
/// `Count` if `wanted` is not in $1..d$; `Orthogonal` if some wanted $p_t(\lambda_i)$ vanishes;
/// `NonFinite`, `OutOfRange`.
///
/// # Example
/// ```
/// use favard_theory::{Start, block};
/// let ratio = block::exact_ratio(Start::U, 1, &[1.0, 0.8, 0.2], 2, 0.1)?;
/// assert!((ratio - 0.25).abs() < 1e-15);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma bp; erratum 4.1.
pub fn exact_ratio(
    start: Start,
    tick: usize,
    spectrum: &[f64],
    wanted: usize,
    beta: f64,
) -> Result<f64> {
    check::count("wanted", wanted, 1, spectrum.len().saturating_sub(1))?;
    let values: Vec<LogSign> = spectrum
        .iter()
        .map(|&x| momentum::ln_value(start, tick, x, beta))
        .collect::<Result<_>>()?;
    let least = values[..wanted].iter().fold(f64::INFINITY, |m, v| m.min(v.ln_abs));
    let most = values[wanted..].iter().fold(f64::NEG_INFINITY, |m, v| m.max(v.ln_abs));
    if least == f64::NEG_INFINITY {
        return Err(ErrorKind::Orthogonal { cosine: 0.0 }.into());
    }
    Ok((most - least).exp())
}

/// $d_0/\sqrt{1-d_0^2}$, the tangent of the largest principal angle.
///
/// # Errors
/// `OutOfRange` unless $0\le d_0<1$: at distance 1 no polynomial helps.
///
/// # Example
/// ```
/// assert!((favard_theory::block::tangent(0.6)? - 0.75).abs() < 1e-15);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., Lemma bp.
pub fn tangent(distance: f64) -> Result<f64> {
    check::within("distance", distance, 0.0, 1.0 - f64::EPSILON / 2.0)?;
    Ok(distance / ((1.0 - distance) * (1.0 + distance)).sqrt())
}

/// The distance $\|P_1-P_2\|$ of the ranges of two matrices with as many columns.
///
/// The largest sine of a principal angle: $\|(I-Q_2Q_2^T)Q_1\|$, so that small distances keep their
/// digits. Two thin QRs and a singular value problem of the number of columns.
///
/// # Errors
/// `Shape` if the shapes differ; `Count` if there are more columns than rows; `NonFinite`.
///
/// # Example
/// ```
/// use ndarray::array;
/// let (x, y) = (array![[1.0], [0.0]], array![[3.0], [4.0]]);
/// let distance = favard_theory::block::distance(x.view(), y.view())?;
/// assert!((distance - 0.8).abs() < 1e-15);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., definition before Lemma bp.
pub fn distance(left: ArrayView2<f64>, right: ArrayView2<f64>) -> Result<f64> {
    check::size("right rows", right.nrows(), left.nrows())?;
    check::size("right columns", right.ncols(), left.ncols())?;
    let basis = dense::orthonormal_basis("left", left)?;
    let other = dense::orthonormal_basis("right", right)?;
    let overlap = other.t().dot(&basis);
    let rest: Array2<f64> = &basis - &other.dot(&overlap);
    Ok(dense::norm("distance", rest.view())?.min(1.0))
}
