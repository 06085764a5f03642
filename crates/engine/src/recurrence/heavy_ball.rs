//! [`HeavyBall`]: gradient descent with momentum.

use favard_operator::Scalar;

use super::{Progress, Recurrence, Triple};
use crate::Memory;
use crate::error::{Result, check, check_non_negative};

/// $x_{t+1} = x_t - \eta \Phi_t(x_t) + \beta (x_t - x_{t-1})$ with $\Phi_t$ a gradient
/// ([`Affine`](crate::map::Affine), [`Svrg`](crate::map::Svrg)).
///
/// At a start or restart $x_{-1} = x_0$: the first step is a plain gradient step.
///
/// # Example
/// Solve $A x = b$ with Polyak's parameters for a spectrum within $[1, 100]$:
/// ```
/// use favard_engine::{Engine, map::{Affine, Exact}, recurrence::HeavyBall};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[1.0, 0.0], [0.0, 100.0]])?;
/// let map = Affine::new(Exact::new(op)?, Block::column(&[1.0, 100.0]))?;
/// let mut engine = Engine::new(map, HeavyBall::polyak(1.0, 100.0)?, Block::zeros(2, 1))?;
/// for _ in 0..250 {
///     engine.advance()?;
/// }
/// assert!((engine.block().row(0)[0] - 1.0_f64).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeavyBall<T> {
    step: T,
    beta: T,
}

impl<T: Scalar> HeavyBall<T> {
    /// Step η and momentum β.
    ///
    /// # Errors
    /// When either is negative or not finite.
    pub fn new(step: T, beta: T) -> Result<Self> {
        check_non_negative("step", step.as_f64())?;
        check_non_negative("beta", beta.as_f64())?;
        Ok(Self { step, beta })
    }

    /// Polyak's parameters for a Hessian with spectrum within `[low, high]`:
    /// $\eta = 4 / (\sqrt{h_1} + \sqrt{h_d})^2$, $\sqrt\beta = (\sqrt\kappa - 1)/(\sqrt\kappa + 1)$.
    ///
    /// # Errors
    /// Unless 0 < low ≤ high < ∞.
    pub fn polyak(low: T, high: T) -> Result<Self> {
        check("low", low.as_f64(), low > T::zero(), "must be finite and above 0")?;
        check("high", high.as_f64(), high >= low, "must be finite and at least the lower bound")?;
        let (low, high) = (low.sqrt(), high.sqrt());
        let ratio = (high - low) / (high + low);
        Self::new(T::of(4.0) / ((high + low) * (high + low)), ratio * ratio)
    }
}

impl<T: Scalar> Recurrence<T> for HeavyBall<T> {
    fn name(&self) -> &'static str {
        "heavy ball"
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        let c = if progress.phase == 0 { T::zero() } else { self.beta };
        Triple { a: -self.step, b: T::one() + c, c }
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("heavy ball").scalars([self.step, self.beta])
    }
}
