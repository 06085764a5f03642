//! [`Svrg`]: the variance-reduced form of an affine map.

use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, StochasticOperator,
    Workspace, ops,
};

use super::affine::check_rhs;
use super::anchor::Anchor;
use super::draw::fingerprint;
use super::exact::square;
use super::{Cost, Count, Draw, Flow, StepMap};
use crate::Memory;
use crate::error::Result;
use crate::memory::digest_block;

/// $\Phi_t(x) = A_t (x - \tilde x) + (A \tilde x - B)$, which is
/// $\nabla f_t(x) - \nabla f_t(\tilde x) + \nabla f(\tilde x)$ when $A x - B$ is the gradient of a
/// quadratic (Johnson and Zhang, 2013).
///
/// The anchor $\tilde x$ is the block at the start of each epoch; its exact image costs one pass.
/// Unlike [`VarianceReduced`](super::VarianceReduced) the map is affine: it takes no gauge, and the
/// older block is kept from epoch to epoch, so that heavy-ball momentum carries on.
///
/// # Example
/// ```
/// use favard_engine::map::Svrg;
/// use favard_operator::{Block, Dense, Gram, Sampler};
/// let op = Gram::new(Dense::new(ndarray::Array2::<f64>::eye(6))?);
/// let map = Svrg::new(op, Block::zeros(6, 1), Sampler::uniform(6, 2, 7)?, 10)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Svrg<T: Scalar, A, S> {
    op: A,
    rhs: Block<T>,
    sampler: S,
    /// Of the batches, and of B.
    fingerprint: Vec<u64>,
    batch: Batch<T>,
    anchor: Anchor<T>,
    count: Count,
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> Svrg<T, A, S> {
    /// The map of a square operator A, a right-hand side B, a source of batches, and the length of
    /// an epoch in ticks.
    ///
    /// # Errors
    /// When the operator is not square or empty, when B has another number of rows or an entry that
    /// is not finite, or when the epoch has no ticks.
    pub fn new(op: A, rhs: Block<T>, mut sampler: S, epoch: u64) -> Result<Self> {
        check_rhs(square("SVRG map", &op)?, &rhs)?;
        let mut fingerprint = fingerprint(&mut sampler);
        fingerprint.push(digest_block(&rhs));
        let (anchor, batch, count) = (Anchor::new(epoch)?, Batch::default(), Count::default());
        Ok(Self { op, rhs, sampler, fingerprint, batch, anchor, count })
    }
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> StepMap<T> for Svrg<T, A, S> {
    fn name(&self) -> &'static str {
        "svrg"
    }

    fn dim(&self) -> usize {
        self.rhs.rows()
    }

    fn cols(&self) -> Option<usize> {
        Some(self.rhs.cols())
    }

    fn prepare(
        &mut self,
        tick: u64,
        cur: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<Flow> {
        self.sampler.draw(tick, &mut self.batch);
        self.batch.check(self.op.terms())?;
        if self.anchor.is_due(tick) {
            self.anchor.fit(self.rhs.shape());
            let Anchor { block, image, taken, .. } = &mut self.anchor;
            *taken = None;
            // image = A x̃ − B
            block.assign(cur.as_ref())?;
            image.assign(self.rhs.as_ref())?;
            self.op.apply(T::one(), block.as_ref(), -T::one(), image.as_mut(), ws)?;
            self.count.add(self.op.terms());
            *taken = Some(tick);
        }
        Ok(Flow::Continue)
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        // u = x − x̃
        let mut rest = ws.take(x.rows(), x.cols());
        rest.assign(x)?;
        ops::axpby(-T::one(), self.anchor.block.as_ref(), T::one(), rest.as_mut())?;
        // y ← α A_t u + γ y + α image
        self.op.apply_terms(&self.batch, alpha, rest.as_ref(), gamma, y.reborrow(), ws)?;
        ops::axpby(alpha, self.anchor.image.as_ref(), T::one(), y)?;
        ws.give(rest);
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
        self.anchor.memory(self.name(), &self.fingerprint)
    }

    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> Result<()> {
        self.anchor.restore(memory, "svrg", &self.fingerprint, self.rhs.rows())?;
        self.count = Count::restore(cost, self.op.terms());
        Ok(())
    }
}
