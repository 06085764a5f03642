//! [`Power`]: the power iteration.

use favard_engine::Engine;
use favard_engine::gauge::PeriodicQr;
use favard_engine::map::Exact;
use favard_engine::recurrence;
use favard_operator::{LinearOperator, Scalar};

use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// The power iteration $F_{t+1} = A F_t$, for a block with a QR a step (subspace iteration).
///
/// $O(\frac{1}{\Delta} \log \frac{1}{\epsilon})$ products with the relative gap Δ behind the block:
/// the yardstick for the others. Memory: three blocks.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, Power};
/// use favard_operator::Diagonal;
/// let op = Diagonal::new(vec![1.0, 0.5, 0.2])?;
/// let found = Eigensolver::new(Power, 1).guard(0).solve(&op)?;
/// assert!((found.values[0] - 1.0_f64).abs() < 1e-8 && found.info.iterations > 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Power;

impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for Power {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let start = task.block(task.guard(task.full_line()))?;
        let gauge = PeriodicQr::new(start.cols(), 1)?;
        let engine = Engine::new(Exact::new(task.op)?, recurrence::Power, start)?;
        task.run(engine.with_gauge(gauge))
    }
}
