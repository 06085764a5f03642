//! [`StochasticOperator`]: an operator that is a sum of terms.

use std::sync::Arc;

use crate::error::{ErrorKind, check_dim};
use crate::{BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace};

/// A weighted list of terms: the operator $\sum_{i} w_i A_{t_i}$.
///
/// A sampler fills it so that its expectation is the whole operator.
///
/// # Example
/// ```
/// use favard_operator::Batch;
/// let batch = Batch { terms: vec![4, 0, 4], weights: vec![2.0, 2.0, 2.0] };
/// assert_eq!(batch.len(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch<T> {
    /// $t_1 \dots t_s$, repeats allowed.
    pub terms: Vec<usize>,
    /// $w_1 \dots w_s$.
    pub weights: Vec<T>,
}

impl<T> Batch<T> {
    /// The number s of terms, repeats counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there is no term: the batch is the zero operator.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// `Ok` when there is a weight for every term and every term is below `terms`.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] or [`ErrorKind::Index`].
    pub fn check(&self, terms: usize) -> Result<()> {
        check_dim("weights of a batch", self.terms.len(), self.weights.len())?;
        match self.terms.iter().position(|&term| term >= terms) {
            None => Ok(()),
            Some(position) => Err(ErrorKind::Index {
                what: "terms of a batch",
                position,
                index: self.terms[position] as u64,
                bound: terms as u64,
            }
            .into()),
        }
    }
}

/// An operator that is a sum of terms, $A = \sum_{i=1}^{N} A_i$, of which a few can be applied
/// for less than the cost of all.
///
/// The terms of $X^T X / n$ are its rows, $A_i = x_i x_i^T / n$; those of a least-squares problem
/// its equations; those of Kaczmarz its projections.
///
/// # Contract
/// $\sum_i w_i A_i X$ is what `apply_terms` adds; with the batch of all terms and unit weights it
/// is what `apply` adds, up to rounding. Every sampler of this crate draws batches whose weights
/// make the expectation of `apply_terms` equal to `apply`.
pub trait StochasticOperator<T: Scalar>: LinearOperator<T> {
    /// The number N of terms.
    fn terms(&self) -> usize;

    /// $Y \leftarrow \alpha \sum_{j} w_j A_{t_j} X + \gamma Y$ over the batch's $(t_j, w_j)$.
    ///
    /// # Errors
    /// Those of [`apply`](LinearOperator::apply), and a batch that does not fit.
    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()>;

    /// A size of term i, $\lVert A_i \rVert$ or a number proportional to it, by which importance
    /// sampling draws; all equal unless the operator knows better.
    ///
    /// # Panics
    /// It may, when `term` is not below the number of terms.
    fn term_norm(&self, term: usize) -> T {
        let _ = term;
        T::one()
    }
}

macro_rules! forward {
    ($($pointer:ty $(where $bound:ident)?),*) => {$(
        impl<T: Scalar, A: StochasticOperator<T> $(+ $bound)? + ?Sized> StochasticOperator<T> for $pointer {
            fn terms(&self) -> usize {
                (**self).terms()
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
                (**self).apply_terms(batch, alpha, x, gamma, y, ws)
            }
            fn term_norm(&self, term: usize) -> T {
                (**self).term_norm(term)
            }
        }
    )*};
}
forward!(&A, Box<A>, Arc<A> where Send);
