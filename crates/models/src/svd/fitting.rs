//! [`SvdFitting`]: a decomposition with weights, a watcher and checkpoints.

use super::{
    Checkpoints, ColumnMoments, ControlFlow, EIGENPAIRS, Keeper, Moments, Record, Result,
    RowOperator, Scalar, SvdFit, TruncatedSvd, Watch, WeightedMoments,
};

/// A fit of a [`TruncatedSvd`] that is being put together: see [`TruncatedSvd::on`].
pub struct SvdFitting<'a, T, X> {
    svd: &'a TruncatedSvd,
    x: &'a X,
    weights: Option<(&'a [f64], Moments)>,
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
        Self { svd, x, weights: None, watch: None, checkpoints: None }
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

    /// Fits.
    ///
    /// # Errors
    /// Those of [`TruncatedSvd::fit`]; a checkpoint that cannot be read or written, or is one of
    /// another fit.
    pub fn run(self) -> Result<SvdFit<T>> {
        self.svd.plan.check(self.x.shape())?;
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
        self.svd.run(self.x, (weights, &moments), keeper, watch)
    }
}
