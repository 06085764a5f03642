//! [`Draw`]: which terms a tick uses.

use favard_operator::{Batch, Sampler, Scalar};

use crate::memory::digest;

/// A source of batches, a pure function of the tick.
///
/// [`Sampler`] is the usual one; a closure works too, for a schedule of one's own (it must make the
/// expectation of the batch equal to the whole operator for the theory to hold).
///
/// # Example
/// ```
/// use favard_engine::map::Draw;
/// use favard_operator::Batch;
/// let mut cyclic = |tick: u64, batch: &mut Batch<f64>| {
///     batch.terms.clear();
///     batch.terms.push((tick % 10) as usize);
///     batch.weights.clear();
///     batch.weights.push(10.0);
/// };
/// let mut batch = Batch::default();
/// Draw::draw(&mut cyclic, 13, &mut batch);
/// assert_eq!(batch.terms, [3]);
/// ```
pub trait Draw<T: Scalar> {
    /// Fills `batch` with the terms and weights of a tick.
    fn draw(&mut self, tick: u64, batch: &mut Batch<T>);

    /// The seed behind it, if there is one.
    fn seed(&self) -> Option<u64> {
        None
    }
}

/// What tells a source of batches from another one, for checkpoints: its seed, and a digest of its
/// first batch, which is another one for another size, another rule or other weights.
pub(super) fn fingerprint<T: Scalar>(source: &mut impl Draw<T>) -> Vec<u64> {
    let mut batch = Batch::default();
    source.draw(0, &mut batch);
    let weights = batch.weights.iter().map(|weight| weight.as_f64().to_bits());
    let numbers = batch.terms.iter().map(|&term| term as u64).chain(weights);
    source.seed().into_iter().chain([digest(numbers)]).collect()
}

impl<T: Scalar> Draw<T> for Sampler<T> {
    fn draw(&mut self, tick: u64, batch: &mut Batch<T>) {
        Sampler::draw(self, tick, batch);
    }
    fn seed(&self) -> Option<u64> {
        Some(Sampler::seed(self))
    }
}

impl<T: Scalar, F: FnMut(u64, &mut Batch<T>)> Draw<T> for F {
    fn draw(&mut self, tick: u64, batch: &mut Batch<T>) {
        self(tick, batch);
    }
}
