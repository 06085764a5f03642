//! [`TruncatedSvd`]: the leading singular triplets of dense or sparse data.

mod fitted;
mod fitting;

pub use fitted::SvdFit;
pub use fitting::SvdFitting;

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{
    Centered, ColumnMoments, Gram, LinearOperator, Moments, RowOperator, Scalar, Weighted,
    WeightedMoments, Workspace, ops,
};

use crate::Checkpoints;
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result};
use crate::lanczos::EIGENPAIRS;
use crate::pca::{
    Decomposition, Earlier, Plan, Problem, Statistics, Steps, Watch, check_range, mark, narrow,
    nothing, plan_setters, with_operator,
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
        self.on(x).run()
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
        self.on(x).watch(watch).run()
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
        self.on(x).weights(weights)?.run()
    }

    /// Fits from the right vectors of an earlier fit: of another number of components, or to other
    /// data of the same columns.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and an earlier fit of another number of columns.
    ///
    /// # Example
    /// ```
    /// use favard_models::{Solver, TruncatedSvd};
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(900, 60, |i, j| ((i * (j + 3)) % 17) as f64 / (1.0 + j as f64));
    /// let x = Dense::new(rows.view())?;
    /// let svd = TruncatedSvd::new(2).solver(Solver::Lanczos);
    /// let cold = svd.fit(&x)?;
    /// let warm = svd.fit_from(&x, &cold)?;
    /// assert!(warm.is_certified() && warm.info().applications < cold.info().applications);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_from<T, X>(&self, x: &X, earlier: &SvdFit<T>) -> Result<SvdFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).start(earlier).run()
    }

    /// Adds triplets to a finished fit of the same data, up to the number asked for here: those
    /// found already are set aside, and only the missing ones are looked for.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit); a fit with no fewer components, or to data of other columns or
    /// another norm.
    ///
    /// # Example
    /// ```
    /// use favard_models::TruncatedSvd;
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(90, 6, |i, j| ((i * (j + 3)) % 17) as f64);
    /// let x = Dense::new(rows.view())?;
    /// let two = TruncatedSvd::new(2).fit(&x)?;
    /// assert!(TruncatedSvd::new(4).extend(&x, &two)?.is_certified());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extend<T, X>(&self, x: &X, earlier: &SvdFit<T>) -> Result<SvdFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).extend(earlier).run()
    }

    /// Bytes that [`fit`](Self::fit) will allocate at most at a time, beside the data. Costs one
    /// product with the data.
    ///
    /// # Errors
    /// Those of [`SvdFitting::memory`].
    ///
    /// # Example
    /// ```
    /// use favard_models::TruncatedSvd;
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(4000, 500, |i, j| ((i * (j + 3)) % 17) as f64);
    /// let x = Dense::new(rows.view())?;
    /// assert!(TruncatedSvd::new(5).memory(&x)? < 4000 * 500 * 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory<T, X>(&self, x: &X) -> Result<usize>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).memory()
    }

    /// A fit to `x` with any of weights, a start, a watcher and checkpoints.
    ///
    /// # Example
    /// ```
    /// use favard_models::{Checkpoints, Solver, TruncatedSvd};
    /// use favard_operator::{Block, Dense};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let entry = |i, j| ((i * 31 + j * 17) % 101 + (i * j) % 13) as f64 / (1.0 + j as f64);
    /// let rows = Block::from_fn(300, 60, entry);
    /// let x = Dense::new(rows.view())?;
    /// let whole = TruncatedSvd::new(2).solver(Solver::Dynamic).tolerance(1e-9);
    /// let cut = whole.clone().products(4); // a budget that is too small
    /// let saved = Checkpoints::new().save(&path);
    /// assert!(!cut.on(&x).checkpoints(&saved).run()?.is_certified());
    /// let resumed = whole.on(&x).checkpoints(&Checkpoints::new().resume(&path)).run()?;
    /// assert_eq!(resumed, whole.fit(&x)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on<'a, T, X>(&'a self, x: &'a X) -> SvdFitting<'a, T, X>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        SvdFitting::new(self, x)
    }

    fn run<T, X>(
        &self,
        x: &X,
        (weights, moments): (Option<&[f64]>, &Moments),
        earlier: &Earlier<'_, T>,
        mut keeper: Keeper,
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
        with_operator(x, &statistics, AS_IT_IS, weights, |op| {
            check_range(op, moments, &statistics, AS_IT_IS)
        })?;
        mark(x, &statistics, AS_IT_IS, weights, &mut keeper)?;
        let start = earlier.start(plan, shape, &statistics)?;
        let solution = if statistics.total == 0.0 {
            nothing(shape.1, plan.components)
        } else {
            with_operator(x, &statistics, AS_IT_IS, weights, |op| {
                let problem = Problem::of_rows(op, 1.0).balanced(statistics.total);
                problem.solve(plan, start, &mut keeper, watch)
            })?
        };
        solution.check_share(statistics.total, shape)?;
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
