//! [`Ends`]: where the spectrum of $M^T M$ lies.

use faer::Mat;
use favard_operator::{AdjointOperator, Block, Scalar, Workspace};
use serde::{Deserialize, Serialize};

use super::cg::Cg;
use crate::error::{ErrorKind, Result};
use crate::symmetric::symmetric_eigen;

/// The ends of the spectrum of $M^T M$ on the range of $M^T$, from a few steps of Lanczos.
///
/// Ritz values lie inside the spectrum: `high` is from below, `low` from above.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ends {
    /// The smallest Ritz value that is not rounding.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Steps, each one pass.
    pub steps: u64,
}

impl Ends {
    /// Given bounds.
    ///
    /// # Errors
    /// Unless 0 < low ≤ high < ∞.
    pub fn given((low, high): (f64, f64)) -> Result<Self> {
        if low > 0.0 && high >= low && high.is_finite() {
            return Ok(Self { low, high, steps: 0 });
        }
        let need = "as the lower bound must be above 0 and at most the upper one";
        Err(ErrorKind::Parameter { name: "bounds", value: low, need }.into())
    }

    /// κ = high / low.
    pub fn condition(&self) -> f64 {
        self.high / self.low
    }

    /// From the coefficients (α, β) of conjugate gradients: the matrix of Lanczos has
    /// 1/αₖ + βₖ₋₁/αₖ₋₁ on its diagonal and √βₖ/αₖ beside it.
    pub fn of_coefficients(coefficients: &[(f64, f64)]) -> Result<Option<Self>> {
        // A few hundred settle the ends; the eigenproblem grows with their cube.
        let used = &coefficients[..coefficients.len().min(300)];
        if used.is_empty() {
            return Ok(None);
        }
        let mut matrix = Mat::<f64>::zeros(used.len(), used.len());
        for (k, &(alpha, beta)) in used.iter().enumerate() {
            let carried = if k == 0 { 0.0 } else { used[k - 1].1 / used[k - 1].0 };
            matrix[(k, k)] = alpha.recip() + carried;
            if k + 1 < used.len() {
                let beside = beta.sqrt() / alpha;
                (matrix[(k, k + 1)], matrix[(k + 1, k)]) = (beside, beside);
            }
        }
        let (values, _) = symmetric_eigen(matrix.as_ref())?;
        let high = values.first().copied().unwrap_or(0.0);
        let rounding = f64::EPSILON * used.len() as f64 * high;
        let low = values.into_iter().filter(|&value| value > rounding).fold(high, f64::min);
        Ok((high > 0.0).then_some(Self { low, high, steps: used.len() as u64 }))
    }

    /// From `steps` products with the operator, from a random direction. `None` for the operator
    /// zero.
    pub fn estimate<T: Scalar>(
        op: &dyn AdjointOperator<T>,
        steps: u64,
        seed: u64,
        ws: &mut Workspace<T>,
    ) -> Result<Option<Self>> {
        let dim = op.shape().1;
        let ones = vec![T::one(); dim];
        let mut cg = Cg::new(&ones, Block::gaussian(dim, 1, seed));
        for _ in 0..steps.min(dim as u64) {
            let lengths = cg.multiply(op, ws)?;
            let goes = lengths[0].is_finite() && lengths[0] > T::zero();
            if !goes {
                break;
            }
            cg.advance(&[true]);
        }
        Self::of_coefficients(cg.coefficients())
    }
}
