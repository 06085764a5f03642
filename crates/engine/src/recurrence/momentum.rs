//! [`Momentum`]: the power iteration with momentum.

use favard_operator::Scalar;

use super::{Progress, Recurrence, Triple};
use crate::Memory;
use crate::error::{Result, check_non_negative};

/// Which of the two polynomial families a momentum recurrence follows (erratum 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// $p_1(x) = x / 2$, so $p_t(x) = \beta^{t/2} T_t(x / 2\sqrt\beta)$: the first product is
    /// halved. Best for the worst case at $\lambda_2 = 2 \sqrt\beta$.
    T,
    /// $p_1(x) = x$, so $p_t(x) = \beta^{t/2} U_t(x / 2\sqrt\beta)$: the plain $w_{-1} = 0$ of the
    /// paper's algorithms. Far better on spread spectra.
    #[default]
    U,
}

impl Start {
    /// The factor of the first product.
    pub(super) fn factor<T: Scalar>(self, phase: u64) -> T {
        if phase == 0 && self == Start::T { T::of(0.5) } else { T::one() }
    }
}

/// $F_{t+1} = \Phi_t(F_t) - \beta F_{t-1}$: Power+M of the paper.
///
/// Eigenvalues up to $2\sqrt\beta$ in absolute value stay calm, larger ones explode; the best
/// choice is $\beta = \lambda_{k+1}^2 / 4$ for a block of k columns, and the iterations then go with
/// $1/\sqrt\Delta$ instead of $1/\Delta$.
///
/// # Example
/// ```
/// use favard_engine::recurrence::{Momentum, Start};
/// let lambda2: f64 = 0.9;
/// let recurrence = Momentum::new(lambda2 * lambda2 / 4.0, Start::U)?;
/// assert_eq!(recurrence.beta(), 0.2025);
/// # Ok::<(), favard_engine::Error>(())
/// ```
///
/// # Reference
/// De Sa, He, Mitliagkas, Ré, Xu, "Accelerated Stochastic Power Iteration", update (A).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Momentum<T> {
    beta: T,
    start: Start,
}

impl<T: Scalar> Momentum<T> {
    /// Momentum β with one of the two starts.
    ///
    /// # Errors
    /// When β is negative or not finite.
    pub fn new(beta: T, start: Start) -> Result<Self> {
        check_non_negative("beta", beta.as_f64())?;
        Ok(Self { beta, start })
    }

    /// β.
    pub fn beta(&self) -> T {
        self.beta
    }
}

impl<T: Scalar> Recurrence<T> for Momentum<T> {
    fn name(&self) -> &'static str {
        "momentum"
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        Triple { a: self.start.factor(progress.phase), b: T::zero(), c: self.beta }
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("momentum").scalars([self.beta]).counters([u64::from(self.start == Start::T)])
    }
}
