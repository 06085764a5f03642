//! Linear operators on blocks of columns: what the recurrences of favard run on.
//!
//! The key decision is the primitive. It is neither `y = Ax` on vectors nor a matrix type, but the
//! fused product on a block of k columns,
//!
//! $$ Y \leftarrow \alpha A X + \gamma Y. $$
//!
//! Fused, because a step of a three-term recurrence is then one call and needs no temporary. On
//! blocks stored by rows, because fetching an entry of a sparse matrix is what costs, and k columns
//! share it. Everything else is an operator of that one kind: [`Dense`] and [`Csr`] matrices, the
//! implicit [`Gram`] operator, closures ([`VectorFn`], [`FnOperator`], [`FusedFn`]), the wrappers
//! [`Centered`], [`Scaled`], [`Weighted`], [`Shifted`], [`Masked`], and the algebra behind [`Op`].
//!
//! | trait | adds |
//! |---|---|
//! | [`LinearOperator`] | the product; the one method a user writes |
//! | [`AdjointOperator`] | the transpose, and $A^T A$ in one pass |
//! | [`RowOperator`] | some rows, by number |
//! | [`StochasticOperator`] | some terms of a sum, drawn by a [`Sampler`] |
//!
//! All operators give the same bits on any number of threads, take their scratch from a
//! [`Workspace`] that the caller owns, and report bad input as an [`Error`] with numbers in it.
//!
//! # Example
//! ```
//! use favard_operator::{Block, Centered, Csr, Gram, LinearOperator};
//!
//! // A sparse matrix, centred without becoming dense, and its covariance without being formed.
//! let matrix = sprs::CsMat::new((3, 2), vec![0, 1, 2, 3], vec![0, 1, 0], vec![1.0, 2.0, 5.0]);
//! let covariance = Gram::new(Centered::by_mean(Csr::from_sprs(matrix)?)?);
//! let y = covariance.multiply(Block::column(&[1.0, 0.0]).as_ref())?;
//! assert!((y.row(0)[0] - 14.0_f64 / 3.0).abs() < 1e-14); // the variance of (1, 0, 5)
//! # Ok::<(), favard_operator::Error>(())
//! ```

mod adjoint;
mod algebra;
mod block;
mod closure;
mod compiled;
mod dense;
mod error;
mod gram;
mod hints;
mod kernel;
mod linear;
pub mod ops;
mod outer;
mod row;
mod row_ops;
mod sampling;
mod scalar;
mod scatter;
#[doc(hidden)]
pub mod small;
mod sparse;
mod stochastic;
mod tasks;
mod workspace;
mod wrap;

pub use adjoint::{AdjointOperator, Between, Forming, Side, Standardized};
pub use algebra::{
    Adjoint, BlockDiagonal, Diagonal, HStack, Identity, LowRank, Multiple, Op, Product, Sum, VStack,
};
pub use block::{Block, BlockMut, BlockRef, Orthonormalizer};
pub use closure::{FnOperator, FusedFn, NoAdjoint, StochasticFn, VectorFn};
pub use dense::Dense;
pub use error::{Error, ErrorKind, Result, check_dim};
pub use gram::Gram;
pub use hints::prefer_large_pages;
pub use linear::LinearOperator;
pub use outer::{Outer, Shift};
pub use row::RowOperator;
pub use sampling::Sampler;
pub use scalar::Scalar;
pub use scatter::Scatter;
pub use sparse::{Column, Csr, Sparse, SparseIndex};
pub use stochastic::{Batch, StochasticOperator};
pub use workspace::Workspace;
pub use wrap::{
    Centered, ColumnMoments, Constant, Masked, Moments, Pattern, Scaled, Shifted, Weighted,
    WeightedMoments, check_weights, moments_memory,
};
