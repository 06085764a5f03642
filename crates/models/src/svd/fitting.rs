//! [`SvdFitting`]: a decomposition with weights, a watcher and checkpoints.

use favard_operator::{
    Block, Centered, ColumnMoments, Gram, Moments, RowOperator, Scalar, WeightedMoments,
};

use super::{
    AS_IT_IS, Checkpoints, ControlFlow, EIGENPAIRS, Keeper, Record, Result, SvdFit, TruncatedSvd,
    Watch,
};
use crate::memory;
use crate::pca::{Earlier, Statistics, narrow, turned, turned_bytes, with_operator};

/// A fit of a [`TruncatedSvd`] that is being put together: see [`TruncatedSvd::on`].
pub struct SvdFitting<'a, T, X> {
    svd: &'a TruncatedSvd,
    x: &'a X,
    weights: Option<(&'a [f64], Moments)>,
    earlier: Earlier<'a, T>,
    watch: Option<&'a mut Watch<'a, T>>,
    checkpoints: Option<&'a Checkpoints>,
}

impl<T: Scalar, X> std::fmt::Debug for SvdFitting<'_, T, X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SvdFitting").field("svd", self.svd).finish_non_exhaustive()
    }
}

impl<'a, T, X> SvdFitting<'a, T, X>
where
    T: Scalar,
    X: RowOperator<T> + ColumnMoments<T>,
{
    pub(super) fn new(svd: &'a TruncatedSvd, x: &'a X) -> Self {
        let earlier = Earlier::None;
        Self { svd, x, weights: None, earlier, watch: None, checkpoints: None }
    }

    /// Row i counts $w_i$ times.
    ///
    /// # Errors
    /// When there is not one weight for each row, when one is negative or not finite, or when all
    /// are zero.
    pub fn weights(self, weights: &'a [f64]) -> Result<Self>
    where
        X: WeightedMoments<T>,
    {
        let moments = self.x.weighted_moments(weights)?;
        Ok(Self { weights: Some((weights, moments)), ..self })
    }

    /// Starts from the right vectors of an earlier fit, of as many columns, instead of random ones.
    #[must_use]
    pub fn start(self, earlier: &'a SvdFit<T>) -> Self {
        self.start_from(earlier.components())
    }

    /// Starts from the span of given columns, d × at most min(n, d), that should be close to the
    /// right vectors. They need not be orthonormal.
    #[must_use]
    pub fn start_from(self, columns: &'a Block<T>) -> Self {
        Self { earlier: Earlier::Near(columns), ..self }
    }

    /// Keeps the triplets of an earlier fit to the same data and looks for those that are missing.
    #[must_use]
    pub fn extend(self, earlier: &'a SvdFit<T>) -> Self {
        Self { earlier: Earlier::Extend(&earlier.decomposition), ..self }
    }

    /// Calls `watch` after every step, which may stop the fit.
    #[must_use]
    pub fn watch(self, watch: &'a mut Watch<'a, T>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Saves the fit as it goes, or takes up one that was saved, to the bit: see [`Checkpoints`].
    #[must_use]
    pub fn checkpoints(self, checkpoints: &'a Checkpoints) -> Self {
        Self { checkpoints: Some(checkpoints), ..self }
    }

    /// Bytes that [`run`](Self::run) will allocate at most at a time, beside the data: see
    /// [`Fitting::memory`](crate::Fitting::memory).
    ///
    /// # Errors
    /// When the components do not fit the data, or when the data cannot be read.
    pub fn memory(&self) -> Result<usize> {
        let plan = &self.svd.plan;
        plan.check(self.x.shape())?;
        match turned(self.x, plan) {
            None => self.memory_of(self.x),
            Some(x) => Ok(turned_bytes(self.x, plan).unwrap_or(0) + self.memory_of(&x)?),
        }
    }

    /// The same for the data as they are stored here.
    fn memory_of(&self, x: &impl RowOperator<T>) -> Result<usize> {
        let (shape, plan) = (x.shape(), &self.svd.plan);
        let statistics = Statistics::neutral(shape.1);
        let weights = self.weights.as_ref().map(|(weights, _)| *weights);
        let weighted = weights.map_or(0, |weights| weights.len() * 2 * size_of::<T>());
        let fit =
            with_operator(x, &statistics, AS_IT_IS, weights, |op| memory::fit(op, Some(op), plan))?;
        // The variances of the scores: a product with the centred data.
        let centred = Gram::new(Centered::new(x, narrow(&statistics.mean))?);
        let scores = memory::product(&centred, plan.components)?;
        Ok(weighted + memory::moments_of(shape.1) + fit.max(scores))
    }

    /// Fits.
    ///
    /// # Errors
    /// Those of [`TruncatedSvd::fit`]; an earlier fit to data of another width, or, to be extended,
    /// to other data or with no fewer triplets; a checkpoint that cannot be read or written, or is one of
    /// another fit.
    pub fn run(self) -> Result<SvdFit<T>> {
        let Self { svd, x, weights, earlier, watch, checkpoints } = self;
        svd.plan.check(x.shape())?;
        match turned(x, &svd.plan) {
            None => Self { svd, x, weights, earlier, watch, checkpoints }.run_as_stored(),
            Some(turned) => {
                let watch = watch.map(|watch| watch as &mut Watch<'_, T>);
                let x = &turned;
                SvdFitting { svd, x, weights, earlier, watch, checkpoints }.run_as_stored()
            }
        }
    }

    fn run_as_stored(self) -> Result<SvdFit<T>> {
        let mut keeper = match self.checkpoints {
            None => Keeper::default(),
            Some(checkpoints) => Keeper::open::<T>(checkpoints, EIGENPAIRS)?,
        };
        keeper.mark("model", "SVD")?;
        let (weights, moments) = match self.weights {
            Some((weights, moments)) => (Some(weights), moments),
            None => (None, self.x.column_moments()?),
        };
        let mut go_on = |_: &Record<T>| ControlFlow::Continue(());
        let watch = self.watch.unwrap_or(&mut go_on);
        self.svd.run(self.x, (weights, &moments), &self.earlier, keeper, watch)
    }
}
