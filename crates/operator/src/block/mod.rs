//! A block of columns: the thing a recurrence runs on.

mod memory;
mod ops;
mod owned;
mod products;
mod qr;
mod view;

pub(crate) use ops::is_finite;
pub use owned::Block;
pub use qr::Orthonormalizer;
pub use view::{BlockMut, BlockRef};

/// What is compiled for each precision.
pub(crate) mod body {
    pub(crate) use super::ops::{
        axpby, column_dots, column_norms, copy, find_non_finite, residual_norms, scale,
        scale_columns,
    };
    pub(crate) use super::products::{cross_panels, right_multiply_panels, rotate_panels};
}
