//! [`Curvature`]: the ends of the spectrum of a Hessian.

use favard_operator::{LinearOperator, Scalar};

use crate::Lanczos;
use crate::error::Result;

/// Products for each end, at most. Thirty Lanczos steps resolve both ends of a spectrum with
/// κ ≈ 100 to about a tenth, and a tenth changes the rate of the heavy ball by a twentieth.
const PRODUCTS: u64 = 30;

/// The condition number beyond which a direction counts as undetermined: it is left alone rather
/// than waited for.
const WORST: f64 = 1e6;

/// The smallest and largest eigenvalue of a positive semidefinite operator, as Lanczos sees them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Curvature {
    pub low: f64,
    pub high: f64,
    /// Products used.
    pub products: u64,
}

impl Curvature {
    /// From the operator H and, for a shift c, the operator $c I - H$ on the space of interest.
    ///
    /// The upper end is the largest Ritz value and its residual, a bound up to the Ritz vectors
    /// that 30 steps have missed. The lower end is the smallest Ritz value, which lies above the
    /// true one: β comes out a little small, which costs a few steps and never diverges.
    pub fn of<T, H, F>(hessian: &H, flipped: impl FnOnce(T) -> Result<F>, seed: u64) -> Result<Self>
    where
        T: Scalar,
        H: LinearOperator<T>,
        F: LinearOperator<T>,
    {
        let plan = Lanczos::new(1)
            .width(1)
            .basis(usize::try_from(PRODUCTS).unwrap_or(usize::MAX))
            .products(PRODUCTS)
            .tolerance(1e-2)
            .seed(seed);
        let first = |values: &[T]| values.first().map_or(0.0, |value| value.as_f64());
        let top = plan.solve(hessian)?;
        let high = first(&top.values) + first(&top.residuals);
        // λ_max(c I − H) = c − λ_min(H)
        let bottom = plan.tolerance(1e-3).solve(&flipped(T::of(high))?)?;
        let low = high - first(&bottom.values);
        let products = top.info.applications + bottom.info.applications;
        Ok(Self { low: low.max(high / WORST), high, products })
    }

    /// √κ.
    pub fn root(&self) -> f64 {
        (self.high / self.low).sqrt()
    }
}
