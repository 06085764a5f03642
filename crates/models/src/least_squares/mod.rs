//! [`LeastSquares`]: linear least squares with one or many right-hand sides.

mod cg;
mod columns;
mod descent;
mod gradient;
mod lsmr;
mod method;
pub(crate) mod monitor;
mod newton;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod problem;
mod prospect;
mod row_gradient;
pub(crate) mod sample;
mod sampled;
pub(crate) mod short;
mod solution;
mod solver;
pub(crate) mod spectrum;
pub(crate) mod state;
pub(crate) mod stochastic;
mod window;

pub use method::{Method, Scaling};
pub use plan::Momentum;
pub use row_gradient::RowGradient;
pub use sampled::Sampled;
pub use solution::Solution;

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{AdjointOperator, Block, ColumnMoments, Scalar};

use crate::Checkpoints;
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result};
use problem::Terms;
use state::LEAST_SQUARES;

/// Linear least squares,
///
/// $$ \min_x \lVert \sqrt W (A x + \mathbf 1 c - b) \rVert^2 + \lambda \lVert x \rVert^2, $$
///
/// for any operator A with its adjoint and any number of right-hand sides b, solved side by side.
///
/// Weights, centring for the intercept and the scaling of the columns are implicit: a sparse matrix
/// stays sparse. The intercept is not penalised. The answer comes with the certificate
/// $\lVert A^T r \rVert / (\lVert A \rVert \lVert r \rVert)$, recomputed from the operator for each
/// right-hand side, and is the same to the bit on any number of threads.
///
/// In the error $e = x - x^*$ every method here is $e_{t+1} = p_{t+1}(A^T A) e_0$: the contraction
/// regime of $F_{t+1} = A F_t - \beta F_{t-1}$. The fixed polynomials run on the engine; those whose
/// coefficients are inner products of the step itself (conjugate gradients, LSMR) have modules of
/// their own, as Lanczos has.
///
/// # Example
/// ```
/// use favard_models::LeastSquares;
/// use favard_operator::{Block, Dense};
/// use ndarray::array;
///
/// // y = 1 + 2 t at t = 0, 1, 2, 3, with noise
/// let t = Dense::new(array![[0.0], [1.0], [2.0], [3.0]])?;
/// let y = Block::column(&[1.1, 2.9, 5.1, 6.9]);
/// let line = LeastSquares::new().intercept(true).fit(&t, &y)?;
/// assert!(line.is_certified());
/// assert!((line.x.row(0)[0] - 1.96_f64).abs() < 1e-12);
/// assert!((line.intercept[0] - 1.06).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquares {
    method: Method,
    scaling: Scaling,
    terms: Terms,
    tolerance: f64,
    passes: f64,
    seed: u64,
}

impl Default for LeastSquares {
    fn default() -> Self {
        Self::new()
    }
}

impl LeastSquares {
    /// Plain least squares: no ridge, no weights, no intercept, [`Method::Auto`].
    #[must_use]
    pub fn new() -> Self {
        Self {
            method: Method::Auto,
            scaling: Scaling::Auto,
            terms: Terms::default(),
            tolerance: 1e-8,
            passes: 1e4,
            seed: 1,
        }
    }

    /// Which method; [`Method::Auto`] unless said otherwise.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// How the columns are scaled; by their norms unless said otherwise.
    #[must_use]
    pub fn scaling(self, scaling: Scaling) -> Self {
        Self { scaling, ..self }
    }

