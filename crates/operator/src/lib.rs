//! Linear operators on blocks of columns.
mod adjoint;
mod algebra;
mod block;
mod closure;
mod dense;
mod error;
mod gram;
mod kernel;
mod linear;
mod row;
mod row_ops;
mod sampling;
mod scalar;
mod sparse;
mod stochastic;
mod workspace;
mod wrap;

pub use adjoint::{AdjointOperator, Between};
pub use algebra::{
    Adjoint, BlockDiagonal, Diagonal, HStack, Identity, LowRank, Multiple, Op, Product, Sum, VStack,
};
pub use block::{Block, BlockMut, BlockRef, Orthonormalizer};
pub use closure::{FnOperator, FusedFn, NoAdjoint, StochasticFn, VectorFn};
pub use dense::Dense;
pub use error::{Error, ErrorKind, Result, check_dim};
pub use gram::Gram;
pub use linear::LinearOperator;
pub use row::RowOperator;
pub use sampling::Sampler;
pub use scalar::Scalar;
pub use sparse::{Csr, Sparse, SparseIndex};
pub use stochastic::{Batch, StochasticOperator};
pub use workspace::Workspace;
pub use wrap::{
    Centered, ColumnMoments, Constant, Masked, Moments, Pattern, Scaled, Shifted, Weighted,
};

/// Arithmetic on blocks, with the same bits on any number of threads.
pub mod ops {
    pub use crate::block::{
        axpby, column_dots, column_norms, copy, cross, find_non_finite, right_multiply, scale,
        scale_columns,
    };
}
