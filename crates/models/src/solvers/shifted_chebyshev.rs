//! [`ShiftedChebyshev`]: momentum on a shifted operator.

use favard_engine::recurrence::Start;
use favard_operator::{LinearOperator, Scalar};

use super::calm::Calm;
use super::power_momentum::{check_guard, stable};
use super::{Method, Task};
use crate::Eigen;
use crate::error::{ErrorKind, Result};

/// Chebyshev's filter: the interval $m \pm e$ of the unwanted eigenvalues is kept calm,
///
/// $$ F_{t+1} = (A - m) F_t - \tfrac{e^2}{4} F_{t-1}. $$
///
/// Momentum wastes half of its calm interval $\pm\lambda_{k+1}$ on an operator without negative
/// eigenvalues; here it is $0$ to $\lambda_{k+1}$, and √2 fewer products are needed (erratum 2.5).
/// The upper end is given, or it follows the guard columns as in
/// [`PowerMomentum`](super::PowerMomentum). The lower one is 0 unless said otherwise: an operator
/// with eigenvalues below it is answered with those farthest from the interval's middle.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, ShiftedChebyshev};
/// use favard_operator::Diagonal;
/// let op = Diagonal::new((0..100).map(|i| 1.0 - 0.01 * f64::from(i)).collect())?;
/// let given = Eigensolver::new(ShiftedChebyshev::default().upper(0.98), 2).guard(0).solve(&op)?;
/// let own = Eigensolver::new(ShiftedChebyshev::default(), 2).solve(&op)?;
/// assert!((given.values[1] - 0.99).abs() < 1e-8 && (own.values[1] - 0.99).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftedChebyshev {
    lower: f64,
    upper: Option<f64>,
    start: Start,
}

impl Default for ShiftedChebyshev {
    /// From 0 to the guard columns' Ritz value, T start.
    fn default() -> Self {
        Self { lower: 0.0, upper: None, start: Start::T }
    }
}

impl ShiftedChebyshev {
    /// The lower end of the interval, best $\lambda_d$; 0 unless said otherwise.
    #[must_use]
    pub fn lower(self, lower: f64) -> Self {
        Self { lower, ..self }
    }

    /// The upper end of the interval, best $\lambda_{k+1}$; without it the guard columns tell.
    #[must_use]
    pub fn upper(self, upper: f64) -> Self {
        Self { upper: Some(upper), ..self }
    }

    /// Which of the two families; T unless said otherwise, which is Chebyshev's own.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }
}

impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for ShiftedChebyshev {
    fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let (guard, components) = (task.guard(task.full_line()), task.options.components);
        let bad = |name, value, need| Err(ErrorKind::Parameter { name, value, need }.into());
        if !self.lower.is_finite() {
            return bad("lower", self.lower, "must be finite");
        }
        match self.upper {
            Some(upper) if !upper.is_finite() || upper < self.lower => {
                bad("upper", upper, "must be finite and not below the lower end")
            }
            Some(upper) => {
                let calm = Calm::given(T::of(self.lower), T::of(upper), self.start);
                stable(task, guard, calm)
            }
            None => {
                check_guard(guard, components, task.op.shape().0)?;
                let calm = Calm::guarded(Some(T::of(self.lower)), components, self.start);
                stable(task, guard, calm)
            }
        }
    }
}
