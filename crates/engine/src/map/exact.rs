//! [`Exact`]: the operator itself.

use favard_operator::{
    BlockMut, BlockRef, ErrorKind, LinearOperator, Result as OperatorResult, Scalar, Workspace,
};

use super::{Cost, Homogeneous, StepMap};
use crate::Memory;
use crate::error::Result;

/// $\Phi_t(x) = A x$.
///
/// One product a tick, fused with the recurrence: no temporary.
///
/// # Example
/// ```
/// use favard_engine::map::{Exact, StepMap};
/// use favard_operator::Dense;
/// let map = Exact::new(Dense::new(ndarray::Array2::<f64>::eye(4))?)?;
/// assert_eq!(map.dim(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Exact<A> {
    op: A,
    dim: usize,
    cost: Cost,
}

/// The dimension of a square operator that is not empty.
pub(super) fn square<T: Scalar>(what: &'static str, op: &impl LinearOperator<T>) -> Result<usize> {
    let (rows, cols) = op.shape();
    if rows != cols {
        return Err(favard_operator::Error::from(ErrorKind::NotSquare { what, rows, cols }).into());
    }
    if rows == 0 {
        return Err(favard_operator::Error::from(ErrorKind::Empty { what, rows, cols }).into());
    }
    Ok(rows)
}

impl<A> Exact<A> {
    /// The map of a square operator.
    ///
    /// # Errors
    /// When the operator is not square, or empty.
    pub fn new<T: Scalar>(op: A) -> Result<Self>
    where
        A: LinearOperator<T>,
    {
        let dim = square("exact map", &op)?;
        Ok(Self { op, dim, cost: Cost::default() })
    }

    /// The operator.
    pub fn operator(&self) -> &A {
        &self.op
    }
}

impl<T: Scalar, A: LinearOperator<T>> StepMap<T> for Exact<A> {
    fn name(&self) -> &'static str {
        "exact"
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
        self.op.apply(alpha, x, gamma, y, ws)?;
        self.cost.applications += 1;
        self.cost.passes += 1.0;
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.op.is_infallible()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> Result<()> {
        memory.check_name("exact")?;
        self.cost = cost;
        Ok(())
    }
}

impl<A> Homogeneous for Exact<A> {}
