//! [`Eigensolver`]: a method with what every method can be told.

use std::ops::ControlFlow;

use favard_engine::observe::{Observer, Unwatched};
use favard_engine::{Record, Stop};
use favard_operator::{Block, LinearOperator, Scalar};

use super::watch::Eye;
use super::{Options, Task};
use crate::checkpoint::{self, Keeper};
use crate::error::Result;
use crate::lanczos::EIGENPAIRS;
use crate::{Checkpoints, Eigen};

/// A way to find the largest eigenpairs of an operator of type `A`: a point on the engine's axes.
///
/// The exact methods take every [`LinearOperator`], the sampled ones every
/// [`StochasticOperator`](favard_operator::StochasticOperator). An own method composes an engine
/// and hands it to [`Task::run`].
///
/// # Example
/// The power iteration on a momentum of one's own:
/// ```
/// use favard_engine::{Engine, gauge::AugmentedQr, map::Exact};
/// use favard_engine::recurrence::{Momentum, Start};
/// use favard_models::{Eigen, Result, solvers::{Eigensolver, Method, Task}};
/// use favard_operator::{Diagonal, LinearOperator, Scalar};
///
/// struct Quarter;
/// impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for Quarter {
///     fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
///         let (start, map) = (task.block(2)?, Exact::new(task.op)?);
///         let gauge = AugmentedQr::new(start.cols());
///         let recurrence = Momentum::new(T::of(0.25), Start::U)?;
///         task.run(Engine::new(map, recurrence, start)?.with_gauge(gauge))
///     }
/// }
/// let op = Diagonal::new(vec![3.0, 2.0, 1.0, 0.5, 0.1, 0.0])?;
/// let found = Eigensolver::new(Quarter, 1).solve(&op)?;
/// assert!((found.values[0] - 3.0_f64).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Method<T: Scalar, A: ?Sized> {
    /// Does the task.
    ///
    /// # Errors
    /// When a parameter of the method is out of range, or when the operator fails.
    fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>>;
}

impl<T: Scalar, A: ?Sized, M: Method<T, A> + ?Sized> Method<T, A> for &M {
    fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>> {
        (**self).run(task)
    }
}

/// A [`Method`] with the [`Options`] that all of them share.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, PowerMomentum};
/// use favard_operator::Diagonal;
/// let op = Diagonal::new((0..200).map(|i| 0.99_f64.powi(i)).collect())?;
/// let found = Eigensolver::new(PowerMomentum::default(), 3).tolerance(1e-9).solve(&op)?;
/// for (value, exact) in found.values.iter().zip([1.0, 0.99, 0.9801]) {
///     assert!((value - exact).abs() < 1e-9);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Eigensolver<M> {
    method: M,
    options: Options,
}

impl<M> Eigensolver<M> {
    /// `method` for the `components` largest eigenvalues.
    pub fn new(method: M, components: usize) -> Self {
        Self { method, options: Options::new(components) }
    }

    /// Columns beside the wanted ones. They make the leading ones converge at the rate of the gap
    /// behind the block, and their Ritz values tell a momentum method its β.
    #[must_use]
    pub fn guard(mut self, columns: usize) -> Self {
        self.options.guard = Some(columns);
        self
    }

