//! [`Curvature`]: the ends of the spectrum of a Hessian.

use std::ops::ControlFlow;

use favard_engine::Record;
use favard_operator::{Block, LinearOperator, Scalar};
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Result};
use crate::{Lanczos, exact_eigen};

/// Products for each end, at most. Thirty Lanczos steps resolve both ends of a spectrum with
/// κ ≈ 100 to about a tenth, and a tenth changes the rate of the heavy ball by a twentieth.
const PRODUCTS: u64 = 30;

/// The condition number beyond which a direction counts as undetermined: it is left alone rather
/// than waited for.
const WORST: f64 = 1e6;

/// The smallest and largest eigenvalue of a positive semidefinite operator, as Lanczos sees them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Curvature {
    pub low: f64,
    pub high: f64,
    /// Products used.
    pub products: u64,
}

impl Curvature {
    /// From the operator H and, for a shift c, the operator $c I - H$ on the space of interest.
    ///
    /// Directions in which H is zero do not count: no gradient ever points along them. Lanczos
    /// starts from a product with H, which has none of them in it.
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
        let (dim, products) = (hessian.shape().0, usize::try_from(PRODUCTS).unwrap_or(usize::MAX));
        if dim <= 2 * products {
            return Self::exact(hessian, dim);
        }
        let plan =
            Lanczos::new(1).width(1).basis(products).products(PRODUCTS).tolerance(1e-2).seed(seed);
        let first = |values: &[T]| values.first().map_or(0.0, |value| value.as_f64());
        let start = hessian.multiply(Block::gaussian(dim, 1, seed).as_ref())?;
        let go_on = &mut |_: &Record<T>| ControlFlow::Continue(());
        let top = plan.solve_watched(hessian, Some(&start), go_on)?;
        let high = first(&top.values) + first(&top.residuals);
        // λ_max(c I − H) = c − λ_min(H)
        let plan = plan.tolerance(1e-3);
        let bottom = plan.solve_watched(&flipped(T::of(high))?, Some(&start), go_on)?;
        let low = high - first(&bottom.values);
        let products = 1 + top.info.applications + bottom.info.applications;
        Self { low: low.max(high / WORST), high, products }.checked()
    }

    /// All eigenvalues of a small operator, those that are not zero by rounding.
    fn exact<T: Scalar, H: LinearOperator<T>>(hessian: &H, dim: usize) -> Result<Self> {
        let found = exact_eigen(hessian, dim)?;
        let high = found.values.first().map_or(0.0, |value| value.as_f64());
        let zero = high * T::EPSILON.as_f64().sqrt();
        let above = found.values.iter().map(|value| value.as_f64()).filter(|&value| value > zero);
        let low = above.fold(high, f64::min).max(high / WORST);
        Self { low, high, products: found.info.applications }.checked()
    }

    fn checked(self) -> Result<Self> {
        if self.high > 0.0 {
            return Ok(self);
        }
        let (name, value) = ("largest curvature", self.high);
        let need = "must be above 0: the misfit does not depend on the unknowns";
        Err(ErrorKind::Parameter { name, value, need }.into())
    }

    /// √κ.
    pub fn root(&self) -> f64 {
        (self.high / self.low).sqrt()
    }
}
