//! Models on the favard engine.
//!
//! A model never loops over a recurrence by hand: it composes a map, a recurrence, a gauge and a
//! readout, and reads the result.
//!
//! | model | answers |
//! |---|---|
//! | [`Pca`] | the principal components of dense or sparse data, centred and scaled implicitly |
//! | [`TruncatedSvd`] | the leading singular triplets of the data as it is |
//! | [`StreamingPca`] | the components of rows that come in batches, dense or sparse, in memory that does not grow |
//! | [`Lanczos`], [`exact_eigen`] | the largest eigenpairs of a symmetric operator |
//! | [`solvers`] | the same, by every method of the paper's Table 1 and those beyond it |
//! | [`MatrixCompletion`] | a matrix of low rank from some of its entries |
//! | [`PhaseRetrieval`] | a signal from the squares of linear measurements |
//! | [`SubspaceTracker`] | the leading subspace of a stream that drifts, with missing entries |
//! | [`LeastSquares`] | linear least squares with one or many right-hand sides, with its certificate |
//! | [`Kaczmarz`] | a linear system by row projections, averaged or in blocks, with momentum |
//! | [`estimate`] | how hard is this problem? The top of the spectrum and the sampling noise, in the form that the planners of `favard-theory` take |
//!
//! Long runs can be saved, and taken up to the bit: [`Checkpoints`].
//!
//! Every answer carries residuals recomputed from the operator, and a [`Certificate`] of what follows
//! from them.

mod checkpoint;
mod completion;
mod eigen;
mod error;
mod estimate;
mod exact;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod instances;
mod kaczmarz;
mod lanczos;
pub mod least_squares;
mod local;
mod memory;
mod noise;
mod pca;
mod phase;
pub mod solvers;
mod streaming;
mod svd;
mod symmetric;
mod tracking;

pub use checkpoint::Checkpoints;
pub use completion::{Completed, CompletionSpectral, Entries, MatrixCompletion};
pub use eigen::Eigen;
pub use error::{Error, ErrorKind, Result};
pub use estimate::{Effort, Estimate, estimate};
pub use exact::exact_eigen;
pub use favard_engine::{Certificate, Cluster};
pub use kaczmarz::{BlockProjection, ExtendedProjection, Kaczmarz};
pub use lanczos::Lanczos;
pub use least_squares::LeastSquares;
pub use pca::{Fitting, Pca, PcaFit, Solver, Watch};
pub use phase::{PhaseRetrieval, PhaseSpectral, Recovered};
pub use streaming::StreamingPca;
pub use svd::{SvdFit, SvdFitting, TruncatedSvd};
pub use tracking::{
    BatchCovariance, SubspaceTracker, Tracked, TrackingMomentum, TrackingStep, Weighing,
};

/// The code of the book's chapters runs as tests.
#[cfg(doctest)]
mod chapters {
    #[doc = include_str!("../../../docs/pca.md")]
    struct Pca;
    #[doc = include_str!("../../../docs/solvers.md")]
    struct Solvers;
    #[doc = include_str!("../../../docs/completion.md")]
    struct Completion;
    #[doc = include_str!("../../../docs/phase_retrieval.md")]
    struct Phase;
    #[doc = include_str!("../../../docs/tracking.md")]
    struct Tracking;
    #[doc = include_str!("../../../docs/least_squares.md")]
    struct LeastSquares;
    #[doc = include_str!("../../../docs/kaczmarz.md")]
    struct Kaczmarz;
}
