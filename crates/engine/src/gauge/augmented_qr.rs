//! [`AugmentedQr`]: the paper's stable form.

use favard_operator::{Block, Orthonormalizer, Result as OperatorResult, Scalar, Workspace};

use super::{Gauge, GaugeFits};
use crate::map::Homogeneous;

/// $[F_{t+1}; F_t] = Q R$, and $Q$ is the new pair: update (A'') of the paper.
///
/// The stacked pair becomes orthonormal, the block itself does not (erratum 4.3): a readout of
/// eigenvectors ends with a Rayleigh–Ritz step. The diagonal of R tends to
/// $\mu_i = (\lambda_i + \sqrt{\lambda_i^2 - 4\beta})/2$, so $\lambda_i = \mu_i + \beta/\mu_i$.
/// It stays accurate for ever, where scaling alone lets the block collapse and a QR of $F_{t+1}$
/// that leaves $F_t$ behind breaks the recurrence.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::AugmentedQr, map::Exact, recurrence::{Momentum, Start}};
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.0, 0.9, 0.5, 0.1])?;
/// let recurrence = Momentum::new(0.0625, Start::U)?; // 2√β = 0.5
/// let mut engine = Engine::new(Exact::new(op)?, recurrence, Block::gaussian(4, 2, 1))?
///     .with_gauge(AugmentedQr::new(2));
/// for _ in 0..300 {
///     engine.advance()?;
/// }
/// let mu: f64 = engine.gauge().r().row(1)[1];
/// assert!((mu + 0.0625 / mu - 0.9).abs() < 1e-14, "{}", mu + 0.0625 / mu);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AugmentedQr<T> {
    qr: Orthonormalizer<T>,
}

impl<T: Scalar> AugmentedQr<T> {
    /// For blocks of `cols` columns.
    #[must_use]
    pub fn new(cols: usize) -> Self {
        Self { qr: Orthonormalizer::new(cols) }
    }

    /// R of the last step: k × k, upper triangular.
    #[must_use]
    pub fn r(&self) -> &Block<T> {
        self.qr.r()
    }
}

impl<T: Scalar> Gauge<T> for AugmentedQr<T> {
    fn name(&self) -> &'static str {
        "augmented QR"
    }

    fn fix(
        &mut self,
        _: u64,
        _: &[T],
        cur: &mut Block<T>,
        prev: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        self.qr.orthonormalize(&mut [cur, prev], ws)?;
        Ok(())
    }
}

impl<T, M: Homogeneous> GaugeFits<M> for AugmentedQr<T> {}
