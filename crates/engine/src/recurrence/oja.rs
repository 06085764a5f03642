//! [`Oja`]: small steps, with or without momentum.

use favard_operator::Scalar;

use super::{Progress, Recurrence, Triple};
use crate::Memory;
use crate::error::{Result, check_non_negative};

/// $F_{t+1} = F_t + \eta \Phi_t(F_t) - \beta F_{t-1}$: power iteration with momentum on
/// $I + \eta A_t$.
///
/// With β = 0 it is Oja's rule, whose step η trades speed for noise. The best momentum is
/// $\beta = (1 + \eta \lambda_2)^2 / 4$; on single samples it does not accelerate, because the noise
/// ball grows with it.
///
/// # Example
/// ```
/// use favard_engine::recurrence::Oja;
/// let (step, lambda2) = (1e-3, 0.9);
/// let plain = Oja::new(step, 0.0)?;
/// let momentum = Oja::new(step, (1.0_f64 + step * lambda2).powi(2) / 4.0)?;
/// # Ok::<(), favard_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oja<T> {
    step: T,
    beta: T,
}

impl<T: Scalar> Oja<T> {
    /// Step η and momentum β.
    ///
    /// # Errors
    /// When either is negative or not finite.
    pub fn new(step: T, beta: T) -> Result<Self> {
        check_non_negative("step", step.as_f64())?;
        check_non_negative("beta", beta.as_f64())?;
        Ok(Self { step, beta })
    }
}

impl<T: Scalar> Recurrence<T> for Oja<T> {
    fn name(&self) -> &'static str {
        "oja"
    }

    fn triple(&mut self, _: &Progress<'_, T>) -> Triple<T> {
        Triple { a: self.step, b: T::one(), c: self.beta }
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("oja").scalars([self.step, self.beta])
    }
}
