//! [`MiniBatch`]: a few terms of the operator, drawn anew each tick.

use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, StochasticOperator,
    Workspace,
};

use super::draw::fingerprint;
use super::exact::square;
use super::{Cost, Count, Draw, Flow, Homogeneous, StepMap};
use crate::Memory;
use crate::error::Result;

/// $\Phi_t(x) = A_t x$ with $A_t = \sum_{j} w_j A_{t_j}$ a batch whose expectation is $A$.
///
/// With the momentum recurrence this is Algorithm 1 of the paper, with one term and Oja's
/// recurrence it is Oja's method. A tick costs s/N of a pass.
///
/// # Example
/// ```
/// use favard_engine::map::MiniBatch;
/// use favard_operator::{Dense, Gram, Sampler};
/// let rows = Dense::new(ndarray::Array2::<f64>::eye(6))?;
/// let op = Gram::new(rows);
/// let sampler = Sampler::uniform(6, 2, 7)?; // 6 terms, batches of 2, seed 7
/// let map = MiniBatch::new(op, sampler)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct MiniBatch<T, A, S> {
    op: A,
    sampler: S,
    fingerprint: Vec<u64>,
    batch: Batch<T>,
    dim: usize,
    count: Count,
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> MiniBatch<T, A, S> {
    /// The map of a square operator and a source of batches.
    ///
    /// # Errors
    /// When the operator is not square, or empty.
    pub fn new(op: A, mut sampler: S) -> Result<Self> {
        let dim = square("mini-batch map", &op)?;
        let (fingerprint, batch) = (fingerprint(&mut sampler), Batch::default());
        Ok(Self { op, sampler, fingerprint, batch, dim, count: Count::default() })
    }

    /// The operator.
    pub fn operator(&self) -> &A {
        &self.op
    }
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> StepMap<T> for MiniBatch<T, A, S> {
    fn name(&self) -> &'static str {
        "mini-batch"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn prepare(
        &mut self,
        tick: u64,
        _: &mut Block<T>,
        _: &mut Workspace<T>,
    ) -> OperatorResult<Flow> {
        self.sampler.draw(tick, &mut self.batch);
        self.batch.check(self.op.terms())?;
        Ok(Flow::Continue)
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        self.op.apply_terms(&self.batch, alpha, x, gamma, y, ws)?;
        self.count.add(self.batch.len());
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.op.is_infallible()
    }

    fn cost(&self) -> Cost {
        self.count.cost(self.op.terms())
    }

    fn seed(&self) -> Option<u64> {
        self.sampler.seed()
    }

    fn memory(&self) -> Memory<T> {
        Memory::of(self.name()).counters(self.fingerprint.iter().copied())
    }

    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> Result<()> {
        memory.check_same(&self.memory())?;
        self.count = Count::restore(cost, self.op.terms());
        Ok(())
    }
}

impl<T, A, S> Homogeneous for MiniBatch<T, A, S> {}
