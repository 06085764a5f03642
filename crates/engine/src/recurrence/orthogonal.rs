//! [`Orthogonal`]: the recurrence of any family of orthogonal polynomials.

use favard_operator::Scalar;

use super::{Family, Progress, Recurrence, Triple};
use crate::Memory;

/// $F_t = p_t(A) F_0$ for a [`Family`] p: shifted Chebyshev, Legendre, or one's own.
///
/// # Example
/// ```
/// use favard_engine::{Engine, map::Exact, recurrence::{Chebyshev, Orthogonal}};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[0.5]])?;
/// let family = Orthogonal::new(Chebyshev::new(-1.0, 1.0)?);
/// let mut engine = Engine::new(Exact::new(op)?, family, Block::column(&[1.0]))?;
/// for _ in 0..3 {
///     engine.advance()?;
/// }
/// assert_eq!(engine.block().row(0), &[-1.0]); // T₃(1/2) = cos(3 · 60°)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orthogonal<F>(F);

impl<F> Orthogonal<F> {
    /// The recurrence of `family`.
    pub fn new(family: F) -> Self {
        Self(family)
    }
}

impl<T: Scalar, F: Family<T>> Recurrence<T> for Orthogonal<F> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        self.0.coefficients(progress.phase)
    }

    fn memory(&self) -> Memory<T> {
        Memory::of(self.0.name()).scalars(self.0.parameters())
    }
}
