//! Every method of the paper's Table 1, and those beyond it, as solvers.
//!
//! A solver is an [`Eigensolver`]: a method and what every method can be told. Each method is a
//! point on the engine's four axes; none has a loop of its own over the recurrence. The exact ones
//! take every [`LinearOperator`](favard_operator::LinearOperator), the sampled ones every
//! [`StochasticOperator`](favard_operator::StochasticOperator).
//!
//! | the paper's Table 1 | solver | map | recurrence $(a, b, c)$ | gauge |
//! |---|---|---|---|---|
//! | Power | [`Power`] | exact | $(1, 0, 0)$ | QR |
//! | Lanczos | [`Lanczos`](crate::Lanczos) | not a point: its coefficients are inner products of the step | | |
//! | Power+M | [`PowerMomentum`] | exact | $(1, 0, \beta)$ | augmented QR |
//! | Oja | [`Oja`] | mini-batch, s = 1 | $(\eta, 1, 0)$ | QR |
//! | Mini-batch Power+M | [`MiniBatchMomentum`] | mini-batch | $(1, 0, \beta)$ | augmented QR |
//! | VR-PCA | [`VrPca`] | variance-reduced | $(\eta, 1, 0)$ | QR |
//! | VR Power+M | [`VrMomentum`] | variance-reduced | $(1, 0, \beta)$ | augmented QR |
//! | **beyond the table** | | | | |
//! | dynamic momentum | [`DynamicMomentum`] | exact | $(1, 0, \beta_t)$, β from the residuals | augmented QR |
//! | shifted Chebyshev | [`ShiftedChebyshev`] | exact | $(1, -m, e^2/4)$ | augmented QR |
//! | best heavy ball | [`BestHeavyBall`] | exact | $(1, 0, \beta)$, β by trial | augmented QR |
//! | inhomogeneous | [`Inhomogeneous`] | exact | a measure's own family | none; the readout is the optimal combination |
//! | Oja with momentum | [`OjaMomentum`] | mini-batch | $(\eta, 1, \beta)$ | augmented QR |
//! | AdaOja | [`AdaOja`] | mini-batch | $(\eta_t, 1, 0)$, η from the products | QR |
//!
//! All of them return [`Eigen`](crate::Eigen): the pairs, with residuals recomputed from the
//! operator by one more product, and an [`Info`](favard_engine::Info) that says why the run stopped
//! and what it cost, estimates included. Running out of budget is a
//! [`Stop`](favard_engine::Stop), never an error. An operator that is zero has the eigenvalue 0 for
//! every vector, and is answered so.
//!
//! # Example
//! The same problem, four ways:
//! ```
//! use favard_models::solvers::{DynamicMomentum, Eigensolver, Power, PowerMomentum, VrMomentum};
//! use favard_operator::{Block, Dense, Gram};
//!
//! let mut rows = Block::<f64>::gaussian(5000, 10, 3).view().to_owned();
//! rows.column_mut(0).mapv_inplace(|v| 1.1 * v); // variances 1.21, 1, 1, …
//! let op = Gram::new(Dense::new(rows)?);
//! let power = Eigensolver::new(Power, 1).guard(0).solve(&op)?;
//! let momentum = Eigensolver::new(PowerMomentum::default(), 1).solve(&op)?;
//! let dynamic = Eigensolver::new(DynamicMomentum, 1).guard(0).solve(&op)?;
//! let reduced = Eigensolver::new(VrMomentum::default().batch(1000).epoch(6), 1).solve(&op)?;
//! for found in [&power, &momentum, &dynamic, &reduced] {
//!     assert!(found.residuals[0] <= 1e-8 * found.values[0]);
//! }
//! assert!(2.0 * dynamic.info.passes < power.info.passes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ada_oja;
mod best_heavy_ball;
mod calm;
mod dynamic_momentum;
mod eigensolver;
mod inhomogeneous;
mod mini_batch_momentum;
mod oja;
mod oja_momentum;
mod options;
mod power;
mod power_momentum;
mod sample;
mod sampled;
mod shifted_chebyshev;
mod state;
mod task;
mod tuning;
mod vr_momentum;
mod vr_pca;
mod watch;

pub use ada_oja::AdaOja;
pub use best_heavy_ball::BestHeavyBall;
pub use dynamic_momentum::DynamicMomentum;
pub use eigensolver::{Eigensolver, Method};
pub use inhomogeneous::Inhomogeneous;
pub use mini_batch_momentum::MiniBatchMomentum;
pub use oja::Oja;
pub use oja_momentum::OjaMomentum;
pub use options::Options;
pub use power::Power;
pub use power_momentum::PowerMomentum;
pub use shifted_chebyshev::ShiftedChebyshev;
pub use task::Task;
pub use tuning::{Rule, SAMPLE_TOLERANCE, sample_terms};
pub use vr_momentum::VrMomentum;
pub use vr_pca::VrPca;
pub(crate) use watch::Eye;
pub use watch::Residuals;
