//! [`Stream`]: a sequence of operators that can end.

use favard_operator::{
    Block, BlockMut, BlockRef, Error as OperatorError, LinearOperator, Result as OperatorResult,
    Scalar, Workspace, check_dim,
};

use super::{Cost, Flow, Homogeneous, StepMap};
use crate::Memory;
use crate::error::Result;

/// $\Phi_t(x) = A_t x$ with $A_t$ the next item of an iterator: rows that arrive in batches, each
/// as `Gram::new(batch)`, of which nothing is kept.
///
/// The run stops with [`Stop::Exhausted`](crate::Stop::Exhausted) when the iterator ends, and with
/// an error when an item is one. Each batch counts as one application; what a pass is, a stream
/// does not know, so passes count batches. A resumed run skips the batches already used: give it an
/// iterator that begins at the beginning.
///
/// # Example
/// ```
/// use favard_engine::{Engine, Stop, gauge::Norm, map::Stream, observe::Unwatched, recurrence::Power};
/// use favard_operator::{Block, Dense, Error, Gram};
/// use ndarray::array;
///
/// let batches = vec![array![[3.0, 0.1]], array![[2.0, -0.2], [1.0, 0.0]]];
/// let grams = batches.into_iter().map(|rows| Ok::<_, Error>(Gram::new(Dense::new(rows)?)));
/// let start = Block::column(&[1.0, 1.0]);
/// let mut engine = Engine::new(Stream::new(2, grams), Power, start)?.with_gauge(Norm);
/// let info = engine.run(100, &mut Unwatched)?;
/// assert_eq!((info.stop, info.iterations), (Stop::Exhausted, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream<I, A> {
    items: I,
    current: Option<A>,
    /// Items taken so far.
    taken: u64,
    /// The tick the current item belongs to.
    tick: Option<u64>,
    dim: usize,
    cost: Cost,
}

impl<I, A> Stream<I, A> {
    /// The map of a sequence of `dim × dim` operators.
    pub fn new(dim: usize, items: I) -> Self {
        Self { items, current: None, taken: 0, tick: None, dim, cost: Cost::default() }
    }
}

impl<T, I, A> StepMap<T> for Stream<I, A>
where
    T: Scalar,
    A: LinearOperator<T>,
    I: Iterator<Item = Result<A, OperatorError>>,
{
    fn name(&self) -> &'static str {
        "stream"
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
        // A tick that is tried again after a failure uses the item it already has.
        if self.tick == Some(tick) && self.current.is_some() {
            return Ok(Flow::Continue);
        }
        (self.current, self.tick) = (None, None);
        let Some(item) = self.items.next() else {
            return Ok(Flow::End);
        };
        self.taken += 1;
        let item = item?;
        check_dim("rows of a streamed operator", self.dim, item.shape().0)?;
        check_dim("columns of a streamed operator", self.dim, item.shape().1)?;
        (self.current, self.tick) = (Some(item), Some(tick));
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
        let missing = || OperatorError::external("a stream is evaluated after its end");
        self.current.as_ref().ok_or_else(missing)?.apply(alpha, x, gamma, y, ws)?;
        self.cost.applications += 1;
        self.cost.passes += 1.0;
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.current.as_ref().is_some_and(LinearOperator::is_infallible)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("stream").counters([self.taken])
    }

    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> Result<()> {
        memory.check_name("stream")?;
        let taken = memory.counters.first().copied().unwrap_or(0);
        // Skip what the earlier run has used; an iterator that is shorter just ends.
        while self.taken < taken && self.items.next().is_some() {
            self.taken += 1;
        }
        (self.taken, self.cost) = (taken, cost);
        Ok(())
    }
}

impl<I, A> Homogeneous for Stream<I, A> {}
