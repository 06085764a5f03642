//! [`StochasticFn`]: a closure that multiplies with a few terms of a sum.

use std::fmt;

use super::guard;
use crate::error::{ErrorKind, check_dim};
use crate::{
    Batch, BlockMut, BlockRef, LinearOperator, Result, Scalar, StochasticOperator, Workspace,
};

/// A closure $Y = \sum_j w_j A_{t_j} X$ over the terms of a batch, as a stochastic operator.
///
/// The whole operator is the batch of all terms with unit weights, so that the law of
/// [`StochasticOperator`] holds by construction. As with [`FnOperator`](crate::FnOperator), the
/// closure writes into scratch that it finds filled with zeros.
///
/// # Cost
/// One call of the closure and an m × k temporary for each product; 16 bytes a term to keep the
/// list of all terms.
///
/// # Example
/// A diagonal matrix, one term for each of its entries:
/// ```
/// use favard_operator::{Batch, Block, BlockRef, LinearOperator, StochasticFn};
/// use favard_operator::{StochasticOperator, Workspace};
/// let op = StochasticFn::new((3, 3), 3, |batch: &Batch<f64>, x, mut y| {
///     for (&t, &w) in batch.terms.iter().zip(&batch.weights) {
///         for j in 0..x.cols() {
///             y.row_mut(t)[j] += w * (t + 1) as f64 * x.row(t)[j];
///         }
///     }
///     Ok(())
/// });
/// let x = BlockRef::column(&[1.0, 1.0, 1.0]);
/// assert_eq!(op.multiply(x)?, Block::column(&[1.0, 2.0, 3.0]));
/// let batch = Batch { terms: vec![2], weights: vec![3.0] };
/// let mut y = Block::zeros(3, 1);
/// op.apply_terms(&batch, 1.0, x, 0.0, y.as_mut(), &mut Workspace::new())?;
/// assert_eq!(y, Block::column(&[0.0, 0.0, 9.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub struct StochasticFn<T, F> {
    shape: (usize, usize),
    all: Batch<T>,
    norms: Option<Vec<T>>,
    closure: F,
}

impl<T, F> StochasticFn<T, F>
where
    T: Scalar,
    F: Fn(&Batch<T>, BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
{
    /// An operator of the given shape (rows, columns) that is a sum of `terms` terms.
    pub fn new(shape: (usize, usize), terms: usize, f: F) -> Self {
        let all = Batch { terms: (0..terms).collect(), weights: vec![T::one(); terms] };
        Self { shape, all, norms: None, closure: f }
    }

    /// The same operator with $\lVert A_i \rVert$, or numbers proportional to them, for importance
    /// sampling.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] unless there is one for each term, [`ErrorKind::Weight`] when one is
    /// negative or not finite.
    pub fn with_norms(mut self, norms: Vec<T>) -> Result<Self> {
        check_dim("term norms", self.all.len(), norms.len())?;
        if let Some(index) = norms.iter().position(|&v| !v.is_finite() || v < T::zero()) {
            let value = norms[index].as_f64();
            let need = "as a norm must be finite and not negative";
            return Err(ErrorKind::Weight { index, value, need }.into());
        }
        self.norms = Some(norms);
        Ok(self)
    }
}

impl<T, F> fmt::Debug for StochasticFn<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StochasticFn")
            .field("shape", &self.shape)
            .field("terms", &self.all.len())
            .finish_non_exhaustive()
    }
}

impl<T, F> LinearOperator<T> for StochasticFn<T, F>
where
    T: Scalar,
    F: Fn(&Batch<T>, BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
{
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.apply_terms(&self.all, alpha, x, gamma, y, ws)
    }
}

impl<T, F> StochasticOperator<T> for StochasticFn<T, F>
where
    T: Scalar,
    F: Fn(&Batch<T>, BlockRef<'_, T>, BlockMut<'_, T>) -> Result<()> + Sync,
{
    fn terms(&self) -> usize {
        self.all.len()
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
        self.check_apply(x, &y)?;
        batch.check(self.terms())?;
        guard::combine("stochastic closure", alpha, gamma, y, ws, |z, _| {
            (self.closure)(batch, x, z)
        })
    }

    fn term_norm(&self, term: usize) -> T {
        self.norms.as_ref().map_or(T::one(), |norms| norms[term])
    }
}
