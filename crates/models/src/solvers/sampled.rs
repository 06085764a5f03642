//! [`Sampled`]: the runs that draw a batch a tick, with and without an anchor.

use favard_engine::Engine;
use favard_engine::gauge::{Gauge, GaugeFits};
use favard_engine::map::{MiniBatch, VarianceReduced};
use favard_engine::recurrence::Recurrence;
use favard_operator::{Block, Sampler, Scalar, StochasticOperator};

use super::Task;
use super::tuning::{count, sampler};
use super::watch::Residuals;
use crate::Eigen;
use crate::error::Result;

/// Records of a run that has no exact residuals.
const RECORDS: u64 = 100;

/// The batch, length and start of a sampled run.
pub(super) struct Sampled<T> {
    pub batch: u64,
    /// Ticks of the run, or of an epoch.
    pub ticks: u64,
    /// Columns to start from when the caller gave none.
    pub vectors: Option<Block<T>>,
}

impl<T: Scalar> Sampled<T> {
    /// Batches of this size, for one pass over so many terms.
    pub fn new(terms: usize, batch: u64) -> Self {
        let ticks = (terms as u64).div_ceil(batch.max(1)).max(1);
        Self { batch, ticks, vectors: None }
    }

    /// With a length that was given, or else planned.
    pub fn lasting(mut self, given: Option<u64>, planned: Option<f64>) -> Self {
        self.ticks = given.or(planned.map(count)).unwrap_or(self.ticks);
        self
    }

    /// One run of mini-batches: the answer is the last iterate, its residuals are known at the end.
    pub fn run<A, R, G>(
        self,
        mut task: Task<'_, T, A>,
        recurrence: R,
        gauge: impl FnOnce(usize) -> Result<G>,
    ) -> Result<Eigen<T>>
    where
        A: StochasticOperator<T> + ?Sized,
        R: Recurrence<T>,
        G: Gauge<T> + for<'b> GaugeFits<MiniBatch<T, &'b A, Sampler<T>>>,
    {
        task.plan("rows of a batch", self.batch)?;
        task.plan("ticks of the run", self.ticks)?;
        let start = task.block_from(self.vectors.as_ref(), task.guard(0))?;
        let draw = sampler(task.op.terms(), self.batch, task.options.seed)?;
        let gauge = gauge(start.cols())?;
        let map = MiniBatch::new(task.op, draw)?;
        let engine = Engine::new(map, recurrence, start)?.with_gauge(gauge);
        task = task.residuals(Residuals::Noisy((self.ticks / RECORDS).max(1))).steps(self.ticks);
        task.run(engine)
    }

    /// Epochs with an anchor, until the anchor's residuals, which are exact, are small enough.
    pub fn run_reduced<A, R, G>(
        self,
        mut task: Task<'_, T, A>,
        guard: usize,
        recurrence: R,
        gauge: impl FnOnce(usize) -> Result<G>,
    ) -> Result<Eigen<T>>
    where
        A: StochasticOperator<T> + ?Sized,
        R: Recurrence<T>,
        G: Gauge<T> + for<'b> GaugeFits<VarianceReduced<T, &'b A, Sampler<T>>>,
    {
        task.plan("rows of a batch", self.batch)?;
        task.plan("ticks of an epoch", self.ticks)?;
        let start = task.block_from(self.vectors.as_ref(), guard)?;
        let draw = sampler(task.op.terms(), self.batch, task.options.seed)?;
        let gauge = gauge(start.cols())?;
        let map = VarianceReduced::new(task.op, draw, self.ticks)?;
        let engine = Engine::new(map, recurrence, start)?.with_gauge(gauge);
        task = task.residuals(Residuals::AtAnchors(self.ticks));
        task.run(engine)
    }
}
