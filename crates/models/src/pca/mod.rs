//! [`Pca`]: principal components of dense or sparse data.

mod choice;
mod decomposition;
mod earlier;
mod fitted;
mod fitting;
mod known;
mod method;
mod plan;
mod problem;
mod range;
mod sign;
mod solver;
mod statistics;
mod turned;

pub use fitted::PcaFit;
pub use fitting::Fitting;
pub use solver::{Solver, Watch};

pub(crate) use choice::Choice;
pub(crate) use decomposition::Decomposition;
pub(crate) use earlier::Earlier;
pub(crate) use plan::{Plan, plan_setters};
pub(crate) use problem::{Problem, Solution, Start, nothing};
pub(crate) use range::{check_range, check_small};
pub(crate) use statistics::{Statistics, Steps, check_finite, mark, narrow, with_operator};
pub(crate) use turned::{turned, turned_bytes};

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{Block, ColumnMoments, RowOperator, Scalar, WeightedMoments};

use crate::error::Result;

/// Principal component analysis: the eigenpairs of the covariance
/// $C = \frac{1}{n-1} (X - \mathbf{1}\mu^T)^T (X - \mathbf{1}\mu^T)$, with the columns divided by
/// their standard deviations when [`scale`](Self::scale) asks for it.
///
/// With row weights, $C = \frac{1}{N-1} \sum_i w_i (x_i - \mu)(x_i - \mu)^T$ with
/// $N = \sum_i w_i$ and $\mu = \frac{1}{N} \sum_i w_i x_i$: a row of weight 3 counts as three rows.
///
/// Centring and scaling are implicit: a sparse matrix stays sparse, and a block product with the
/// covariance is one pass over the data. The smaller of $X^T X$ and $X X^T$ is iterated on. The
/// answer comes with residuals recomputed from the operator, and is the same to the bit on any
/// number of threads.
///
/// Signs are fixed by a rule on the components alone: in each, the entry of largest absolute value
/// is positive, the lowest index winning ties. Components come in descending order of variance.
///
/// # Example
/// ```
/// use favard_models::Pca;
/// use favard_operator::Csr;
///
/// // Six documents over four words, sparse.
/// let mut counts = sprs::TriMat::new((6, 4));
/// for (i, j, v) in [(0, 0, 3.0), (0, 1, 2.0), (1, 0, 2.0), (2, 1, 4.0), (3, 2, 5.0), (4, 2, 4.0),
///     (4, 3, 3.0), (5, 3, 6.0)] {
///     counts.add_triplet(i, j, v);
/// }
/// let x = Csr::from_sprs(counts.to_csr::<usize>())?;
/// let fit = Pca::new(2).fit(&x)?;
/// assert!(fit.is_certified());
/// assert!(fit.explained_variance_ratio().iter().sum::<f64>() <= 1.0);
/// let scores = fit.transform(&x)?;
/// assert_eq!(scores.shape(), (6, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    plan: Plan,
    steps: Steps,
}

