//! Sparse matrices.

mod check;
mod column;
mod csr;
pub(crate) mod gram;
mod index;
mod operator;
pub(crate) mod turned;
mod wrapper;

pub(crate) use check::check;
pub use column::Column;
pub use csr::Csr;
pub use index::SparseIndex;
pub use wrapper::Sparse;
