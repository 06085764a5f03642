//! [`Known`]: what is known of the columns before a method runs.

use favard_operator::{Block, Moments, RowOperator, Scalar, Scatter, Side};

use super::{Choice, Plan, Solver, Statistics};
use crate::error::Result;

/// The moments of the columns, and their scatter matrix when the fit will form it anyway: then both
/// come from the same pass over the data.
#[derive(Debug)]
pub(crate) enum Known<T> {
    Moments(Moments),
    Scatter(Scatter<T>),
}

impl<T: Scalar> Known<T> {
    /// Of data with or without weights; `moments` are asked for when there is no scatter matrix, or
    /// no use for it.
    ///
    /// # Errors
    /// When the data cannot be read, or when the weights are wrong.
    pub fn new<X: RowOperator<T>>(
        x: &X,
        plan: &Plan,
        weights: Option<&[f64]>,
        moments: impl FnOnce() -> favard_operator::Result<Moments>,
    ) -> Result<Self> {
        let shape = x.shape();
        // Inner products of columns: for data with fewer rows, those of rows are formed.
        let is_dense = || x.forming(Side::Columns).is_some_and(|forming| forming.is_dense());
        if shape.0 >= shape.1
            && plan.check(shape).is_ok()
            && is_dense()
            && Choice::new(x).choose::<T>(plan).0 == Solver::Exact
            && let Some(scatter) = x.form_scatter(weights)?
        {
            return Ok(Self::Scatter(scatter));
        }
        Ok(Self::Moments(moments()?))
    }

    pub fn moments(&self) -> &Moments {
        match self {
            Self::Moments(moments) => moments,
            Self::Scatter(scatter) => &scatter.moments,
        }
    }

    /// $D^{-1} \sum_i w_i (x_i - \mu)(x_i - \mu)^T D^{-1} / f$ with mean, scale and degrees of
    /// freedom as they are used: the matrix to be solved.
    pub fn into_covariance(self, statistics: &Statistics) -> Option<Block<T>> {
        let Self::Scatter(scatter) = self else {
            return None;
        };
        let mut matrix = scatter.about(&statistics.mean);
        let inverse: Vec<f64> = statistics.scale.iter().map(|scale| scale.recip()).collect();
        for (i, &own) in inverse.iter().enumerate() {
            let own = own / statistics.freedom;
            let pairs = matrix.row_mut(i).iter_mut().zip(&inverse);
            pairs.for_each(|(entry, other)| *entry = T::of(entry.as_f64() * own * other));
        }
        Some(matrix)
    }
}
