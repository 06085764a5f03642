//! [`Scatter`]: moments of columns, with the products between columns.

use crate::{Block, Moments, Scalar};

/// The moments of the columns of a matrix and its scatter matrix about their mean,
/// $S = \sum_i w_i (a_i - \mu)(a_i - \mu)^T$: what
/// [`AdjointOperator::form_scatter`](crate::AdjointOperator::form_scatter) forms in one pass. Over
/// $\sum_i w_i - 1$ it is the covariance.
///
/// # Example
/// ```
/// use favard_operator::{AdjointOperator, Dense};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 5.0], [3.0, 9.0]])?;
/// let found = a.form_scatter(None)?.expect("a dense matrix has one");
/// assert_eq!((found.weight, found.moments.mean), (2.0, vec![2.0, 7.0]));
/// assert_eq!(found.matrix.view(), array![[2.0, 4.0], [4.0, 8.0]]);
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter<T> {
    /// Mean and squared differences of each column.
    pub moments: Moments,
    /// $W = \sum_i w_i$: the number of rows unless they have weights.
    pub weight: f64,
    /// $S$, n × n.
    pub matrix: Block<T>,
}

impl<T: Scalar> Scatter<T> {
    /// The matrix about another centre, $\sum_i w_i (a_i - c)(a_i - c)^T = S + W (\mu - c)(\mu - c)^T$:
    /// about zero, it is the Gram matrix of the rows.
    ///
    /// # Panics
    /// When `center` has not one number for each column.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{AdjointOperator, Dense};
    /// use ndarray::array;
    /// let found = Dense::new(array![[1.0], [3.0]])?.form_scatter(None)?.unwrap();
    /// assert_eq!(found.about(&[0.0]).row(0), &[10.0]);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    #[must_use]
    pub fn about(self, center: &[f64]) -> Block<T> {
        let Self { moments, weight, mut matrix } = self;
        assert_eq!(center.len(), moments.mean.len(), "numbers of a centre");
        let gaps: Vec<f64> = moments.mean.iter().zip(center).map(|(m, c)| m - c).collect();
        if gaps.iter().any(|&gap| gap != 0.0) {
            for (i, &gap) in gaps.iter().enumerate() {
                let share = weight * gap;
                let pairs = matrix.row_mut(i).iter_mut().zip(&gaps);
                pairs.for_each(|(s, &gap)| *s = T::of(s.as_f64() + share * gap));
            }
        }
        matrix
    }
}
