//! The laws, one function each.
//!
//! A law takes an operator, the blocks and factors of one case, and the [`Rounding`](crate::Rounding)
//! bound that says how close is close enough. It returns the [`Violation`](crate::Violation) it
//! finds. Laws about bits, shapes and memory need no bound.
//!
//! [`Trial`](crate::Trial) draws the cases; call a law yourself to put it to cases of your own,
//! those of a proptest strategy for instance.
//!
//! # Example
//! ```
//! use favard_operator::{Block, Dense};
//! use favard_testkit::{Rounding, laws};
//! use ndarray::array;
//! let op = Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?;
//! let (x, y) = (Block::<f64>::gaussian(2, 3, 1), Block::<f64>::gaussian(2, 3, 2));
//! let rounding = Rounding::measure(&op)?;
//! laws::fused(&op, 2.0, x.as_ref(), -1.0, y.as_ref(), &rounding)?;
//! laws::adjoint_identity(&op, x.as_ref(), y.as_ref(), &rounding)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adjoint;
mod layout;
mod linear;
mod memory;
mod recurrence;
mod rows;
mod stochastic;
mod unbiased;

pub use adjoint::{Middle, adjoint_identity, normal, normal_shapes};
pub use layout::strided;
pub use linear::{columns, fused, linearity, matrix};
pub use memory::{overwrite, scratch, shapes, threads};
pub use recurrence::scalar_polynomial;
pub use rows::{entries, row_norms, row_numbers, rows, rows_adjoint};
pub use stochastic::{all_terms, terms, terms_refused};
pub use unbiased::{unbiased, unbiased_exactly};
