//! [`StreamingPca`]: components of rows that come in batches.

mod state;

use std::ops::ControlFlow;

use favard_engine::{Info, Stop};
use favard_operator::{AdjointOperator, Block, ColumnMoments, Scalar, check_dim};
use serde::{Deserialize, Serialize};

use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::pca::{Decomposition, PcaFit, Plan, Solution, Solver, Statistics, check_small};
use state::{CENTERED, State};

/// Principal components of rows that come in batches, each seen once.
///
/// What is kept is the mean, and $r = k + \text{oversampling}$ directions with their sums of
/// squares: $(2 + r) d$ numbers, however many rows there were. A batch B of m rows with the mean
/// $\mu_B$ makes the stack
///
/// $$ \begin{pmatrix} \Sigma V^T \\\\ B - \mathbf{1}\mu_B^T \\\\
/// \sqrt{nm / (n + m)} \\, (\mu_B - \mu)^T \end{pmatrix} $$
///
/// whose scatter is that of all rows around their common mean; its r leading singular triplets are
/// the new state. The stack is an operator: a sparse batch stays sparse. Batches may have any number
/// of rows from one up, and different ones.
///
/// As long as no more than r directions have occurred (r rows, or r columns), nothing is thrown
/// away and the result is that of [`Pca`](crate::Pca). After that
/// [`discarded_variance`](Self::discarded_variance) says how much was, and no eigenvalue of the
/// covariance is further than [`error_bound`](Self::error_bound) from what is kept: the residuals of
/// a [`snapshot`](Self::snapshot) are that bound.
///
/// # Cost
/// About $r / 8$ block products with the stack for each batch, that is $O((m + r) d r)$ flops for
/// dense rows: batches of r rows and more are the economical ones.
///
/// # Example
/// ```
/// use favard_models::StreamingPca;
/// use favard_operator::{Block, Dense};
/// let rows = Block::from_fn(90, 6, |i, j| ((i * (j + 3)) % 17) as f64);
/// let mut stream = StreamingPca::new(2);
/// for batch in [0..40, 40..41, 41..90] {
///     stream.partial_fit(&Dense::new(rows.as_ref().rows_range(batch).into_view())?)?;
/// }
/// let fit = stream.snapshot()?;
/// assert_eq!((stream.rows(), fit.components().shape()), (90, (6, 2)));
/// assert!(fit.is_certified()); // 2 + 10 directions are more than there are
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Levey and Lindenbaum, "Sequential Karhunen–Loève basis extraction", 2000; Ross et al.,
/// "Incremental learning for robust visual tracking", 2008, for the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub struct StreamingPca<T: Scalar> {
    components: usize,
    oversampling: usize,
    tolerance: f64,
    state: Option<State<T>>,
}

