//! [`Affine`]: another map minus a right-hand side.

use favard_operator::{
    Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace, ops,
};

use super::{Cost, Flow, StepMap};
use crate::Memory;
use crate::error::{ErrorKind, Result};
use crate::memory::{digest_block, foreign};

/// $\Phi_t(x) = \Psi_t(x) - B$ around a map $\Psi$.
///
/// With $\Psi = A$ symmetric positive definite it is the gradient of
/// $\tfrac12 x^T A x - B^T x$, and the heavy-ball recurrence on it solves $A x = B$. It is not
/// homogeneous: the compiler refuses a gauge on it.
///
/// # Example
/// ```
/// use favard_engine::map::{Affine, Exact};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::Array2::<f64>::eye(2))?;
/// let map = Affine::new(Exact::new(op)?, Block::column(&[1.0, 2.0]))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Affine<T: Scalar, M> {
    inner: M,
    rhs: Block<T>,
    /// Of B.
    fingerprint: u64,
}

/// `Ok` when a right-hand side has this many rows and finite entries.
pub(super) fn check_rhs<T: Scalar>(dim: usize, rhs: &Block<T>) -> Result<()> {
    if rhs.rows() != dim {
        let (what, found) = ("rows of the right-hand side", rhs.rows());
        return Err(ErrorKind::Shape { what, expected: dim, found }.into());
    }
    if let Some((row, column)) = ops::find_non_finite(rhs.as_ref()) {
        let (what, value) = ("right-hand side", rhs.row(row)[column].as_f64());
        let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
        return Err(favard_operator::Error::from(kind).into());
    }
    Ok(())
}

impl<T: Scalar, M: StepMap<T>> Affine<T, M> {
    /// The map `inner` minus `rhs`.
    ///
    /// # Errors
    /// When the right-hand side has another number of rows, or an entry that is not finite.
    pub fn new(inner: M, rhs: Block<T>) -> Result<Self> {
        check_rhs(inner.dim(), &rhs)?;
        let fingerprint = digest_block(&rhs);
        Ok(Self { inner, rhs, fingerprint })
    }

    /// The map inside.
    pub fn inner(&self) -> &M {
        &self.inner
    }
}

impl<T: Scalar, M: StepMap<T>> StepMap<T> for Affine<T, M> {
    fn name(&self) -> &'static str {
        "affine"
    }

    fn dim(&self) -> usize {
        self.inner.dim()
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
        self.inner.prepare(tick, cur, ws)
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        // y ← α Ψ(x) + γ y, y ← y − α B
        self.inner.eval(alpha, x, gamma, y.reborrow(), ws)?;
        ops::axpby(-alpha, self.rhs.as_ref(), T::one(), y)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn stays_at_zero(&self) -> bool {
        self.inner.stays_at_zero()
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }

    fn seed(&self) -> Option<u64> {
        self.inner.seed()
    }

    fn memory(&self) -> Memory<T> {
        let mut memory = self.inner.memory();
        memory.name.insert_str(0, "affine ");
        memory.counters([self.fingerprint])
    }

    fn restore(&mut self, mut memory: Memory<T>, tick: u64, cost: Cost) -> Result<()> {
        match memory.name.strip_prefix("affine ") {
            Some(inner) => memory.name = inner.to_string(),
            None => memory.check_name("affine")?,
        }
        let found = memory.counters.pop();
        if found != Some(self.fingerprint) {
            return Err(foreign("right-hand side", Some(self.fingerprint), found));
        }
        self.inner.restore(memory, tick, cost)
    }
}
