//! The second axis: the polynomial.
//!
//! Every recurrence here is a choice of the three numbers in
//!
//! $$ F_{t+1} = a_t \Phi_t(F_t) + b_t F_t - c_t F_{t-1}. $$
//!
//! | recurrence | $(a, b, c)_t$ |
//! |---|---|
//! | [`Power`] | $(1, 0, 0)$ |
//! | [`Momentum`] | $(1, 0, \beta)$, the first product halved for the T start |
//! | [`Oja`] | $(\eta, 1, \beta)$, with $\beta = 0$ for Oja's own |
//! | [`AdaOja`] | $(\eta_t, 1, 0)$, the step from the sizes of the products so far |
//! | [`HeavyBall`] | $(-\eta, 1 + \beta, \beta)$ |
//! | [`Orthogonal`] | the family's own coefficients: [`Chebyshev`], [`Legendre`], [`Tabulated`], yours |
//! | [`Normalized`] | the family divided by its value at a point |
//! | [`BestHeavyBall`] | momentum, β searched by trial and restart |
//! | [`Dynamic`] | momentum, β from the last two residuals |

mod ada_oja;
mod best_heavy_ball;
mod dynamic;
mod family;
mod heavy_ball;
mod momentum;
mod normalized;
mod oja;
mod orthogonal;
mod power;

pub use ada_oja::AdaOja;
pub use best_heavy_ball::BestHeavyBall;
pub use dynamic::Dynamic;
pub use family::{Chebyshev, Family, Legendre, Tabulated};
pub use heavy_ball::HeavyBall;
pub use momentum::{Momentum, Start};
pub use normalized::{Normalized, Ratios};
pub use oja::Oja;
pub use orthogonal::Orthogonal;
pub use power::Power;

use favard_operator::{Block, Scalar};

use crate::Memory;
use crate::error::Result;
use crate::info::Measure;

/// The coefficients of one step, $F_{t+1} = a \Phi(F_t) + b F_t - c F_{t-1}$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triple<T> {
    /// Of the map.
    pub a: T,
    /// Of the block.
    pub b: T,
    /// Of the older block, subtracted.
    pub c: T,
}

/// What a recurrence may look at when it chooses its coefficients.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a, T> {
    /// Steps done.
    pub tick: u64,
    /// Steps done since the last restart: at phase 0 the older block is zero.
    pub phase: u64,
    /// Ritz values and residuals of the block, when the recurrence
    /// [wants](Recurrence::wants_measure) them.
    pub measure: Option<&'a Measure<T>>,
}

/// The state that a recurrence may set back ([`Recurrence::steer`]).
#[derive(Debug)]
pub struct Steer<'a, T> {
    /// $F_t$.
    pub cur: &'a mut Block<T>,
    /// $F_{t-1}$.
    pub prev: &'a mut Block<T>,
    /// $\Phi_t(F_t)$.
    pub image: &'a mut Block<T>,
}

/// The coefficients of the recurrence, step by step.
///
/// # Example
/// Momentum that is switched on after ten steps:
/// ```
/// use favard_engine::recurrence::{Progress, Recurrence, Triple};
/// struct Late(f64);
/// impl Recurrence<f64> for Late {
///     fn name(&self) -> &'static str { "late momentum" }
///     fn triple(&mut self, progress: &Progress<'_, f64>) -> Triple<f64> {
///         Triple { a: 1.0, b: 0.0, c: if progress.tick < 10 { 0.0 } else { self.0 } }
///     }
/// }
/// ```
pub trait Recurrence<T: Scalar> {
    /// The kind of recurrence, for checkpoints.
    fn name(&self) -> &'static str;

    /// The coefficients of the coming step.
    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T>;

    /// Whether [`triple`](Self::triple) needs the Ritz values and residuals of the block.
    ///
    /// They come from the product that the step makes anyway; what they cost is a few passes over
    /// the block and a third block to hold the product.
    fn wants_measure(&self) -> bool {
        false
    }

    /// Looks at the measured state before the step, and may set it back to an earlier one. `image`
    /// must stay the image of `cur`. Called only when the recurrence wants a measure.
    ///
    /// # Errors
    /// Those of copying blocks, which cannot happen with equal shapes.
    fn steer(&mut self, progress: &Progress<'_, T>, state: Steer<'_, T>) -> Result<()> {
        let _ = (progress, state);
        Ok(())
    }

    /// What a checkpoint has to carry, parameters included.
    fn memory(&self) -> Memory<T> {
        Memory::of(self.name())
    }

    /// Takes up the memory of an earlier run.
    ///
    /// # Errors
    /// When it belongs to another kind of recurrence or to other parameters.
    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        memory.check_same(&self.memory())
    }
}
