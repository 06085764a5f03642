//! The laws of operators, to run on your own in three lines.
//!
//! An operator that breaks a law (an adjoint with a wrong sign, a product that reads the old `y`
//! although γ = 0, a block that is not its columns) makes an iteration converge to something else,
//! quietly. So the laws are functions here:
//!
//! - [`check_linear`], [`check_adjoint`], [`check_rows`], [`check_stochastic`]: one call, all laws
//!   of the trait of that name, on blocks drawn from a fixed seed. [`Trial`] does the same with
//!   another seed, other widths, or a bound on rounding errors that you know better.
//! - [`check_matrix`]: the operator is this matrix.
//! - [`laws`]: one function a law, for cases of your own.
//! - [`strategy`]: proptest strategies for shapes, blocks, dense and sparse matrices, which cover 0
//!   and 1 rows and columns, empty sparse rows and views that are not contiguous.
//!
//! - [`Chain`]: the paper's variance bounds in corrected form, checked exactly on a distribution of
//!   matrices or a small stochastic operator of one's own.
//!
//! All laws return a [`Violation`] that says which law, in which case, and with which numbers.
//!
//! Tolerances are bounds, not trial values: see [`Rounding`].
//!
//! # Example
//! An operator of one's own, the cyclic shift $(Ax)_i = x_{i-1}$, and its check:
//! ```
//! use favard_operator::{AdjointOperator, BlockMut, BlockRef, LinearOperator, Result, Workspace};
//!
//! struct Shift(usize);
//!
//! /// y_i ← α x_{i+by} + γ y_i
//! fn shift(by: usize, alpha: f64, x: BlockRef<'_, f64>, gamma: f64, mut y: BlockMut<'_, f64>) {
//!     for i in 0..x.rows() {
//!         for (y, x) in y.row_mut(i).iter_mut().zip(x.row((i + by) % x.rows())) {
//!             *y = alpha * x + if gamma == 0.0 { 0.0 } else { gamma * *y };
//!         }
//!     }
//! }
//!
//! impl LinearOperator<f64> for Shift {
//!     fn shape(&self) -> (usize, usize) {
//!         (self.0, self.0)
//!     }
//!     fn apply(
//!         &self,
//!         alpha: f64,
//!         x: BlockRef<'_, f64>,
//!         gamma: f64,
//!         y: BlockMut<'_, f64>,
//!         _: &mut Workspace<f64>,
//!     ) -> Result<()> {
//!         self.check_apply(x, &y)?;
//!         shift(self.0 - 1, alpha, x, gamma, y);
//!         Ok(())
//!     }
//! }
//!
//! impl AdjointOperator<f64> for Shift {
//!     fn apply_adjoint(
//!         &self,
//!         alpha: f64,
//!         x: BlockRef<'_, f64>,
//!         gamma: f64,
//!         y: BlockMut<'_, f64>,
//!         _: &mut Workspace<f64>,
//!     ) -> Result<()> {
//!         self.check_adjoint(x, &y)?;
//!         shift(1, alpha, x, gamma, y);
//!         Ok(())
//!     }
//! }
//!
//! // In a test:
//! for size in [1, 2, 7] {
//!     favard_testkit::check_adjoint(&Shift(size))?;
//! }
//! # Ok::<(), favard_testkit::Violation>(())
//! ```

mod case;
mod chain;
pub mod laws;
mod rounding;
pub mod strategy;
mod trial;
mod view;
mod violation;

pub use chain::{Chain, ChainError};
pub use rounding::{Rounding, explicit};
pub use trial::{Trial, check_adjoint, check_linear, check_matrix, check_rows, check_stochastic};
pub use violation::{Violation, ViolationKind};
