//! [`Dynamic`]: momentum whose β follows the residuals.

use favard_operator::Scalar;

use super::{Progress, Recurrence, Triple};
use crate::Memory;
use crate::error::Result;

/// $F_{t+1} = A F_t - \beta_t F_{t-1}$ with β from the last two residuals:
///
/// $$ \rho = \min(d_t / d_{t-1}, 1), \quad r = \frac{2\rho}{1 + \rho^2}, \quad
///    \beta_t = \tfrac14 \nu_t^2 r^2, $$
///
/// with the Ritz value $\nu_t$ and the residual $d_t$ of the last pair of the block. The observed
/// rate ρ of momentum and $\lambda_{k+1}/\lambda_k = r$ belong together, so β settles at
/// $\lambda_{k+1}^2/4$ without anyone knowing $\lambda_{k+1}$. One product a step.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::Norm, map::Exact, recurrence::Dynamic};
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.0, 0.99, 0.5, 0.2])?;
/// let start = Block::column(&[0.5; 4]);
/// let mut engine = Engine::new(Exact::new(op)?, Dynamic::default(), start)?.with_gauge(Norm);
/// for _ in 0..150 {
///     engine.advance()?;
/// }
/// let rest: f64 = engine.block().row(1)[0];
/// assert!(rest.abs() < 1e-7); // power: 0.99^150 = 0.22
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Austin, Pollock, Zhu, "Dynamically accelerating the power iteration with momentum", 2024.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Dynamic<T> {
    /// $d_{t-1}$.
    residual: Option<T>,
    beta: T,
}

impl<T: Scalar> Dynamic<T> {
    /// β of the last step.
    pub fn beta(&self) -> T {
        self.beta
    }
}

impl<T: Scalar> Recurrence<T> for Dynamic<T> {
    fn name(&self) -> &'static str {
        "dynamic momentum"
    }

    fn wants_measure(&self) -> bool {
        true
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        if progress.phase == 0 {
            self.residual = None;
        }
        let last = progress.measure.and_then(|m| Some((*m.ritz.last()?, *m.residuals.last()?)));
        let (ritz, residual) = last.unwrap_or((T::zero(), T::zero()));
        self.beta = match self.residual {
            Some(before) if before > T::zero() => {
                // ρ = min(d_t / d_{t−1}, 1), r = 2ρ/(1 + ρ²), β = ν² r² / 4
                let rho = (residual / before).min(T::one());
                let r = T::of(2.0) * rho / (T::one() + rho * rho);
                ritz * ritz * r * r / T::of(4.0)
            }
            _ => T::zero(),
        };
        self.residual = Some(residual);
        Triple { a: T::one(), b: T::zero(), c: self.beta }
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("dynamic momentum").scalars([self.beta]).scalars(self.residual)
    }

    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        memory.check_name("dynamic momentum")?;
        let mut scalars = memory.scalars.into_iter();
        self.beta = scalars.next().unwrap_or(T::zero());
        self.residual = scalars.next();
        Ok(())
    }
}
