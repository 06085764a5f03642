//! Operators made of another one by centring, scaling, weighting, shifting or masking it.

mod centered;
mod dense_moments;
mod masked;
mod moments;
mod pattern;
mod plain_moments;
mod scaled;
mod shifted;
mod weighted;

pub use centered::Centered;
pub(crate) use dense_moments::dense_moments;
pub use masked::Masked;
pub use moments::{ColumnMoments, Moments, WeightedMoments, moments_memory};
pub(crate) use moments::{
    Group, SHORT, Sums, columns_moments, csr_moments, csr_squares, cut_dense,
};
pub use pattern::Pattern;
pub use scaled::{Constant, Scaled};
pub use shifted::Shifted;
pub use weighted::{Weighted, check_weights};
