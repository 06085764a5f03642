//! Matrix-free operators: closures that know how to multiply.

mod block;
mod fused;
mod guard;
mod stochastic;
mod vector;

pub use block::FnOperator;
pub use fused::FusedFn;
pub use stochastic::StochasticFn;
pub use vector::VectorFn;

/// The place of an adjoint that was not given: operators with it are no
/// [`AdjointOperator`](crate::AdjointOperator).
#[derive(Debug, Clone, Copy)]
pub struct NoAdjoint;
