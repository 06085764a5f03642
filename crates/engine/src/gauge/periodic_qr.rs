//! [`PeriodicQr`]: an orthonormal block every m ticks.

use favard_operator::{Block, Orthonormalizer, Result as OperatorResult, Scalar, Workspace};

use super::{Gauge, GaugeFits};
use crate::Memory;
use crate::error::{ErrorKind, Result};
use crate::map::Homogeneous;

/// $F_{t+1} = Q R$ every m ticks; then $F_{t+1} \leftarrow Q$ and $F_t \leftarrow F_t R^{-1}$.
///
/// With m = 1 and the power recurrence it is orthogonal (subspace) iteration. Between two
/// factorisations the columns grow apart by the ratio of the largest to the smallest eigenvalue
/// that matters, to the power m: choose m so that this stays far below 1/ε.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::PeriodicQr, map::Exact, recurrence::Power};
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.0, 0.5, 0.1])?;
/// let mut engine = Engine::new(Exact::new(op)?, Power, Block::gaussian(3, 2, 1))?
///     .with_gauge(PeriodicQr::new(2, 4)?);
/// for _ in 0..32 {
///     engine.advance()?;
/// }
/// let rest: f64 = engine.block().row(2)[1];
/// assert!(rest.abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PeriodicQr<T> {
    qr: Orthonormalizer<T>,
    every: u64,
}

impl<T: Scalar> PeriodicQr<T> {
    /// For blocks of `cols` columns, every `every` ticks.
    ///
    /// # Errors
    /// When `every` is zero.
    pub fn new(cols: usize, every: u64) -> Result<Self> {
        if every == 0 {
            let (name, need) = ("every", "must be at least one tick");
            return Err(ErrorKind::Parameter { name, value: 0.0, need }.into());
        }
        Ok(Self { qr: Orthonormalizer::new(cols), every })
    }
}

impl<T: Scalar> Gauge<T> for PeriodicQr<T> {
    fn name(&self) -> &'static str {
        "periodic QR"
    }

    fn fix(
        &mut self,
        tick: u64,
        _: &[T],
        cur: &mut Block<T>,
        prev: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        if tick.is_multiple_of(self.every) {
            self.qr.orthonormalize(&mut [cur], ws)?;
            let mut out = ws.take(prev.rows(), prev.cols());
            self.qr.apply_inverse(prev.as_ref(), out.as_mut())?;
            std::mem::swap(prev, &mut out);
            ws.give(out);
        }
        Ok(())
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("periodic QR").counters([self.every])
    }
}

impl<T, M: Homogeneous> GaugeFits<M> for PeriodicQr<T> {}
