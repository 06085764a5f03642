//! The third axis: how the pair $(F_t, F_{t-1})$ is kept finite and independent.
//!
//! A gauge multiplies both blocks of the pair by the same small matrix from the right,
//! $(F_t, F_{t-1}) \leftarrow (F_t R^{-1}, F_{t-1} R^{-1})$. For a homogeneous map,
//! $\Phi(xR) = \Phi(x)R$, that changes no span that the recurrence will ever produce: it is a choice
//! of basis, hence the name.
//!
//! | gauge | R |
//! |---|---|
//! | [`NoGauge`] | I: needed for affine maps and for readouts that add iterates up |
//! | [`Norm`] | the lengths of the columns of $F_t$ |
//! | [`AugmentedQr`] | of the QR of the stacked pair: the paper's stable form (A'') |
//! | [`PeriodicQr`] | of the QR of $F_t$, every m ticks |

mod augmented_qr;
mod none;
mod norm;
mod periodic_qr;

pub use augmented_qr::AugmentedQr;
pub use none::NoGauge;
pub use norm::Norm;
pub use periodic_qr::PeriodicQr;

use favard_operator::{Block, Result as OperatorResult, Scalar, Workspace};

use crate::Memory;

/// A choice of basis for the pair of blocks, made after every step.
pub trait Gauge<T: Scalar> {
    /// The kind of gauge, for checkpoints.
    fn name(&self) -> &'static str;

    /// Multiplies both blocks by the same small matrix. `norms` are the lengths of the columns of
    /// `cur`, which the engine has computed; `tick` counts the steps done, this one included.
    ///
    /// # Errors
    /// Those of the block arithmetic, which cannot happen with finite blocks of equal shape.
    fn fix(
        &mut self,
        tick: u64,
        norms: &[T],
        cur: &mut Block<T>,
        prev: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()>;

    /// What a checkpoint carries: the parameters, which a run that is taken up must share. A gauge
    /// has no state of its own.
    fn memory(&self) -> Memory<T> {
        Memory::of(self.name())
    }
}

/// The gauge may be used with the map `M`: [`NoGauge`] with every map, the others with
/// [homogeneous](crate::map::Homogeneous) ones.
///
/// An affine map is refused by the compiler:
/// ```compile_fail,E0277
/// use favard_engine::{Engine, gauge::Norm, map::{Affine, Exact}, recurrence::Power};
/// use favard_operator::{Block, Dense};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let op = Dense::new(ndarray::Array2::<f64>::eye(2))?;
/// let map = Affine::new(Exact::new(op)?, Block::zeros(2, 1))?;
/// let engine = Engine::new(map, Power, Block::column(&[1.0, 1.0]))?.with_gauge(Norm);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "the gauge `{Self}` cannot be used with the map `{M}`",
    note = "a gauge rescales the block, so it needs a map with Φ(xR) = Φ(x)R"
)]
pub trait GaugeFits<M> {}
