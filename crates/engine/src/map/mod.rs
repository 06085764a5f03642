//! The first axis: where the product comes from.
//!
//! | map | $\Phi_t(x)$ | homogeneous |
//! |---|---|---|
//! | [`Exact`] | $A x$ | yes |
//! | [`MiniBatch`] | $A_t x$, $A_t$ a batch of the terms of $A$ | yes |
//! | [`VarianceReduced`] | $A_t (x - \tilde F \Theta) + (A \tilde F) \Theta$, $\Theta = \tilde F^T x$ | yes |
//! | [`Stream`] | $A_t x$, $A_t$ the next of a sequence | yes |
//! | [`Affine`] | $\Psi_t(x) - B$ around another map $\Psi$ | no |
//! | [`Svrg`] | $A_t (x - \tilde x) + (A \tilde x - B)$ | no |

mod affine;
mod anchor;
mod draw;
mod exact;
mod mini_batch;
mod stream;
mod svrg;
mod variance_reduced;

pub use affine::Affine;
pub use draw::Draw;
pub use exact::Exact;
pub use mini_batch::MiniBatch;
pub use stream::Stream;
pub use svrg::Svrg;
pub use variance_reduced::VarianceReduced;

use favard_operator::{Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace};

use crate::Memory;
use crate::error::Result;

/// What a map says before a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Forget the older block: $F_{t-1} \leftarrow 0$, and the recurrence starts again at phase 0.
    Restart,
    /// There is nothing left to apply: the run ends.
    End,
}

/// What a map has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Block products with the operator or a batch of it.
    pub applications: u64,
    /// Passes over the data: a batch of s of N terms counts s/N.
    pub passes: f64,
}

/// What a map over terms counts: whole numbers, so that passes carry no rounding.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    applications: u64,
    terms: u64,
}

impl Count {
    fn add(&mut self, terms: usize) {
        self.applications += 1;
        self.terms += terms as u64;
    }

    /// The cost when a pass is `all` terms.
    fn cost(self, all: usize) -> Cost {
        Cost { applications: self.applications, passes: self.terms as f64 / all.max(1) as f64 }
    }

    // A count of passes times terms is a whole number below 2^53 up to rounding.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn restore(cost: Cost, all: usize) -> Self {
        Self { applications: cost.applications, terms: (cost.passes * all as f64).round() as u64 }
    }
}

/// The map $\Phi_t : \mathbb{R}^{n \times k} \to \mathbb{R}^{n \times k}$ of a recurrence.
///
/// The engine calls [`prepare`](Self::prepare) once a tick, then [`eval`](Self::eval) once.
/// Everything a map draws at random is a pure function of its seed and the tick, so that a step
/// that failed can be tried again and a resumed run sees the same batches.
///
/// # Example
/// ```
/// use favard_engine::map::{Cost, StepMap};
/// use favard_operator::{BlockMut, BlockRef, Result, Workspace, ops};
///
/// /// Φ(x) = 3x
/// struct Triple(usize, Cost);
/// impl StepMap<f64> for Triple {
///     fn name(&self) -> &'static str { "triple" }
///     fn dim(&self) -> usize { self.0 }
///     fn eval(
///         &mut self,
///         alpha: f64,
///         x: BlockRef<'_, f64>,
///         gamma: f64,
///         y: BlockMut<'_, f64>,
///         _: &mut Workspace<f64>,
///     ) -> Result<()> {
///         self.1.applications += 1;
///         ops::axpby(3.0 * alpha, x, gamma, y)
///     }
///     fn cost(&self) -> Cost { self.1 }
/// }
/// ```
pub trait StepMap<T: Scalar> {
    /// The kind of map, for checkpoints.
    fn name(&self) -> &'static str;

    /// n: a block has this many rows.
    fn dim(&self) -> usize;

    /// k, for a map that takes blocks of one number of columns only: that of its right-hand side.
    fn cols(&self) -> Option<usize> {
        None
    }

    /// Gets ready for a tick: draws its batch, renews an anchor. It may replace `cur` by a block of
    /// the same span when it asks for a restart.
    ///
    /// # Errors
    /// Those of the operator.
    fn prepare(
        &mut self,
        tick: u64,
        cur: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<Flow> {
        let _ = (tick, cur, ws);
        Ok(Flow::Continue)
    }

    /// $y \leftarrow \alpha \Phi_t(x) + \gamma y$; with γ = 0 the old y is not read.
    ///
    /// # Errors
    /// Those of the operator.
    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()>;

    /// Whether [`eval`](Self::eval) can neither fail nor panic once the shapes fit: the engine then
    /// updates in place (see [`LinearOperator::is_infallible`]).
    ///
    /// [`LinearOperator::is_infallible`]: favard_operator::LinearOperator::is_infallible
    fn is_infallible(&self) -> bool {
        false
    }

    /// Whether a pair of zero blocks stays zero, because $\Phi_t(0)$ is the same at every tick: the
    /// engine then ends the run. Not so where the right-hand side is drawn with the batch, as that of
    /// a few equations is: the next batch leads away from zero.
    fn stays_at_zero(&self) -> bool {
        true
    }

    /// What the map has used since it was made.
    fn cost(&self) -> Cost;

    /// The seed of its sampling, if it samples.
    fn seed(&self) -> Option<u64> {
        None
    }

    /// What a checkpoint has to carry.
    fn memory(&self) -> Memory<T> {
        Memory::of(self.name())
    }

    /// Takes up the memory of an earlier run.
    ///
    /// # Errors
    /// When it belongs to another kind of map or to other parameters.
    fn restore(&mut self, memory: Memory<T>, tick: u64, cost: Cost) -> Result<()> {
        let _ = (tick, cost);
        memory.check_same(&self.memory())
    }
}

/// A map with $\Phi_t(x R) = \Phi_t(x) R$ for every small matrix $R$: the block may be rescaled and
/// orthonormalised between steps without changing the spans that come out.
///
/// Only such maps accept a gauge other than [`NoGauge`](crate::gauge::NoGauge).
#[diagnostic::on_unimplemented(
    message = "the map `{Self}` does not satisfy Φ(xR) = Φ(x)R",
    note = "only homogeneous maps may be normalised or orthonormalised; use `NoGauge`"
)]
pub trait Homogeneous {}
