//! The theory of linear recurrences with momentum, as a library: polynomials, corrected bounds, exact
//! second moments and planners.
//!
//! The recurrence is $F_{t+1} = A_tF_t - \beta F_{t-1}$. Without noise $F_t = p_t(A)$ for a polynomial
//! $p_t$, so every deterministic statement is one about $p_t(\lambda_i)/p_t(\lambda_1)$; with noise the
//! second moment of $F_t$ obeys a linear recurrence of its own, so every stochastic statement has an
//! exact answer to be compared with. This crate has both, and needs neither a matrix format nor a solver.
//!
//! # Two families, two starts
//!
//! The paper behind this method ("Accelerated Stochastic Power Iteration", De Sa, He, Mitliagkas, Ré and
//! Xu) proves Theorem 1 for the polynomials with $p_1 = x/2$ (Chebyshev's $T_t$, scaled), and runs
//! algorithms whose polynomials have $p_1 = x$ ($U_t$, scaled). They are not the same: at the recommended
//! $\beta = \lambda_2^2/4$ the error of the algorithm is larger by a factor that grows like $t^2$, and the
//! printed bound is violated from the fifth step on. One could pick one family and forget the other. This
//! crate does not, because neither is better: T is worst-case optimal when the spectrum sits at
//! $\lambda_2$ (13–15 % fewer iterations); U is far better on spread spectra, and the stochastic theory
//! exists only for it. So [`Start`] is an argument wherever it matters, each bound is stated for the
//! start it holds for, and the printed versions live in [`as_printed`], where nothing uses them.
//!
//! # A tour
//!
//! ```
//! use favard_theory::{Covariance, Growth, Start, planner, second_moment::*, tan2};
//! # fn main() -> favard_theory::Result<()> {
//! let growth = Growth::optimal(1.0, 0.9)?; // λ₁, λ₂ and β = λ₂²/4
//! let steps = growth.iterations(Start::U, tan2(0.1)?, 1e-10)?; // how long?
//! assert!(growth.bound(Start::U, steps, tan2(0.1)?)? <= 1e-10); // the corrected Theorem 1
//! let noise = Covariance::new(1.0, growth.beta(), 1e-4)?; // how much noise?
//! assert!(noise.lemma_sum(steps)? <= noise.sharp_exponential(steps)?);
//! assert_eq!(noise.breaking_time(10_000)?, Some(1321)); // when does it win?
//! let h = ndarray::Array2::from_diag(&ndarray::array![1.0, 0.9]); // the exact answer
//! let rows = Scaled::new(GaussianRows::new(h.view())?, 1e-3)?;
//! let epoch = Epoch::new(&rows, h.view(), growth.beta(), Start::U, 10)?.worst()?;
//! assert!(epoch < 0.02); // one variance-reduced epoch
//! let known = planner::Estimates { kappa: 0.9, ..planner::Estimates::from_spectrum(&[1.0, 0.9])? };
//! let plan = planner::plan(&known, &planner::Target::new(1e-3, 0.1))?; // what should I run?
//! assert!(plan.mini_batch.practical.batch.value > 1e4);
//! # Ok(()) }
//! ```
//!
//! # Where things are
//!
//! | question | answer |
//! |---|---|
//! | values of $T$, $U$, $p_t$, to $t = 10^6$ and beyond | [`chebyshev`], [`momentum`], [`LogSign`] |
//! | any family by its coefficients, or from a measure | [`Recurrence`], [`Family`], [`measure`], [`Optimal`] |
//! | how fast without noise | [`Growth`], [`Shift`], [`block`] |
//! | how much noise, in norms | [`Covariance`], [`MiniBatch`], [`VarianceReduced`], [`HeavyBall`] |
//! | how much noise, exactly | [`second_moment`], [`noise_ball`], [`excess`] |
//! | what to run | [`planner`] |
//! | what the paper says where it is wrong | [`as_printed`] |
//!
//! The chapter "The bounds, corrected" of the book states every theorem with its erratum and a line of
//! code; the errata numbers in the `# Reference` sections are its.

// Formulas in $…$ are full of underscores, which the lint takes for identifiers.
#![allow(clippy::doc_markdown)]
// An array view is a pointer and a shape; ndarray's own functions take it by value.
#![allow(clippy::needless_pass_by_value)]

pub mod as_printed;
pub mod block;
pub mod chebyshev;
pub mod measure;
pub mod momentum;
pub mod planner;
pub mod second_moment;

mod check;
mod contraction;
mod covariance;
mod dense;
mod deterministic;
mod epoch_bound;
mod error;
mod family;
mod log_sign;
mod minibatch;
mod noise_ball;
mod optimal;
mod pcp;
mod recurrence;
mod shift;
mod variance_reduced;

pub use contraction::{HeavyBall, contraction_breaking_variance, contraction_rate, excess};
pub use covariance::Covariance;
pub use deterministic::{Growth, sin2, tan2};
pub use epoch_bound::{Spread, epoch_factor_bound};
pub use error::{Error, ErrorKind, Result};
pub use family::Family;
pub use log_sign::LogSign;
pub use minibatch::MiniBatch;
pub use momentum::Start;
pub use noise_ball::{ball_coefficient, noise_ball};
pub use optimal::{FourTerm, Optimal};
pub use pcp::{PcpSides, lemma_pcp};
pub use recurrence::{Recurrence, Triple};
pub use shift::Shift;
pub use variance_reduced::{VarianceReduced, anchor_factor, epoch_covariance};

/// The code of the book's chapter "The bounds, corrected" runs as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/bounds.md")]
struct BoundsChapter;
