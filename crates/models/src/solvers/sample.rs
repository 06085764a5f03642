//! [`Sample`]: a fixed part of the terms, standing for the whole.

use favard_operator::{
    Batch, BlockMut, BlockRef, LinearOperator, Result, Sampler, Scalar, StochasticOperator,
    Workspace,
};

/// $\frac{N}{m} \sum_{i \in S} A_i$ over m fixed terms out of N: an operator that is close to A and
/// costs m/N of a pass.
pub(super) struct Sample<'a, T, A: ?Sized> {
    op: &'a A,
    /// The terms, all with weight N/m; `None` for all of them.
    batch: Option<Batch<T>>,
}

impl<'a, T: Scalar, A: StochasticOperator<T> + ?Sized> Sample<'a, T, A> {
    /// `size` different terms, at most all.
    pub fn new(op: &'a A, size: usize, seed: u64) -> Result<Self> {
        let terms = op.terms();
        if size >= terms {
            return Ok(Self { op, batch: None });
        }
        let mut batch = Batch::default();
        Sampler::distinct(terms, size, seed)?.draw(0, &mut batch);
        Ok(Self { op, batch: Some(batch) })
    }
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> LinearOperator<T> for Sample<'_, T, A> {
    fn shape(&self) -> (usize, usize) {
        self.op.shape()
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        match &self.batch {
            None => self.op.apply(alpha, x, gamma, y, ws),
            Some(batch) => self.op.apply_terms(batch, alpha, x, gamma, y, ws),
        }
    }

    fn is_infallible(&self) -> bool {
        self.op.is_infallible()
    }
}

impl<T: Scalar, A: StochasticOperator<T> + ?Sized> StochasticOperator<T> for Sample<'_, T, A> {
    fn terms(&self) -> usize {
        self.batch.as_ref().map_or_else(|| self.op.terms(), Batch::len)
    }

    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        let Some(own) = &self.batch else {
            return self.op.apply_terms(batch, alpha, x, gamma, y, ws);
        };
        batch.check(own.len())?;
        let terms = batch.terms.iter().map(|&term| own.terms[term]).collect();
        let pairs = batch.terms.iter().zip(&batch.weights);
        let weights = pairs.map(|(&term, &weight)| own.weights[term] * weight).collect();
        self.op.apply_terms(&Batch { terms, weights }, alpha, x, gamma, y, ws)
    }
}
