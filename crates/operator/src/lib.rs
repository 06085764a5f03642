//! Linear operators on blocks of columns.
mod adjoint;
mod block;
mod error;
mod linear;
mod row;
mod scalar;
mod stochastic;
mod workspace;

pub use adjoint::{AdjointOperator, Between};
pub use block::{Block, BlockMut, BlockRef};
pub use error::{Error, ErrorKind, Result, check_dim};
pub use linear::LinearOperator;
pub use row::RowOperator;
pub use scalar::Scalar;
pub use stochastic::{Batch, StochasticOperator};
pub use workspace::Workspace;

/// Arithmetic on blocks, with the same bits on any number of threads.
pub mod ops {
    pub use crate::block::{
        axpby, column_dots, column_norms, copy, cross, find_non_finite, right_multiply, scale,
        scale_columns,
    };
}
