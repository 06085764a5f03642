//! [`Optimal`]: the best combination of all iterates for a spectral measure.

use favard_operator::{Block, Result as OperatorResult, Scalar, ops};

use super::{Readout, ReadoutFits, take_block};
use crate::Memory;
use crate::error::Result;
use crate::gauge::NoGauge;
use crate::recurrence::{Family, Ratios};

/// The inhomogeneous optimal combination of the paper: of all polynomials of degree t with value 1
/// at $\tilde\lambda_1$, the one with the least mean square over a measure μ,
///
/// $$ f_t = \frac{\sum_{j \le t} q_j(\tilde\lambda_1)\, q_j}{\sum_{j \le t} q_j(\tilde\lambda_1)^2}, $$
///
/// with q the orthonormal polynomials of μ. In the ratio form that cannot overflow (erratum 4.8):
/// $w_{t+1} = w_t + \gamma_{t+1} (\hat p_{t+1} - w_t)$, $\gamma_{t+1} = \tau_t^2 \gamma_t / (1 +
/// \tau_t^2 \gamma_t)$. The iterates must be $\hat p_t = q_t(A) w_0 / q_t(\tilde\lambda_1)$: use it
/// with [`Normalized`](crate::recurrence::Normalized) of the same family and point.
///
/// # Example
/// ```
/// use favard_engine::{Engine, map::Exact, readout::Optimal, recurrence::{Legendre, Normalized}};
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.001, 0.9, 0.2, -0.7])?;
/// let recurrence = Normalized::new(Legendre, 1.001)?;
/// let mut engine = Engine::new(Exact::new(op)?, recurrence, Block::column(&[0.5; 4]))?
///     .with_readout(Optimal::new(Legendre, 1.001)?)?;
/// engine.advance()?;
/// assert!((engine.answer().row(1)[0] - 0.46214393748581817_f64).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Optimal<T, F> {
    ratios: Ratios<T, F>,
    gamma: T,
    combination: Block<T>,
}

impl<T: Scalar, F: Family<T> + Clone> Optimal<T, F> {
    /// For the measure of an orthonormal `family` and the point $\tilde\lambda_1$, an estimate of
    /// the largest eigenvalue above the support of the measure.
    ///
    /// # Errors
    /// When the point is not finite, or not above the support.
    pub fn new(family: F, lambda: T) -> Result<Self> {
        let ratios = Ratios::new(family, lambda)?;
        ratios.check_above()?;
        Ok(Self { ratios, gamma: T::one(), combination: Block::zeros(0, 0) })
    }
}

impl<T: Scalar, F: Family<T>> Optimal<T, F> {
    /// γ of the last step.
    pub fn gamma(&self) -> T {
        self.gamma
    }
}

impl<T: Scalar, F: Family<T>> Readout<T> for Optimal<T, F> {
    fn name(&self) -> &'static str {
        "optimal"
    }

    fn absorb(&mut self, tick: u64, cur: &Block<T>) -> OperatorResult<()> {
        if tick == 0 {
            // r₀ = 1, w₀
            self.ratios.reset();
            (self.gamma, self.combination) = (T::one(), cur.clone());
            return Ok(());
        }
        // γ ← τ²γ / (1 + τ²γ), w ← w + γ (p̂ − w)
        let tau = self.ratios.next_ratio();
        let grown = tau * tau * self.gamma;
        self.gamma = grown / (T::one() + grown);
        let rest = T::one() - self.gamma;
        ops::axpby(self.gamma, cur.as_ref(), rest, self.combination.as_mut())
    }

    fn answer<'a>(&'a self, _: &'a Block<T>) -> &'a Block<T> {
        &self.combination
    }

    fn memory(&self) -> Memory<T> {
        let mut memory = self.ratios.memory("optimal");
        memory.scalars.insert(0, self.gamma);
        memory.blocks([self.combination.clone()])
    }

    fn restore(&mut self, mut memory: Memory<T>) -> Result<()> {
        let gamma = if memory.scalars.is_empty() { T::one() } else { memory.scalars.remove(0) };
        self.ratios.restore(&memory, "optimal")?;
        self.gamma = gamma;
        take_block(memory, &mut self.combination);
        Ok(())
    }
}

impl<T, F> ReadoutFits<NoGauge> for Optimal<T, F> {}
