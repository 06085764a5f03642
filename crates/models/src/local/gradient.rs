//! [`Gradient`]: the gradient of a smooth function as a map of the engine.

use std::cell::{Cell, RefCell};

use favard_engine::Memory;
use favard_engine::map::{Cost, StepMap};
use favard_operator::{
    Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace, ops,
};
use serde::{Deserialize, Serialize};

use super::Problem;

/// What a gradient evaluation tells about its point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Reading {
    /// The size of the misfit relative to the data.
    pub residual: f64,
    /// $\lVert J^T r \rVert / (\lVert J \rVert \lVert r \rVert)$ up to a factor of order one: zero
    /// where no direction improves the fit.
    pub slope: f64,
}

/// The point of a round with the least residual so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct Best<T: Scalar> {
    pub residual: f64,
    /// Empty before the first reading.
    pub at: Block<T>,
    /// Whether it is the point that was read last.
    pub is_last: bool,
}

impl<T: Scalar> Default for Best<T> {
    fn default() -> Self {
        Self { residual: f64::INFINITY, at: Block::zeros(0, 0), is_last: false }
    }
}

impl<T: Scalar> Best<T> {
    /// Takes a point whose residual is less than all before: a copy of its block, and no more.
    fn see(&mut self, x: BlockRef<'_, T>, residual: f64) -> OperatorResult<()> {
        self.is_last = residual < self.residual;
        if !self.is_last {
            return Ok(());
        }
        self.residual = residual;
        if self.at.shape() == x.shape() {
            return self.at.assign(x);
        }
        self.at = x.to_owned();
        Ok(())
    }
}

/// What the gradient leaves for the observer of its run: the last reading, and the best point.
#[derive(Debug, Default)]
pub(super) struct Seen<T: Scalar> {
    pub reading: Cell<Reading>,
    pub best: RefCell<Best<T>>,
}

/// $\Phi(x) = \nabla f(x)$: with the heavy-ball recurrence, gradient descent with momentum. The
/// reading at x is left where the observer of the run finds it.
pub(crate) struct Gradient<'a, T: Scalar, P> {
    problem: &'a P,
    seen: &'a Seen<T>,
    /// Rows of a block, and passes over the data that a gradient takes.
    dim: usize,
    cost: Cost,
}

impl<'a, T: Scalar, P: Problem<T>> Gradient<'a, T, P> {
    pub fn new(problem: &'a P, seen: &'a Seen<T>) -> Self {
        Self { problem, seen, dim: problem.dim(), cost: Cost::default() }
    }
}

impl<T: Scalar, P: Problem<T>> StepMap<T> for Gradient<'_, T, P> {
    fn name(&self) -> &'static str {
        "gradient"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        // g ← ∇f(x), then y ← α g + γ y
        let mut gradient = ws.take(x.rows(), x.cols());
        let reading = self.problem.gradient(x, gradient.as_mut(), ws)?;
        ops::axpby(alpha, gradient.as_ref(), gamma, y)?;
        ws.give(gradient);
        self.seen.reading.set(reading);
        self.seen.best.borrow_mut().see(x, reading.residual)?;
        self.cost.applications += 1;
        self.cost.passes += 1.0;
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> favard_engine::Result<()> {
        memory.check_same(&Memory::of("gradient"))?;
        self.cost = cost;
        Ok(())
    }
}