impl<T: Scalar> StreamingPca<T> {
    /// For the `components` directions of largest variance.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { components, oversampling: 10, tolerance: 1e-6, state: None }
    }

    /// How many more directions are kept than are asked for; 10 unless said otherwise. More of them
    /// throw less away. Takes effect with the next batch.
    #[must_use]
    pub fn oversampling(self, oversampling: usize) -> Self {
        Self { oversampling, ..self }
    }

    /// The residual below which a [`snapshot`](Self::snapshot) is certified, relative to the
    /// largest variance; 1e-6 unless said otherwise.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    fn plan(&self, components: usize) -> Plan {
        Plan { tolerance: self.tolerance, ..Plan::new(components) }
    }

    /// Takes the rows of a batch in. No rows change nothing.
    ///
    /// # Errors
    /// When `components` is 0, when the tolerance is out of range, when the batch has another number
    /// of columns than the earlier ones, when it cannot be read, or when it is not finite; a
    /// [`Scale`](crate::ErrorKind::Scale) error when the precision does not hold the squares of the
    /// rows so far. The state is then what it was before.
    pub fn partial_fit<X>(&mut self, batch: &X) -> Result<()>
    where
        X: AdjointOperator<T> + ColumnMoments<T>,
    {
        let (rows, cols) = batch.shape();
        self.check(cols)?;
        if rows == 0 {
            return Ok(());
        }
        let empty = State::empty(cols);
        let state = self.state.as_ref().unwrap_or(&empty);
        let plan = self.batch_plan(cols);
        let next = state.absorb(batch, &plan, &mut |_| ControlFlow::Continue(()))?;
        self.state = Some(next);
        Ok(())
    }

    /// Bytes that [`partial_fit`](Self::partial_fit) of a batch will allocate at most at a time,
    /// beside the batch and the state, which it replaces: they depend on the rows of the batch, not
    /// on those seen before. Costs one product with the batch.
    ///
    /// # Errors
    /// Those of [`partial_fit`](Self::partial_fit).
    ///
    /// # Example
    /// ```
    /// use favard_models::StreamingPca;
    /// use favard_operator::{Block, Dense};
    /// let rows = Block::from_fn(400, 300, |i, j| ((i * (j + 3)) % 17) as f64);
    /// let batch = Dense::new(rows.view())?;
    /// let mut stream = StreamingPca::new(3);
    /// stream.partial_fit(&batch)?;
    /// let stated = stream.memory(&batch)?;
    /// stream.partial_fit(&batch)?;
    /// assert_eq!(stream.memory(&batch)?, stated);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory(&self, batch: &impl AdjointOperator<T>) -> Result<usize> {
        let (rows, cols) = batch.shape();
        self.check(cols)?;
        if rows == 0 {
            return Ok(0);
        }
        let empty = State::empty(cols);
        let plan = self.batch_plan(cols);
        self.state.as_ref().unwrap_or(&empty).memory(batch, &plan)
    }

    /// What the decomposition of a batch is told.
    fn batch_plan(&self, cols: usize) -> Plan {
        // The error of the state should come from what is thrown away, not from the solver.
        let least = 10.0 * T::EPSILON.as_f64() * (cols as f64).sqrt();
        Plan {
            tolerance: (0.1 * self.tolerance).max(least),
            ..Plan::new(self.components.saturating_add(self.oversampling))
        }
    }

    /// `Ok` when a batch of so many columns can be taken in.
    fn check(&self, cols: usize) -> Result<()> {
        let bad = |name, value, need| Err(ErrorKind::Parameter { name, value, need }.into());
        if self.components == 0 {
            return bad("components", 0.0, "must be at least 1");
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return bad("tolerance", self.tolerance, "must be finite and at least 0");
        }
        if cols == 0 {
            return bad("columns", 0.0, "must be at least 1");
        }
        if let Some(state) = &self.state {
            state.check()?;
            check_dim("columns of the batch", state.columns(), cols)?;
        }
        Ok(())
    }

    /// The number of rows seen.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.state.as_ref().map_or(0, State::rows)
    }

    /// The variance of each column of the rows seen, divided by n: exact, whatever was thrown away.
    /// Empty before the first row.
    #[must_use]
    pub fn variances(&self) -> Vec<f64> {
        self.state.as_ref().map_or_else(Vec::new, |state| {
            let rows = state.rows().max(1) as f64;
            state.moments().squares.iter().map(|square| square / rows).collect()
        })
    }

    /// The variance that was thrown away so far, in the units of the variances: the total, which is
    /// exact, less what is kept. Zero before two rows.
    #[must_use]
    pub fn discarded_variance(&self) -> f64 {
        self.state.as_ref().map_or(0.0, |state| state.discarded() / state.freedom())
    }

    /// No eigenvalue of the covariance of all rows is further than this from its counterpart in the
    /// state, and no component's residual is larger: the norm of what was thrown away, which is at
    /// most its trace, and at most the sum over the batches of the largest value not kept.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        self.state.as_ref().map_or(0.0, |state| state.error() / state.freedom())
    }

    /// The components of the rows seen so far; the stream goes on. There are
    /// $\min(k, n, d)$ of them.
    ///
    /// The residuals are [`error_bound`](Self::error_bound) for every component: the rows are gone,
    /// and with them the operator from which they could be recomputed.
    ///
    /// # Errors
    /// When fewer than two rows were seen, or when the precision does not hold their variance.
    pub fn snapshot(&self) -> Result<PcaFit<T>> {
        let Some(state) = self.state.as_ref().filter(|state| state.rows() >= 2) else {
            let (name, value) = ("rows", self.rows() as f64);
            let need = "must be at least 2: one row has no variance";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        };
        state.check()?;
        let shape = (state.rows(), state.columns());
        let freedom = state.freedom();
        let statistics = Statistics::new(state.moments(), shape.0 as f64, freedom, CENTERED)?;
        check_small::<T>(statistics.total, statistics.total > 0.0)?;
        let (vectors, squares) = state.directions();
        let count = self.components.min(squares.len());
        let kept: Vec<T> = squares.iter().map(|square| T::of(square / freedom)).collect();
        let residuals = vec![T::of(self.error_bound()); kept.len()];
        let (applications, passes) = state.cost();
        let info = Info {
            iterations: applications,
            applications,
            passes,
            ritz: kept.clone(),
            residuals: residuals.clone(),
            ..Info::new(Stop::Exhausted)
        };
        let vectors: Block<T> = vectors.clone();
        let mut eigen = Eigen { values: kept, vectors, residuals, info };
        eigen.truncate(count);
        let reason = format!("{} directions kept of a stream", squares.len());
        let solution = Solution { eigen, method: Solver::Auto, reason };
        let wanted = self.components.min(shape.0).min(shape.1);
        Ok(PcaFit(Decomposition::new(solution, statistics, &self.plan(wanted), shape)))
    }
}
