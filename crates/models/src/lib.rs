//! Models on the favard engine.
//!
//! A model never loops over a recurrence by hand: it composes a map, a recurrence, a gauge and a
//! readout, and reads the result.
//!
//! | model | answers |
//! |---|---|
//! | [`Pca`] | the principal components of dense or sparse data, centred and scaled implicitly |
//! | [`Lanczos`], [`exact_eigen`] | the largest eigenpairs of a symmetric operator |
//! | [`LeastSquares`] | linear least squares with one or many right-hand sides, with its certificate |
//! | [`Kaczmarz`] | a linear system by row projections, averaged or in blocks, with momentum |
//! | [`estimate`] | how hard is this problem? The top of the spectrum and the sampling noise, in the form that the planners of `favard-theory` take |
//!
//! Every answer carries residuals recomputed from the operator.

mod eigen;
mod error;
mod estimate;
mod exact;
mod kaczmarz;
mod lanczos;
mod least_squares;
mod noise;
mod pca;
mod symmetric;

pub use eigen::Eigen;
pub use error::{Error, ErrorKind, Result};
pub use estimate::{Effort, Estimate, estimate};
pub use exact::exact_eigen;
pub use kaczmarz::{BlockProjection, Kaczmarz};
pub use lanczos::Lanczos;
pub use least_squares::{LeastSquares, Method, Momentum, RowGradient, Sampled, Scaling, Solution};
pub use pca::{Pca, PcaFit, Solver};

/// The code of the book's chapters on these models runs as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/least_squares.md")]
#[doc = include_str!("../../../docs/kaczmarz.md")]
struct Chapters;
