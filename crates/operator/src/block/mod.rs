//! A block of columns: the thing a recurrence runs on.

mod ops;
mod owned;
mod qr;
mod view;

pub use ops::{
    axpby, column_dots, column_norms, copy, cross, find_non_finite, right_multiply, scale,
    scale_columns,
};
pub use owned::Block;
pub use qr::Orthonormalizer;
pub use view::{BlockMut, BlockRef};
