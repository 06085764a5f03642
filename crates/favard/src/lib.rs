//! Linear operators, and the momentum recurrences that run on them.
//!
//! The paper "Accelerated Stochastic Power Iteration" shows that one line,
//!
//! $$ F_{t+1} = A_t F_t - \beta F_{t-1}, $$
//!
//! gives stochastic PCA the rate of Lanczos once the variance of $A_t$ is small enough. favard makes
//! that line a framework.
//!
//! - [`operator`]: what $A$ can be. Dense, sparse, implicit Gram, a closure; centred, scaled,
//!   weighted, masked, shifted; sums, products, stacks. Stochastic operators are sums of terms.
//! - [`engine`]: the recurrence. Four independent axes: a map, a recurrence, a gauge, a readout;
//!   observers that watch and stop it; checkpoints that resume it to the bit.
//! - [`models`]: what people want from it. PCA with certificates, block Lanczos, the estimates that
//!   feed the planners.
//! - [`theory`]: the polynomials behind it, the paper's bounds in corrected form, exact second
//!   moments, planners.
//!
//! This crate only gathers the others: depend on it, or on the parts alone.
//!
//! # Example
//! The leading eigenvector of an operator that exists only as a closure:
//! ```
//! use favard::prelude::*;
//!
//! // A = diag(1, 0.99, 0.98, …), known by what it does to a vector.
//! let op = VectorFn::new((50, 50), |x: &[f64], y: &mut [f64]| {
//!     for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
//!         *y = (1.0 - 0.01 * i as f64) * x;
//!     }
//! });
//! let mut engine = Engine::new(Exact::new(op)?, Dynamic::default(), Block::gaussian(50, 1, 42))?
//!     .with_gauge(Norm);
//! let info = engine.run(1000, &mut Tolerance::new(1e-9, 1)?)?;
//! assert_eq!(info.stop, Stop::Converged);
//! assert!((info.ritz[0] - 1.0).abs() < 1e-9); // |λ − θ| is at most the residual
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use favard_engine as engine;
pub use favard_models as models;
pub use favard_operator as operator;
pub use favard_theory as theory;

/// What most programs need: `use favard::prelude::*;`. Errors and results stay in their crates.
pub mod prelude {
    pub use favard_engine::gauge::{AugmentedQr, NoGauge, Norm, PeriodicQr};
    pub use favard_engine::map::{
        Affine, Exact, MiniBatch, StepMap, Stream, Svrg, VarianceReduced,
    };
    pub use favard_engine::observe::{
        Cancel, Checkpointer, Deadline, MaxPasses, Observer, Stagnation, Step, Tolerance, Unwatched,
    };
    pub use favard_engine::readout::{Average, Expansion, Last, Optimal};
    pub use favard_engine::recurrence::{
        BestHeavyBall, Chebyshev, Dynamic, HeavyBall, Legendre, Momentum, Normalized, Oja,
        Orthogonal, Power, Start,
    };
    pub use favard_engine::{Advance, Checkpoint, Engine, Info, RayleighRitz, Stop};
    pub use favard_models::{
        Checkpoints, Eigen, Kaczmarz, Lanczos, LeastSquares, MatrixCompletion, Pca, PcaFit,
        PhaseRetrieval, Solver, StreamingPca, SubspaceTracker, SvdFit, TruncatedSvd,
    };
    pub use favard_operator::{
        Adjoint, AdjointOperator, Batch, Block, BlockDiagonal, BlockMut, BlockRef, Centered,
        ColumnMoments, Csr, Dense, Diagonal, FnOperator, FusedFn, Gram, HStack, Identity,
        LinearOperator, LowRank, Masked, Multiple, Op, Orthonormalizer, Pattern, Product,
        RowOperator, Sampler, Scalar, Scaled, Shifted, Sparse, StochasticFn, StochasticOperator,
        Sum, VStack, VectorFn, Weighted, Workspace,
    };
}

/// The README's code, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
