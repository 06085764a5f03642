//! [`PowerMomentum`]: the power iteration with momentum.

use favard_engine::Engine;
use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Exact;
use favard_engine::recurrence::{Momentum, Recurrence, Start};
use favard_operator::{LinearOperator, Scalar};

use super::calm::Calm;
use super::{Method, Task};
use crate::Eigen;
use crate::error::{ErrorKind, Result};

/// Power+M of the paper, $F_{t+1} = A F_t - \beta F_{t-1}$, in the stable form (A'').
///
/// $O(\frac{1}{\sqrt\Delta} \log \frac{1}{\epsilon})$ products. β is given, or it follows the guard
/// columns: $2\sqrt\beta_t = \max_{s \le t} \theta_{k+1}(s)$ with the Ritz value behind the wanted
/// ones. That value is never above $\lambda_{k+1}$, so β is never too large. Memory: three blocks.
///
/// The operator may be indefinite as long as $|\lambda_d| < \lambda_k$ (erratum 2.7).
///
/// # Example
/// ```
/// use favard_engine::recurrence::Start;
/// use favard_models::solvers::{Eigensolver, PowerMomentum};
/// use favard_operator::Diagonal;
/// let op = Diagonal::new((0..100).map(|i| 1.0 - 0.01 * f64::from(i)).collect())?;
/// let known = PowerMomentum::default().beta(0.99 * 0.99 / 4.0).start(Start::T);
/// let found = Eigensolver::new(known, 1).guard(0).solve(&op)?;
/// let own = Eigensolver::new(PowerMomentum::default(), 1).solve(&op)?; // β from the guard columns
/// assert!((found.values[0] - 1.0).abs() < 1e-8 && (own.values[0] - 1.0).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// De Sa, He, Mitliagkas, Ré, Xu, "Accelerated Stochastic Power Iteration", updates (A), (A'').
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PowerMomentum {
    beta: Option<f64>,
    start: Start,
}

impl PowerMomentum {
    /// β, best $\lambda_{k+1}^2/4$; without it the guard columns tell.
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta: Some(beta), ..self }
    }

    /// Which of the two families; U unless said otherwise.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }
}

/// Runs a momentum recurrence on the exact map in the stable form (A'').
pub(super) fn stable<T: Scalar, A: LinearOperator<T> + ?Sized>(
    mut task: Task<'_, T, A>,
    guard: usize,
    recurrence: impl Recurrence<T>,
) -> Result<Eigen<T>> {
    let start = task.block(guard)?;
    let gauge = AugmentedQr::new(start.cols());
    let engine = Engine::new(Exact::new(task.op)?, recurrence, start)?;
    task.run(engine.with_gauge(gauge))
}

/// `Ok` when there is a guard column to learn from, or no room for one.
pub(super) fn check_guard(guard: usize, components: usize, dim: usize) -> Result<()> {
    if guard == 0 && components < dim {
        let (name, value) = ("guard", 0.0);
        let need = "must be at least 1 column when the method has to find its own parameters";
        return Err(ErrorKind::Parameter { name, value, need }.into());
    }
    Ok(())
}

impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for PowerMomentum {
    fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let guard = task.guard(task.full_line());
        let components = task.options.components;
        if let Some(beta) = self.beta {
            return stable(task, guard, Momentum::new(T::of(beta), self.start)?);
        }
        check_guard(guard, components, task.op.shape().0)?;
        stable(task, guard, Calm::guarded(None, components, self.start))
    }
}
