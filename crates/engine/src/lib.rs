//! One engine for the recurrence
//!
//! $$ F_{t+1} = a_t \Phi_t(F_t) + b_t F_t - c_t F_{t-1} $$
//!
//! By Favard's theorem a three-term recurrence and a family of orthogonal polynomials are the same
//! thing; power iteration, momentum, Oja's rule, heavy ball, Chebyshev filters and their mini-batch
//! and variance-reduced forms are all this one line. The engine therefore has no algorithms in it,
//! only four axes, and an algorithm is a point:
//!
//! | the paper's Table 1 | [map] | [recurrence] | [gauge] |
//! |---|---|---|---|
//! | Power | [`Exact`](map::Exact) | [`Power`](recurrence::Power) | norm / QR |
//! | Power+M | `Exact` | [`Momentum`](recurrence::Momentum) | norm / augmented QR |
//! | Oja | [`MiniBatch`](map::MiniBatch), s = 1 | [`Oja`](recurrence::Oja) | norm / QR |
//! | Mini-batch Power+M | `MiniBatch` | `Momentum` | norm / augmented QR |
//! | VR-PCA | [`VarianceReduced`](map::VarianceReduced) | `Oja` | norm / QR |
//! | VR Power+M | `VarianceReduced` | `Momentum` | norm / augmented QR |
//!
//! The fourth axis, the [readout], says what the answer is. The axes are independent: a new map
//! works with every recurrence. Which combinations make no sense is known to the compiler: a gauge
//! needs a map with $\Phi(xR) = \Phi(x)R$, and a sum of iterates needs iterates that no gauge has
//! rescaled.
//!
//! The engine never names a matrix format: it sees operators through `favard-operator`'s traits.
//!
//! # Example
//! The same problem with and without momentum, until the residual is below 10⁻⁸:
//! ```
//! use favard_engine::{Engine, gauge::Norm, map::Exact, observe::Tolerance};
//! use favard_engine::recurrence::{Momentum, Power, Start};
//! use favard_operator::{Block, Diagonal};
//!
//! let spectrum: Vec<f64> = (0..100).map(|i| if i == 0 { 1.0 } else { 0.99 - 0.005 * i as f64 }).collect();
//! let op = Diagonal::new(spectrum.clone())?;
//! let start = Block::gaussian(100, 1, 7);
//!
//! let mut power = Engine::new(Exact::new(&op)?, Power, start.clone())?.with_gauge(Norm);
//! let power = power.run(10_000, &mut Tolerance::new(1e-8, 1)?)?;
//!
//! let beta = Momentum::new(spectrum[1] * spectrum[1] / 4.0, Start::U)?;
//! let mut momentum = Engine::new(Exact::new(&op)?, beta, start)?.with_gauge(Norm);
//! let momentum = momentum.run(10_000, &mut Tolerance::new(1e-8, 1)?)?;
//!
//! assert!(power.iterations > 5 * momentum.iterations);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod certificate;
mod checkpoint;
mod engine;
mod error;
pub mod gauge;
mod info;
pub mod map;
mod memory;
pub mod observe;
pub mod readout;
pub mod recurrence;
mod ritz;
pub mod store;

pub use certificate::{Certificate, Cluster, Evidence};
pub use checkpoint::Checkpoint;
pub use engine::{Advance, Engine};
pub use error::{Error, ErrorKind, Result};
pub use info::{Info, Measure, Record, Stop};
pub use memory::Memory;
pub use ritz::RayleighRitz;