impl Pca {
    /// For the `components` directions of largest variance.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { plan: Plan::new(components), steps: Steps { center: true, scale: false } }
    }

    /// Whether the mean is subtracted; yes unless said otherwise. Without it the components are
    /// those of [`TruncatedSvd`](crate::TruncatedSvd).
    #[must_use]
    pub fn center(mut self, center: bool) -> Self {
        self.steps.center = center;
        self
    }

    /// Whether columns are divided by their standard deviation; no unless said otherwise. A
    /// constant column has none and is left as it is: centred, it is zero.
    #[must_use]
    pub fn scale(mut self, scale: bool) -> Self {
        self.steps.scale = scale;
        self
    }

    plan_setters!();

    /// Fits the components to the rows of `x`.
    ///
    /// Data without any variance (constant columns, zeros) has all variances zero, and the first
    /// unit vectors as components.
    ///
    /// # Errors
    /// When there are fewer than two rows or no columns, when k is 0 or larger than either, when a
    /// parameter is out of range, when the data cannot be read, or when it or its squares are not
    /// finite. A budget that runs out is no error: see [`PcaFit::info`].
    pub fn fit<T, X>(&self, x: &X) -> Result<PcaFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).run()
    }

    /// Fits the components to rows with weights.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit); a [`Shape`](favard_operator::ErrorKind::Shape) error unless
    /// there is a weight for each row, a [`Weight`](favard_operator::ErrorKind::Weight) error for
    /// one that is negative or not finite or when all are zero; a sum of weights of at most 1.
    ///
    /// # Example
    /// ```
    /// use favard_models::Pca;
    /// use favard_operator::Dense;
    /// use ndarray::array;
    /// let x = Dense::new(array![[1.0, 0.0], [3.0, 1.0], [2.0, 5.0]])?;
    /// let repeated = Dense::new(array![[1.0, 0.0], [1.0, 0.0], [3.0, 1.0], [2.0, 5.0]])?;
    /// let weighted = Pca::new(1).fit_weighted(&x, &[2.0, 1.0, 1.0])?;
    /// let plain = Pca::new(1).fit(&repeated)?;
    /// let gap = weighted.explained_variance()[0] - plain.explained_variance()[0];
    /// assert!(gap.abs() < 1e-14 * plain.total_variance());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_weighted<T, X>(&self, x: &X, weights: &[f64]) -> Result<PcaFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + WeightedMoments<T>,
    {
        self.on(x).weights(weights)?.run()
    }

    /// Fits with a callback after every step, which sees the largest residual and can stop the fit:
    /// what was found by then comes back with its residuals, and is certified only if they meet the
    /// tolerance. [`Solver::Exact`] has a single step.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit).
    pub fn fit_watched<T, X>(
        &self,
        x: &X,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<PcaFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).watch(watch).run()
    }

    /// Fits from the components of an earlier fit: of another number of components, or to other
    /// data of the same columns. The closer it is, the fewer products it takes; a start that has
    /// nothing to do with the data costs no more than a random one.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and an earlier fit of another number of columns.
    pub fn fit_from<T, X>(&self, x: &X, earlier: &PcaFit<T>) -> Result<PcaFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).start(earlier).run()
    }

    /// Fits from given columns that should be close to the components, as
    /// [`Fitting::start_from`] takes them.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and columns of another length, with an entry that is not finite,
    /// or more of them than the smaller side of the data.
    ///
    /// # Example
    /// ```
    /// use favard_models::{Pca, Solver};
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(900, 60, |i, j| ((i * (j + 3)) % 17) as f64 / (1.0 + j as f64));
    /// let x = Dense::new(rows.view())?;
    /// let pca = Pca::new(2).solver(Solver::Lanczos);
    /// let cold = pca.fit(&x)?;
    /// let warm = pca.fit_from_columns(&x, cold.components())?;
    /// assert!(warm.is_certified() && warm.info().applications < cold.info().applications);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_from_columns<T, X>(&self, x: &X, columns: &Block<T>) -> Result<PcaFit<T>>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        self.on(x).start_from(columns).run()
    }

    /// Adds components to a finished fit of the same data, up to the number asked for here: those
    /// found already are set aside, and only the missing ones are looked for.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit); a fit with no fewer components, or to data of other columns or
    /// another total variance.
    ///
    /// # Example
    /// ```
    /// use favard_models::Pca;
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(90, 6, |i, j| ((i * (j + 3)) % 17) as f64);
    /// let x = Dense::new(rows.view())?;
    /// let two = Pca::new(2).fit(&x)?;
    /// let four = Pca::new(4).extend(&x, &two)?;
    /// assert!(four.is_certified());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extend<T, X>(&self, x: &X, earlier: &PcaFit<T>) -> Result<PcaFit<T>>
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
    /// Those of [`Fitting::memory`].
    ///
    /// # Example
    /// ```
    /// use favard_models::Pca;
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(4000, 500, |i, j| ((i * (j + 3)) % 17) as f64);
    /// let x = Dense::new(rows.view())?;
    /// assert!(Pca::new(5).memory(&x)? < 4000 * 500 * 8);
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
    /// use std::ops::ControlFlow;
    /// use favard_models::Pca;
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(300, 4, |i, j| ((i * (j + 3)) % 17) as f64);
    /// let x = Dense::new(rows.view())?;
    /// let pca = Pca::new(2);
    /// let earlier = pca.fit(&x)?;
    /// let mut steps = 0;
    /// let mut watch = |_: &_| {
    ///     steps += 1;
    ///     ControlFlow::Continue(())
    /// };
    /// let weights: Vec<f64> = (0..300).map(|i| f64::from(1 + i % 2)).collect();
    /// let fit = pca.on(&x).weights(&weights)?.start(&earlier).watch(&mut watch).run()?;
    /// assert!(fit.is_certified() && steps > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on<'a, T, X>(&'a self, x: &'a X) -> Fitting<'a, T, X>
    where
        T: Scalar,
        X: RowOperator<T> + ColumnMoments<T>,
    {
        Fitting::new(self, x)
    }
}
