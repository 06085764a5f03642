//! [`Average`]: the mean of the iterates.

use favard_operator::{Block, Result as OperatorResult, Scalar, ops};

use super::{Readout, ReadoutFits, take_block};
use crate::Memory;
use crate::error::Result;
use crate::gauge::NoGauge;

/// The answer is the running mean of the iterates after the first `skip` steps,
/// $\bar F_t = \bar F_{t-1} + (F_t - \bar F_{t-1}) / (t - \text{skip})$: what averages the noise of
/// stochastic least squares out.
///
/// # Example
/// ```
/// use favard_engine::{Engine, map::Exact, readout::Average, recurrence::Power};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[2.0]])?;
/// let mut engine = Engine::new(Exact::new(op)?, Power, Block::column(&[1.0]))?
///     .with_readout(Average::new(1))?;
/// for _ in 0..3 {
///     engine.advance()?;
/// }
/// assert_eq!(engine.answer().row(0), &[6.0]); // (4 + 8) / 2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Average<T> {
    mean: Block<T>,
    skip: u64,
    count: u64,
}

impl<T: Scalar> Average<T> {
    /// The mean of all iterates after the first `skip` steps; before that, the last iterate.
    #[must_use]
    pub fn new(skip: u64) -> Self {
        Self { mean: Block::zeros(0, 0), skip, count: 0 }
    }
}

impl<T: Scalar> Readout<T> for Average<T> {
    fn name(&self) -> &'static str {
        "average"
    }

    fn absorb(&mut self, tick: u64, cur: &Block<T>) -> OperatorResult<()> {
        if self.mean.shape() != cur.shape() {
            self.mean = Block::zeros(cur.rows(), cur.cols());
        }
        if tick > self.skip {
            self.count += 1;
            let weight = T::of_count(usize::try_from(self.count).unwrap_or(usize::MAX)).recip();
            // mean ← (1 − 1/n) mean + (1/n) F
            ops::axpby(weight, cur.as_ref(), T::one() - weight, self.mean.as_mut())?;
        }
        Ok(())
    }

    fn answer<'a>(&'a self, cur: &'a Block<T>) -> &'a Block<T> {
        if self.count == 0 { cur } else { &self.mean }
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("average").counters([self.skip, self.count]).blocks([self.mean.clone()])
    }

    fn restore(&mut self, mut memory: Memory<T>) -> Result<()> {
        let count = memory.counters.pop().unwrap_or(0);
        memory.check_same(&Memory::of("average").counters([self.skip]))?;
        self.count = count;
        take_block(memory, &mut self.mean);
        Ok(())
    }
}

impl<T> ReadoutFits<NoGauge> for Average<T> {}
