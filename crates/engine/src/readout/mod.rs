//! The fourth axis: what is the answer at step t.
//!
//! | readout | answer |
//! |---|---|
//! | [`Last`] | $F_t$ |
//! | [`Average`] | $\frac{1}{t}\sum F_s$ |
//! | [`Optimal`] | the combination of all iterates that is best for a spectral measure |
//! | [`Expansion`] | $\sum_s \alpha_s F_s$: with Chebyshev's recurrence, $f(A) F_0$ |

mod average;
mod expansion;
mod last;
mod optimal;

pub use average::Average;
pub use expansion::Expansion;
pub use last::Last;
pub use optimal::Optimal;

use favard_operator::{Block, Result as OperatorResult, Scalar};

use crate::Memory;
use crate::error::Result;

/// What is read off the iterates.
pub trait Readout<T: Scalar> {
    /// The kind of readout, for checkpoints.
    fn name(&self) -> &'static str;

    /// Takes up the iterate after step `tick`; tick 0 is the start block.
    ///
    /// # Errors
    /// Those of the block arithmetic, which cannot happen with blocks of equal shape.
    fn absorb(&mut self, tick: u64, cur: &Block<T>) -> OperatorResult<()>;

    /// The answer so far, `cur` being the iterate absorbed last.
    fn answer<'a>(&'a self, cur: &'a Block<T>) -> &'a Block<T>;

    /// What a checkpoint has to carry.
    fn memory(&self) -> Memory<T> {
        Memory::of(self.name())
    }

    /// Takes up the memory of an earlier run.
    ///
    /// # Errors
    /// When it belongs to another kind of readout or to other parameters.
    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        memory.check_same(&self.memory())
    }
}

/// The readout may be used with the gauge `G`: a readout that adds iterates up needs them as they
/// are, with [`NoGauge`](crate::gauge::NoGauge); the last iterate can be read in any gauge.
///
/// The compiler refuses an average of rescaled iterates:
/// ```compile_fail,E0277
/// use favard_engine::{Engine, gauge::Norm, map::Exact, readout::Average, recurrence::Power};
/// use favard_operator::{Block, Diagonal};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let map = Exact::new(Diagonal::new(vec![1.0, 2.0])?)?;
/// let engine = Engine::new(map, Power, Block::column(&[1.0, 1.0]))?.with_gauge(Norm);
/// engine.with_readout(Average::new(0))?;
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "the readout `{Self}` cannot be used with the gauge `{G}`",
    note = "a readout that adds iterates up needs them unscaled: use `NoGauge`"
)]
pub trait ReadoutFits<G> {}

/// Puts the block of a memory, if it has one, in the place of `own`.
fn take_block<T: Scalar>(memory: Memory<T>, own: &mut Block<T>) {
    if let Some(block) = memory.blocks.into_iter().next() {
        *own = block;
    }
}
