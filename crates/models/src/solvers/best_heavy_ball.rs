//! [`BestHeavyBall`]: β by trial.

use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Exact;
use favard_engine::recurrence;
use favard_engine::{Engine, Stop};
use favard_operator::{LinearOperator, Scalar};

use super::{Method, Residuals, Task};
use crate::Eigen;
use crate::error::Result;

/// The paper's Best Heavy Ball in its restart form (erratum 4.4): five values of β run ten steps
/// each from the same block, the best goes on. 50 products a round: it wins in iterations on flat
/// spectra only, and in products never; [`DynamicMomentum`](super::DynamicMomentum) is the method
/// to use.
///
/// The answer is the winner of the last finished round, or the candidate that met the tolerance.
///
/// # Example
/// ```
/// use favard_models::solvers::{BestHeavyBall, Eigensolver};
/// use favard_operator::Diagonal;
/// let op = Diagonal::new(vec![1.0, 0.9, 0.5, 0.1])?;
/// let found = Eigensolver::new(BestHeavyBall, 1).solve(&op)?;
/// assert!((found.values[0] - 1.0_f64).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BestHeavyBall;

impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for BestHeavyBall {
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        // The score is the sum of all Ritz values: guard columns would have a say in β.
        let start = task.block(task.guard(0))?;
        let gauge = AugmentedQr::new(start.cols());
        let recurrence = recurrence::BestHeavyBall::default();
        let map = Exact::new(task.op)?;
        let mut engine = Engine::new(map, recurrence, start)?.with_gauge(gauge);
        // A candidate takes ten steps.
        task = task.residuals(Residuals::Between(10));
        let info = task.drive(&mut engine)?;
        match engine.recurrence().block() {
            Some(winner) if info.stop != Stop::Converged => task.finish(winner, info),
            _ => task.conclude(&engine, info),
        }
    }
}
