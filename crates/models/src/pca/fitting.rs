//! [`Fitting`]: a fit with weights, a start, a watcher and checkpoints.

use std::ops::ControlFlow;

use favard_engine::Record;
use favard_operator::{Block, ColumnMoments, RowOperator, Scalar, WeightedMoments};

use super::decomposition::Decomposition;
use super::earlier::Earlier;
use super::known::Known;
use super::problem::{Problem, nothing};
use super::range::check_range;
use super::statistics::{Statistics, mark, with_operator};
use super::{Pca, PcaFit, Watch, turned, turned_bytes};
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result};
use crate::lanczos::EIGENPAIRS;
use crate::{Checkpoints, memory};

/// A fit of a [`Pca`] that is being put together: see [`Pca::on`].
pub struct Fitting<'a, T, X> {
    pca: &'a Pca,
    x: &'a X,
    weights: Option<(&'a [f64], Known<T>)>,
    earlier: Earlier<'a, T>,
    watch: Option<&'a mut Watch<'a, T>>,
    checkpoints: Option<&'a Checkpoints>,
}

impl<T: Scalar, X> std::fmt::Debug for Fitting<'_, T, X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fitting").field("pca", self.pca).finish_non_exhaustive()
    }
}

impl<'a, T, X> Fitting<'a, T, X>
where
    T: Scalar,
    X: RowOperator<T> + ColumnMoments<T>,
{
    pub(super) fn new(pca: &'a Pca, x: &'a X) -> Self {
        let earlier = Earlier::None;
        Self { pca, x, weights: None, earlier, watch: None, checkpoints: None }
    }

    /// Row i counts $w_i$ times: whole numbers give what repeated rows give, zero leaves a row out.
    ///
    /// # Errors
    /// When there is not one weight for each row, when one is negative or not finite, or when all
    /// are zero.
    pub fn weights(self, weights: &'a [f64]) -> Result<Self>
    where
        X: WeightedMoments<T>,
    {
        let moments = || self.x.weighted_moments(weights);
        let known = Known::new(self.x, &self.pca.plan, Some(weights), moments)?;
        Ok(Self { weights: Some((weights, known)), ..self })
    }

    /// Starts from the components of an earlier fit, of as many columns, instead of random ones.
    #[must_use]
    pub fn start(self, earlier: &'a PcaFit<T>) -> Self {
        self.start_from(earlier.components())
    }

    /// Starts from the span of given columns, d × at most min(n, d), that
    /// should be close to the components: those of another library, a basis that is known.
    /// They need not be orthonormal.
    #[must_use]
    pub fn start_from(self, columns: &'a Block<T>) -> Self {
        Self { earlier: Earlier::Near(columns), ..self }
    }

    /// Keeps the components of an earlier fit to the same data and looks for those that are
    /// missing.
    #[must_use]
    pub fn extend(self, earlier: &'a PcaFit<T>) -> Self {
        Self { earlier: Earlier::Extend(&earlier.0), ..self }
    }

    /// Calls `watch` after every step, which may stop the fit.
    #[must_use]
    pub fn watch(self, watch: &'a mut Watch<'a, T>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Saves the fit as it goes, or takes up one that was saved, to the bit: see [`Checkpoints`].
    /// Everything but the budget and, for methods that use all rows in each step, the tolerance, has
    /// to be as in the fit that is taken up, an earlier fit included. [`Solver::Exact`] has a single
    /// step and nothing to save.
    ///
    /// [`Solver::Exact`]: super::Solver::Exact
    #[must_use]
    pub fn checkpoints(self, checkpoints: &'a Checkpoints) -> Self {
        Self { checkpoints: Some(checkpoints), ..self }
    }

    /// Bytes that [`run`](Self::run) will allocate at most at a time, beside the data: the
    /// statistics of the columns, the method's blocks, and the scratch of the data's products,
    /// which one product with zeros measures. A method that samples and chooses its own batch is
    /// counted as if that were all rows. What faer sets up once for each thread of a process
    /// (64 MiB of address space) is not counted, nor what an earlier fit or a checkpoint adds, nor
    /// what block Lanczos adds where it doubts a repeated eigenvalue.
    ///
    /// # Errors
    /// When the components do not fit the data, or when the data cannot be read.
    pub fn memory(&self) -> Result<usize> {
        let plan = &self.pca.plan;
        plan.check(self.x.shape())?;
        match turned(self.x, plan) {
            None => self.memory_of(self.x),
            Some(x) => Ok(turned_bytes(self.x, plan).unwrap_or(0) + self.memory_of(&x)?),
        }
    }

    /// The same for the data as they are stored here.
    fn memory_of(&self, x: &impl RowOperator<T>) -> Result<usize> {
        let statistics = Statistics::neutral(x.shape().1);
        let weights = self.weights.as_ref().map(|(weights, _)| *weights);
        let weighted = weights.map_or(0, |weights| weights.len() * 2 * size_of::<T>());
        with_operator(x, &statistics, self.pca.steps, weights, |op| {
            Ok(weighted + memory::fit(op, Some(op), &self.pca.plan)?)
        })
    }

    /// Fits.
    ///
    /// # Errors
    /// Those of [`Pca::fit`]; an earlier fit to data of another width, or, to be extended, to other
    /// data or with no fewer components; a checkpoint that cannot be read or written, or is one of
    /// another fit.
    pub fn run(self) -> Result<PcaFit<T>> {
        let Self { pca, x, weights, earlier, watch, checkpoints } = self;
        match turned(x, &pca.plan) {
            None => Self { pca, x, weights, earlier, watch, checkpoints }.run_as_stored(),
            Some(turned) => {
                let watch = watch.map(|watch| watch as &mut Watch<'_, T>);
                let x = &turned;
                Fitting { pca, x, weights, earlier, watch, checkpoints }.run_as_stored()
            }
        }
    }

    fn run_as_stored(self) -> Result<PcaFit<T>> {
        let Pca { plan, steps } = self.pca;
        let mut keeper = match self.checkpoints {
            None => Keeper::default(),
            Some(checkpoints) => Keeper::open::<T>(checkpoints, EIGENPAIRS)?,
        };
        keeper.mark("model", "PCA")?;
        let shape = self.x.shape();
        let (weights, known) = match (self.weights, &self.earlier) {
            (Some((weights, known)), _) => (Some(weights), known),
            (None, Earlier::None) => {
                (None, Known::new(self.x, plan, None, || self.x.column_moments())?)
            }
            (None, _) => (None, Known::Moments(self.x.column_moments()?)),
        };
        let weight = weights.map_or(shape.0 as f64, |weights| weights.iter().sum());
        check_rows(shape, weights.is_some(), weight)?;
        plan.check(shape)?;
        let statistics = Statistics::new(known.moments(), weight, weight - 1.0, *steps)?;
        with_operator(self.x, &statistics, *steps, weights, |op| {
            check_range(op, known.moments(), &statistics, *steps)
        })?;
        let formed = known.into_covariance(&statistics);
        mark(self.x, &statistics, *steps, weights, &mut keeper)?;
        let start = self.earlier.start(plan, shape, &statistics)?;
        let mut go_on = |_: &Record<T>| ControlFlow::Continue(());
        let watch = self.watch.unwrap_or(&mut go_on);
        let solution = if statistics.total == 0.0 {
            nothing(shape.1, plan.components)
        } else {
            with_operator(self.x, &statistics, *steps, weights, |op| {
                let problem = Problem::of_rows(op, statistics.freedom.recip());
                let problem = problem.formed(formed).balanced(statistics.total);
                problem.solve(plan, start, &mut keeper, watch)
            })?
        };
        solution.check_share(statistics.total, shape)?;
        Ok(PcaFit(Decomposition::new(solution, statistics, plan, shape)))
    }
}

/// `Ok` when the rows have a variance.
fn check_rows((rows, cols): (usize, usize), weighted: bool, weight: f64) -> Result<()> {
    let bad = |name, value, need| Err(ErrorKind::Parameter { name, value, need }.into());
    if cols == 0 {
        return bad("columns", 0.0, "must be at least 1");
    }
    if !weighted && rows < 2 {
        return bad("rows", rows as f64, "must be at least 2: one row has no variance");
    }
    // Weights that are divided by their sum add up to one, and a little more by rounding.
    if weight <= 1.0 + rows as f64 * f64::EPSILON {
        let need = "must be above 1: a weight says how many times its row counts";
        return bad("sum of the weights", weight, need);
    }
    Ok(())
}
