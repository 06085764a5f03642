//! Exact second moments: no norms, no bounds.
//!
//! The recurrence is linear, so $\mathbb E[F_t\otimes F_t]$ obeys a linear recurrence of its own. It is
//! propagated here as a map on $d\times d$ matrices, never as a Kronecker product: [`Noise`] is the only
//! thing one has to supply, and each step costs $O(d^3)$ plus one application of it.
//!
//! - [`Finite`], [`GaussianRows`], [`NoiseFn`]: where the noise comes from; [`Scaled`] (batches) and
//!   [`Anchored`] (variance reduction) wrap it.
//! - [`Propagation`]: mean and covariance of $F_tw_0$; [`FullCovariance`]: of $F_t$ itself.
//! - [`mean_square_rate`], [`stability_gain`]: the exact rate, and the critical batch of heavy ball.
//! - [`Epoch`]: the factor of one variance-reduced epoch; [`critical_batch`]: bisection over batches.

mod epoch;
mod finite;
mod full_covariance;
mod kernel;
mod noise;
mod propagation;
mod rate;

pub use self::{
    epoch::Epoch,
    finite::Finite,
    full_covariance::FullCovariance,
    noise::{Anchored, GaussianRows, Noise, NoiseFn, Scaled},
    propagation::Propagation,
    rate::{critical_batch, mean_square_rate, stability_gain},
};
