//! [`Options`]: what every solver can be told.

use crate::error::{ErrorKind, Result, check_count};

/// What every solver can be told; the method's own parameters stay with the method.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, Power};
/// let solver = Eigensolver::new(Power, 3).tolerance(1e-6).seed(7);
/// assert_eq!((solver.options().components, solver.options().seed), (3, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// k, the number of eigenpairs.
    pub components: usize,
    /// Columns beside the k wanted ones; `None` for the method's own choice.
    pub guard: Option<usize>,
    /// Residuals relative to the largest Ritz value at which a run ends; 0 for never.
    pub tolerance: f64,
    /// Passes over the data at most, the last one included, which recomputes the residuals.
    pub passes: f64,
    /// The seed of the start block and of the samples.
    pub seed: u64,
}

impl Options {
    /// k components, tolerance 1e-8, at most 1000 passes, seed 1.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { components, guard: None, tolerance: 1e-8, passes: 1000.0, seed: 1 }
    }

    /// The dimension of an operator of this shape, once everything here is in its range.
    ///
    /// # Errors
    /// When the operator is not square, when k is 0 or above the dimension, when the tolerance is
    /// negative or not finite, or when the budget is not positive.
    pub(super) fn check(&self, shape: (usize, usize)) -> Result<usize> {
        let (rows, cols) = shape;
        if rows != cols {
            let kind = favard_operator::ErrorKind::NotSquare { what: "eigensolver", rows, cols };
            return Err(favard_operator::Error::from(kind).into());
        }
        check_count("components", self.components, rows, "the dimension of the operator")?;
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            let (name, value) = ("tolerance", self.tolerance);
            let need = "must be finite and at least 0";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        // An infinite budget is the caller's word that something else ends the run.
        if self.passes.is_nan() || self.passes <= 0.0 {
            let (name, value, need) = ("passes", self.passes, "must be above 0");
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        Ok(rows)
    }
}
