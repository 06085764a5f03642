//! [`VarianceReduced`]: batches corrected by an anchor whose exact image is known.

use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Orthonormalizer, Result as OperatorResult, Scalar,
    StochasticOperator, Workspace, ops,
};

use super::anchor::Anchor;
use super::draw::fingerprint;
use super::exact::square;
use super::{Cost, Count, Draw, Flow, Homogeneous, StepMap};
use crate::Memory;
use crate::error::Result;

/// The paper's form (vr2), for blocks:
///
/// $$ \Phi_t(x) = A_t (x - \tilde F \Theta) + (A \tilde F) \Theta, \qquad \Theta = \tilde F^T x, $$
///
/// where the anchor $\tilde F$ is the orthonormalised block at the start of each epoch of T ticks
/// and $A \tilde F$ is computed exactly. The noise acts only on the part of x outside of the anchor,
/// so it vanishes as the block converges: there is no noise ball.
///
/// At the start of an epoch the block becomes the anchor and the older block is dropped
/// ($w_0 = \tilde w$, $w_{-1} = 0$; the indices of the corrected Algorithm 2, erratum 3.12). An
/// epoch costs 1 + Ts/N passes.
///
/// # Example
/// ```
/// use favard_engine::map::VarianceReduced;
/// use favard_operator::{Dense, Gram, Sampler};
/// let op = Gram::new(Dense::new(ndarray::Array2::<f64>::eye(6))?);
/// let map = VarianceReduced::new(op, Sampler::uniform(6, 2, 7)?, 10)?; // epochs of 10 ticks
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VarianceReduced<T, A, S> {
    op: A,
    sampler: S,
    fingerprint: Vec<u64>,
    batch: Batch<T>,
    anchor: Anchor<T>,
    qr: Option<Orthonormalizer<T>>,
    dim: usize,
    count: Count,
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> VarianceReduced<T, A, S> {
    /// The map of a square operator, a source of batches, and the length of an epoch in ticks.
    ///
    /// # Errors
    /// When the operator is not square or empty, or when the epoch has no ticks.
    pub fn new(op: A, mut sampler: S, epoch: u64) -> Result<Self> {
        let dim = square("variance-reduced map", &op)?;
        let (anchor, batch, count) = (Anchor::new(epoch)?, Batch::default(), Count::default());
        let fingerprint = fingerprint(&mut sampler);
        Ok(Self { op, sampler, fingerprint, batch, anchor, qr: None, dim, count })
    }

    /// The anchor $\tilde F$, orthonormal; empty before the first tick.
    pub fn anchor(&self) -> &Block<T> {
        &self.anchor.block
    }

    /// F̃ ← orthonormalised cur, AF̃ exactly.
    fn renew(
        &mut self,
        tick: u64,
        cur: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        let Anchor { block, image, taken, .. } = &mut self.anchor;
        *taken = None;
        let qr = self.qr.get_or_insert_with(|| Orthonormalizer::new(cur.cols()));
        block.assign(cur.as_ref())?;
        qr.orthonormalize(&mut [block], ws)?;
        self.op.apply(T::one(), block.as_ref(), T::zero(), image.as_mut(), ws)?;
        self.count.add(self.op.terms());
        cur.assign(block.as_ref())?;
        *taken = Some(tick);
        Ok(())
    }
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> StepMap<T> for VarianceReduced<T, A, S> {
    fn name(&self) -> &'static str {
        "variance-reduced"
    }

    fn dim(&self) -> usize {
        self.dim
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
            self.anchor.fit(cur.shape());
            self.renew(tick, cur, ws)?;
        }
        // Also when a first tick of an epoch is tried again after a failure.
        Ok(if self.anchor.taken == Some(tick) { Flow::Restart } else { Flow::Continue })
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        let cols = x.cols();
        // Θ = F̃ᵀ x
        let mut theta = ws.take(cols, cols);
        ops::cross(self.anchor.block.as_ref(), x, theta.as_mut(), ws)?;
        // u = x − F̃ Θ
        let mut rest = ws.take(self.dim, cols);
        rest.assign(x)?;
        let (anchor, image) = (self.anchor.block.as_ref(), self.anchor.image.as_ref());
        ops::right_multiply(-T::one(), anchor, theta.as_ref(), T::one(), rest.as_mut())?;
        // y ← α A_t u + γ y
        self.op.apply_terms(&self.batch, alpha, rest.as_ref(), gamma, y.reborrow(), ws)?;
        // y ← y + α (AF̃) Θ
        ops::right_multiply(alpha, image, theta.as_ref(), T::one(), y)?;
        ws.give(theta);
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
        self.anchor.restore(memory, "variance-reduced", &self.fingerprint, self.dim)?;
        self.count = Count::restore(cost, self.op.terms());
        Ok(())
    }
}

impl<T, A, S> Homogeneous for VarianceReduced<T, A, S> {}
