//! [`Power`]: the power iteration.

use favard_operator::Scalar;

use super::{Progress, Recurrence, Triple};

/// $F_{t+1} = \Phi_t(F_t)$: the polynomial $x^t$.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::Norm, map::Exact, recurrence::Power};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[2.0, 1.0], [1.0, 2.0]])?;
/// let start = Block::column(&[1.0, 0.0]);
/// let mut engine = Engine::new(Exact::new(op)?, Power, start)?.with_gauge(Norm);
/// for _ in 0..40 {
///     engine.advance()?;
/// }
/// let half = 0.5_f64.sqrt();
/// assert!((engine.block().row(0)[0] - half).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Power;

impl<T: Scalar> Recurrence<T> for Power {
    fn name(&self) -> &'static str {
        "power"
    }

    fn triple(&mut self, _: &Progress<'_, T>) -> Triple<T> {
        Triple { a: T::one(), b: T::zero(), c: T::zero() }
    }
}
