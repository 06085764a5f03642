//! [`Gradient`]: the gradient of a smooth function as a map of the engine.

use std::cell::Cell;

use favard_engine::Memory;
use favard_engine::map::{Cost, StepMap};
use favard_operator::{BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace, ops};

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

/// $\Phi(x) = \nabla f(x)$: with the heavy-ball recurrence, gradient descent with momentum. The
/// reading at x is left in a cell, where the observer of the run finds it.
pub(crate) struct Gradient<'a, P> {
    problem: &'a P,
    reading: &'a Cell<Reading>,
    /// Rows of a block, and passes over the data that a gradient takes.
    dim: usize,
    cost: Cost,
}

impl<'a, P> Gradient<'a, P> {
    pub fn new<T: Scalar>(problem: &'a P, reading: &'a Cell<Reading>) -> Self
    where
        P: Problem<T>,
    {
        Self { problem, reading, dim: problem.dim(), cost: Cost::default() }
    }
}

impl<T: Scalar, P: Problem<T>> StepMap<T> for Gradient<'_, P> {
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
        self.reading.set(reading);
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