    /// λ; 0 unless said otherwise.
    #[must_use]
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.terms.ridge = ridge;
        self
    }

    /// Whether an intercept c is fitted, by implicit centring; no unless said otherwise.
    #[must_use]
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.terms.intercept = intercept;
        self
    }

    /// The weights W of the rows, not their roots; ones unless said otherwise.
    #[must_use]
    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.terms.weights = Some(weights);
        self
    }

    /// The certificate asked for; 1e-8 unless said otherwise.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Passes over the data at most; 10,000 unless said otherwise. Running out of them is a
    /// [`Stop`], and the solution so far comes back with its certificate.
    #[must_use]
    pub fn passes(self, passes: f64) -> Self {
        Self { passes, ..self }
    }

    /// The seed of the probes and of sampling.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Solves for data whose column norms can be computed in one pass: a sparse or dense matrix.
    ///
    /// # Errors
    /// When A is empty, when a shape does not fit, when a number is not finite or a parameter is
    /// out of range, and when the operator fails. A budget that runs out is no error.
    pub fn fit<T, A>(&self, a: &A, rhs: &Block<T>) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ColumnMoments<T>,
    {
        self.fit_watched(a, rhs, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`fit`](Self::fit), with a callback after every step that can stop it.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit).
    pub fn fit_watched<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ColumnMoments<T>,
    {
        self.fit_kept(a, rhs, Keeper::default(), watch)
    }

    /// As [`fit_watched`](Self::fit_watched), saved as it goes, or taken up where it was saved, to
    /// the bit: see [`Checkpoints`]. Only tolerance and budget may differ from the run that is taken
    /// up. [`Method::Direct`] is done in a few steps and is not saved; nor is the rest of `Auto`
    /// before its first iteration.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::{Record, Stop};
    /// use favard_models::{Checkpoints, LeastSquares, least_squares::Method};
    /// use favard_operator::{Block, Dense};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let rows = Block::<f64>::gaussian(200, 30, 1);
    /// let (a, b) = (Dense::new(rows.view())?, Block::gaussian(200, 1, 2));
    /// let lsmr = LeastSquares::new().method(Method::Lsmr);
    /// let stop = &mut |_: &Record<f64>| ControlFlow::Break(Stop::Requested);
    /// lsmr.fit_saved(&a, &b, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
    /// let resumed = lsmr.fit_saved(&a, &b, &Checkpoints::new().resume(&path), go_on)?;
    /// assert_eq!(resumed, lsmr.fit(&a, &b)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_saved<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ColumnMoments<T>,
    {
        self.fit_kept(a, rhs, Keeper::open::<T>(checkpoints, LEAST_SQUARES)?, watch)
    }

    fn fit_kept<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        keeper: Keeper,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ColumnMoments<T>,
    {
        if self.scaling != Scaling::Auto {
            return self.run(&a, rhs, None, keeper, watch);
        }
        self.check()?;
        problem::check_rhs(a.shape(), rhs)?;
        self.terms.check(a.shape().0)?;
        // ‖āⱼ‖² = w̄ Σ (a − μ)² + λ, with μ = 0 without an intercept
        let squares =
            if self.terms.intercept { a.column_moments()?.squares } else { a.column_squares()? };
        let weight = match &self.terms.weights {
            None => 1.0,
            Some(weights) => weights.iter().sum::<f64>() / a.shape().0 as f64,
        };
        let squares = squares.iter().map(|s| weight * s + self.terms.ridge).collect();
        let exact = self.terms.weights.is_none();
        self.run(&a, rhs, Some((squares, exact)), keeper, watch)
    }

    /// Solves for any operator that knows its adjoint.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit).
    ///
    /// # Example
    /// A difference operator known by what it does: the smoothest curve through noisy data.
    /// ```
    /// use favard_models::LeastSquares;
    /// use favard_operator::{Adjoint, Block, Diagonal, VStack, VectorFn, AdjointOperator};
    /// let n = 50;
    /// let difference = VectorFn::new((n - 1, n), move |x: &[f64], y: &mut [f64]| {
    ///     (0..n - 1).for_each(|i| y[i] = 5.0 * (x[i + 1] - x[i]));
    /// })
    /// .with_adjoint(move |z: &[f64], y: &mut [f64]| {
    ///     y.fill(0.0);
    ///     for i in 0..n - 1 {
    ///         y[i] -= 5.0 * z[i];
    ///         y[i + 1] += 5.0 * z[i];
    ///     }
    /// });
    /// let data: Box<dyn AdjointOperator<f64>> = Box::new(Diagonal::new(vec![1.0; n])?);
    /// let op = VStack::new(vec![data, Box::new(difference)])?;
    /// let rhs = Block::from_fn(2 * n - 1, 1, |i, _| if i < n { (i % 2) as f64 } else { 0.0 });
    /// let smooth = LeastSquares::new().solve(&op, &rhs)?;
    /// assert!(smooth.is_certified());
    /// assert!((0..n).all(|i| (smooth.x.row(i)[0] - 0.5).abs() < 0.1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve<T, A>(&self, a: &A, rhs: &Block<T>) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T>,
    {
        self.solve_watched(a, rhs, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`solve`](Self::solve), with a callback after every step that can stop it.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit).
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::Stop;
    /// use favard_models::LeastSquares;
    /// use favard_models::least_squares::Method;
    /// use favard_operator::{Block, Diagonal};
    /// let op = Diagonal::new((1..=200).map(f64::from).collect())?;
    /// let rhs = Block::gaussian(200, 1, 1);
    /// let mut seen = 0;
    /// let cut = LeastSquares::new().method(Method::Lsmr).scaling(favard_models::least_squares::Scaling::Off)
    ///     .solve_watched(&op, &rhs, &mut |record| {
    ///         seen += 1;
    ///         if record.tick == 5 { ControlFlow::Break(Stop::Requested) } else { ControlFlow::Continue(()) }
    ///     })?;
    /// assert_eq!((seen, cut.info.stop), (5, Stop::Requested));
    /// assert!(!cut.is_certified());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_watched<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T>,
    {
        self.run(&a, rhs, None, Keeper::default(), watch)
    }

    /// As [`solve_watched`](Self::solve_watched), saved as it goes, or taken up where it was saved:
    /// see [`fit_saved`](Self::fit_saved).
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and those of the files.
    pub fn solve_saved<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: AdjointOperator<T>,
    {
        self.run(&a, rhs, None, Keeper::open::<T>(checkpoints, LEAST_SQUARES)?, watch)
    }

    fn check(&self) -> Result<()> {
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            let (name, value) = ("tolerance", self.tolerance);
            let need = "must be finite and at least 0";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        if !self.passes.is_finite() || self.passes <= 0.0 {
            let (name, value, need) = ("passes", self.passes, "must be finite and above 0");
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        Ok(())
    }
}
