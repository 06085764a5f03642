//! [`DynamicMomentum`]: β from the residuals.

use favard_engine::recurrence::Dynamic;
use favard_operator::{LinearOperator, Scalar};

use super::power_momentum::stable;
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// Power+M whose β follows the last two residuals of the block's last pair, in the stable form
/// (A''): nothing to tune, one product a step, and as fast as the best fixed β.
///
/// # Example
/// ```
/// use favard_models::solvers::{DynamicMomentum, Eigensolver};
/// use favard_operator::Diagonal;
/// let op = Diagonal::new((0..100).map(|i| 1.0 - 0.01 * f64::from(i)).collect())?;
/// let found = Eigensolver::new(DynamicMomentum, 2).solve(&op)?;
/// assert!((found.values[1] - 0.99).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Austin, Pollock, Zhu, "Dynamically accelerating the power iteration with momentum", 2024.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DynamicMomentum;

impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for DynamicMomentum {
    fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let guard = task.guard(task.full_line());
        stable(task, guard, Dynamic::default())
    }
}