    /// Stop when every residual is at most this times the largest Ritz value; 1e-8 unless said
    /// otherwise, and 0 for never: then nothing is measured, and steps are cheaper.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.options.tolerance = tolerance;
        self
    }

    /// Passes over the data at most; 1000 unless said otherwise.
    #[must_use]
    pub fn passes(mut self, passes: f64) -> Self {
        self.options.passes = passes;
        self
    }

    /// The seed of the start block and of the samples.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// The method.
    pub fn method(&self) -> &M {
        &self.method
    }

    /// What it was told.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Runs from a random block.
    ///
    /// # Errors
    /// When the operator is not square, when k is 0 or larger than the dimension, when a parameter
    /// is out of range, or when the operator fails or gives a non-finite number.
    pub fn solve<T: Scalar, A: LinearOperator<T> + ?Sized>(&self, op: &A) -> Result<Eigen<T>>
    where
        M: Method<T, A>,
    {
        self.solve_observed(op, None, &mut Unwatched)
    }

    /// Runs from given columns (an earlier result, say), with a callback at every measured step
    /// that can stop it. The record's residual is the largest of the k wanted ones.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and a start with another number of rows.
    pub fn solve_watched<T: Scalar, A: LinearOperator<T> + ?Sized>(
        &self,
        op: &A,
        start: Option<&Block<T>>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>>
    where
        M: Method<T, A>,
    {
        let found = self.solve_kept(op, start, &mut Keeper::default(), Eye::Records(watch))?;
        Ok(self.proved(found))
    }

    /// As [`solve_watched`](Self::solve_watched), saved as it goes, or taken up where it was saved:
    /// see [`Checkpoints`]. The method, the columns and all but the tolerance and the budget are
    /// those of the run that is taken up; the tolerance too where the method plans with it.
    ///
    /// # Errors
    /// Those of [`solve_watched`](Self::solve_watched), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::{Record, Stop};
    /// use favard_models::Checkpoints;
    /// use favard_models::solvers::{Eigensolver, PowerMomentum};
    /// use favard_operator::Diagonal;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let op = Diagonal::new((0..200).map(|i| 0.99_f64.powi(i)).collect())?;
    /// let solver = Eigensolver::new(PowerMomentum::default(), 3);
    /// let stop = &mut |_: &Record<f64>| ControlFlow::Break(Stop::Requested);
    /// solver.solve_saved(&op, None, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
    /// let resumed = solver.solve_saved(&op, None, &Checkpoints::new().resume(&path), go_on)?;
    /// assert_eq!(resumed, solver.solve(&op)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_saved<T: Scalar, A: LinearOperator<T> + ?Sized>(
        &self,
        op: &A,
        start: Option<&Block<T>>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>>
    where
        M: Method<T, A>,
    {
        let dim = self.options.check(op.shape())?;
        let mut keeper = Keeper::open::<T>(checkpoints, EIGENPAIRS)?;
        keeper.mark("solver", "a point of the engine")?;
        keeper.mark("dimension", dim)?;
        keeper.mark("work of a product", op.work())?;
        keeper.mark("components", self.options.components)?;
        keeper.mark("seed", self.options.seed)?;
        keeper.mark("start", start.map_or("random".to_string(), checkpoint::hash))?;
        Ok(self.proved(self.solve_kept(op, start, &mut keeper, Eye::Records(watch))?))
    }

    /// With the certificate for what was asked.
    fn proved<T: Scalar>(&self, found: Eigen<T>) -> Eigen<T> {
        found.proved(self.options.tolerance, self.options.components)
    }

    /// Runs with a keeper that knows the problem.
    pub(crate) fn solve_kept<'a, T: Scalar, A: LinearOperator<T> + ?Sized>(
        &self,
        op: &'a A,
        start: Option<&'a Block<T>>,
        keeper: &'a mut Keeper,
        eye: Eye<'a, T>,
    ) -> Result<Eigen<T>>
    where
        M: Method<T, A>,
    {
        self.options.check(op.shape())?;
        self.method.run(Task::new(op, self.options, start, eye, keeper)?)
    }

    /// Runs from given columns with any of the engine's observers: a deadline, a cancel flag, a
    /// closure that looks at the block.
    ///
    /// # Errors
    /// Those of [`solve_watched`](Self::solve_watched), and those of the observer.
    pub fn solve_observed<T: Scalar, A: LinearOperator<T> + ?Sized>(
        &self,
        op: &A,
        start: Option<&Block<T>>,
        observer: &mut dyn Observer<T>,
    ) -> Result<Eigen<T>>
    where
        M: Method<T, A>,
    {
        let found = self.solve_kept(op, start, &mut Keeper::default(), Eye::Steps(observer))?;
        Ok(self.proved(found))
    }
}
