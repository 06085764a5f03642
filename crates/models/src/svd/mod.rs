//! [`TruncatedSvd`]: the leading singular triplets of dense or sparse data.

mod fitted;

pub use fitted::SvdFit;

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{
    Centered, ColumnMoments, Gram, LinearOperator, Moments, RowOperator, Scalar, Weighted,
    WeightedMoments, Workspace, ops,
};

use crate::error::{ErrorKind, Result};
use crate::pca::{
    Decomposition, Plan, Problem, Start, Statistics, Steps, Watch, narrow, nothing, plan_setters,
    with_operator,
};

/// The truncated singular value decomposition $X \approx U \Sigma V^T$: the data as it is, not
/// centred. With row weights it is that of $\sqrt{W} X$.
///
/// The solvers, the tolerance ($\lVert X^T X v - \sigma^2 v \rVert \le \text{tol} \cdot \sigma_1^2$),
/// the signs (the entry of largest absolute value of each right vector is positive) and the order
/// are those of [`Pca`](crate::Pca).
///
/// # Example
/// ```
/// use favard_models::TruncatedSvd;
/// use favard_operator::Dense;
/// use ndarray::array;
/// let x = Dense::new(array![[3.0, 0.0], [0.0, 2.0], [4.0, 0.0]])?;
/// let fit = TruncatedSvd::new(1).fit(&x)?;
/// assert!((fit.singular_values()[0] - 5.0).abs() < 1e-14 * 5.0);
/// let left = fit.left_vectors(&x)?;
/// assert!((left.row(2)[0] - 0.8_f64).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TruncatedSvd {
    plan: Plan,
}

/// Nothing is subtracted and nothing divided.
const AS_IT_IS: Steps = Steps { center: false, scale: false };

impl TruncatedSvd {
    /// For the `components` largest singular values.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { plan: Plan::new(components) }
    }

    plan_setters!();

    /// Fits the components to the rows of `x`.
    ///
    /// # Errors
    /// When there are no rows or no columns, when k is 0 or larger than either, when a parameter is
    /// out of range, when the data cannot be read, or when it or its squares are not finite.
    pub fn fit<T, X>(&self, x: &X) -> Result<SvdFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.fit_watched(x, &mut |_| ControlFlow::Continue(()))
    }

    /// Fits with a callback after every step, which can stop the fit: see
    /// [`Pca::fit_watched`](crate::Pca::fit_watched).
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit).
    pub fn fit_watched<T, X>(
        &self,
        x: &X,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<SvdFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.plan.check(x.shape())?;
        self.run(x, None, &x.column_moments()?, watch)
    }

    /// Fits to rows with weights.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and weights that are negative, not finite, all zero or not one
    /// for each row.
    pub fn fit_weighted<T, X>(&self, x: &X, weights: &[f64]) -> Result<SvdFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + WeightedMoments<T>,
    {
        self.plan.check(x.shape())?;
        let moments = x.weighted_moments(weights)?;
        self.run(x, Some(weights), &moments, &mut |_| ControlFlow::Continue(()))
    }

    fn run<T, X>(
        &self,
        x: &X,
        weights: Option<&[f64]>,
        moments: &Moments,
        watch: &mut Watch<'_, T>,
    ) -> Result<SvdFit<T>>
    where
        T: Scalar,
        X: RowOperator<T>,
    {
        let (plan, shape) = (&self.plan, x.shape());
        let weight = weights.map_or(shape.0 as f64, |weights| weights.iter().sum());
        if weight <= 0.0 {
            let (name, value, need) = ("rows", weight, "must be at least 1");
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let statistics = Statistics::new(moments, weight, 1.0, AS_IT_IS)?;
        let solution = if statistics.total == 0.0 {
            nothing(shape.1, plan.components)
        } else {
            with_operator(x, &statistics, AS_IT_IS, weights, |op| {
                Problem::of_rows(op, 1.0).solve(plan, Start::Random, watch)
            })?
        };
        let decomposition = Decomposition::new(solution, statistics, plan, shape);
        let explained = explained(x, weights, moments, weight, &decomposition)?;
        let total = moments.squares.iter().sum::<f64>() / weight;
        Ok(SvdFit { decomposition, explained, total })
    }
}

/// The variance of the transformed data, $\frac1N v_j^T (X - \mathbf{1}\mu^T)^T W (X - \mathbf{1}\mu^T) v_j$:
/// one more product, without the cancellation of $\sigma_j^2 / N - (\mu^T v_j)^2$.
fn explained<T: Scalar, X: RowOperator<T>>(
    x: &X,
    weights: Option<&[f64]>,
    moments: &Moments,
    weight: f64,
    fit: &Decomposition<T>,
) -> Result<Vec<f64>> {
    let v = fit.eigen.vectors.as_ref();
    let centred = Centered::new(x, narrow(&moments.mean))?;
    let image = match weights {
        None => Gram::new(centred).with_scale(weight.recip())?.multiply(v)?,
        Some(weights) => {
            let weighted = Weighted::new(centred, narrow(weights))?;
            Gram::new(weighted).with_scale(weight.recip())?.multiply(v)?
        }
    };
    let mut variances = vec![T::zero(); v.cols()];
    ops::column_dots(v, image.as_ref(), &mut variances, &mut Workspace::new())?;
    Ok(variances.iter().map(|variance| variance.as_f64().max(0.0)).collect())
}
