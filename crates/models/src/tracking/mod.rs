//! [`SubspaceTracker`]: the leading subspace of a stream that drifts.

mod choice;
mod covariance;
mod feed;
mod motion;
mod report;
mod state;
mod steps;

pub use choice::{TrackingMomentum, Weighing};
pub use covariance::BatchCovariance;
pub use report::Tracked;
pub use steps::TrackingStep;

use std::ops::ControlFlow;

use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Stream;
use favard_engine::{Advance, Checkpoint, Engine, Info, Record, Stop};
use favard_operator::{Block, BlockRef, Csr, Orthonormalizer, Scalar, Workspace, check_dim, ops};

use crate::error::{ErrorKind, Result, check_count};
use choice::Judge;
use covariance::check_rows;
use feed::Feed;
use motion::Motion;
use steps::Lever;

/// The map: the covariances of the batches as they come.
type Arrivals<T> = Stream<Feed<T>, BatchCovariance<T>>;

/// The k-dimensional subspace of largest variance of rows that arrive in batches, some of their
/// entries perhaps missing, while the subspace moves.
///
/// Every batch is one step of the recurrence on its own covariance,
/// $F_{t+1} = (a A_t + b I) F_t - \beta F_{t-1}$, and is then forgotten:
///
/// - the map is the stream of the covariances $A_t$ ([`BatchCovariance`]; missing entries by
///   inverse-probability weights, off-diagonal $1/p^2$, diagonal $1/p$);
/// - the recurrence is a power step or Oja's ([`TrackingStep`]), with momentum where it pays;
/// - the gauge is the augmented QR, the readout the first k columns, orthonormalised. One more
///   column is carried along, to see $\lambda_{k+1}$.
///
/// Momentum follows a drift more closely and amplifies the noise of the batches: it helps if and
/// only if the squared lag exceeds the noise ball. Both are estimated while tracking, from how far
/// the subspace moves within one and within two windows: noise moves it by a constant, drift by a
/// distance that grows with the time. [`Tracked`] says what was chosen and why, and
/// [`momentum`](Self::momentum) forces it.
///
/// The recurrence is exactly that of the paper for complete rows and for inverse-probability
/// weights. (GROUSE and its relatives, which project partial rows, are nonlinear in the subspace
/// and no points of this engine.)
///
/// A tracker is a serde type: what is saved after a batch and read back takes the next batch to the
/// same bits as the one that went on. Any format will do that keeps floating-point numbers exactly.
///
/// # Cost
/// One product of the batch with n × (k + 1) numbers and one QR a batch, a copy of the batch, and
/// every few batches a k × k matrix to measure the motion. Memory: eight blocks of n × (k + 1), two
/// of them the pair before the batch, to which a batch that fails goes back.
///
/// # Example
/// ```
/// use favard_models::SubspaceTracker;
/// use favard_operator::Block;
///
/// // Rows in ten dimensions that vary most along the first two.
/// let mut tracker = SubspaceTracker::<f64>::new(10, 2)?;
/// for t in 0..40 {
///     let noise = Block::<f64>::gaussian(200, 10, t);
///     let rows = Block::from_fn(200, 10, |i, j| noise.row(i)[j] * if j < 2 { 3.0 } else { 1.0 });
///     tracker.update(rows.as_ref())?;
/// }
/// let basis = tracker.basis();
/// let outside: f64 = (2..10).map(|i| basis.row(i).iter().map(|v| v * v).sum::<f64>()).sum();
/// assert!(outside < 0.05);
/// println!("{}", tracker.report()); // whether momentum was used, and why
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SubspaceTracker<T: Scalar> {
    engine: Engine<T, Arrivals<T>, Lever, AugmentedQr<T>>,
    feed: Feed<T>,
    lever: Lever,
    dim: usize,
    components: usize,
    missing: bool,
    probability: Option<f64>,
    motion: Motion<T>,
    judge: Judge,
    basis: Block<T>,
    qr: Orthonormalizer<T>,
    ws: Workspace<T>,
    /// The engine before the last batch.
    before: Checkpoint<T>,
    /// The Ritz values and residuals of the last batch, also after a resume.
    measured: (Vec<T>, Vec<T>),
    report: Tracked<T>,
}

/// `Ok` when a subspace of that dimension fits.
fn check_components(dim: usize, components: usize) -> Result<()> {
    check_count("components", components, dim, "the length of a row")
}

/// The columns that are carried: one more than asked for, to see $\lambda_{k+1}$.
fn width(dim: usize, components: usize) -> usize {
    components.saturating_add(1).min(dim)
}

impl<T: Scalar> std::fmt::Debug for SubspaceTracker<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("SubspaceTracker");
        out.field("dim", &self.dim).field("components", &self.components);
        out.field("report", &self.report).finish_non_exhaustive()
    }
}

impl<T: Scalar> SubspaceTracker<T> {
    /// A tracker of a `components`-dimensional subspace of rows of length `dim`, from a random
    /// start.
    ///
    /// # Errors
    /// `Parameter` unless 1 ≤ components ≤ dim.
    pub fn new(dim: usize, components: usize) -> Result<Self> {
        check_components(dim, components)?;
        Self::start(dim, components, Block::gaussian(dim, width(dim, components), 1))
    }

    fn start(dim: usize, components: usize, start: Block<T>) -> Result<Self> {
        let width = start.cols();
        let (feed, lever) = (Feed::default(), Lever::default());
        let map = Stream::new(dim, feed.clone());
        let engine = Engine::new(map, lever.clone(), start)?.with_gauge(AugmentedQr::new(width));
        let mut tracker = Self {
            before: engine.checkpoint(),
            engine,
            feed,
            lever,
            dim,
            components,
            missing: false,
            probability: None,
            motion: Motion::new(),
            judge: Judge::new(TrackingMomentum::Auto, TrackingStep::Power),
            basis: Block::zeros(dim, components),
            qr: Orthonormalizer::new(components),
            ws: Workspace::new(),
            measured: (Vec::new(), Vec::new()),
            report: Tracked::default(),
        };
        tracker.read_basis()?;
        Ok(tracker)
    }

    /// The same from given columns: an earlier [`basis`](Self::basis), say. Further columns are
    /// drawn at random.
    ///
    /// # Errors
    /// `Shape` when there are other than n rows or k columns, `NonFinite`.
    pub fn from_basis(self, basis: BlockRef<'_, T>) -> Result<Self> {
        check_dim("rows of the basis", self.dim, basis.rows())?;
        check_dim("columns of the basis", self.components, basis.cols())?;
        let start = self.filled(basis);
        let (missing, probability, judge) = (self.missing, self.probability, self.judge);
        let fresh = Self::start(self.dim, self.components, start)?;
        Ok(Self { missing, probability, judge, ..fresh })
    }

    /// What a batch does to the subspace; [`TrackingStep::Power`] unless said otherwise.
    #[must_use]
    pub fn step(mut self, step: TrackingStep) -> Self {
        self.judge = Judge::new(self.judge.forced(), step);
        self
    }

    /// Whether momentum is used; [`TrackingMomentum::Auto`] unless said otherwise.
    #[must_use]
    pub fn momentum(mut self, momentum: TrackingMomentum) -> Self {
        self.judge = Judge::new(momentum, self.judge.step());
        self
    }

    /// Entries may be missing: NaN in dense rows, not stored in sparse ones. `probability` is the
    /// share p of entries that are seen; `None` takes the share of each batch.
    ///
    /// Without this call a NaN is an error and an entry that is not stored is a zero.
    #[must_use]
    pub fn missing(mut self, probability: Option<f64>) -> Self {
        (self.missing, self.probability) = (true, probability);
        self
    }

    /// One step with the rows of a batch (s × n). With [`missing`](Self::missing) a NaN is an entry
    /// that was not seen.
    ///
    /// # Errors
    /// - `Shape` when the rows have another length than n.
    /// - `Empty` when there is no row, [`TooFew`](ErrorKind::TooFew) when a power step gets fewer
    ///   rows than the k + 1 columns it moves (Oja's step takes any number).
    /// - `NonFinite` with the first entry that is infinite, or NaN where nothing may be missing.
    /// - `Parameter` when all entries are zero or missing, or the probability is not in (0, 1].
    /// - [`Scale`](ErrorKind::Scale) when they are so small that a power step loses its digits.
    ///
    /// The tracker is unchanged after an error.
    pub fn update(&mut self, rows: BlockRef<'_, T>) -> Result<&Tracked<T>> {
        self.check(rows.shape())?;
        let batch = if self.missing {
            BatchCovariance::with_nan(rows, self.probability)?
        } else {
            BatchCovariance::dense(rows)?
        };
        self.advance(batch)
    }

    /// The same with sparse rows. With [`missing`](Self::missing) the stored entries are those that
    /// were seen; else the others are zero.
    ///
    /// # Errors
    /// Those of [`update`](Self::update).
    pub fn update_sparse(&mut self, rows: &Csr<'_, T>) -> Result<&Tracked<T>> {
        self.check(rows.shape())?;
        let batch = if self.missing {
            BatchCovariance::observed(rows, self.probability)?
        } else {
            BatchCovariance::sparse(rows)?
        };
        self.advance(batch)
    }

    /// Takes batch after batch until the source ends ([`Stop::Exhausted`]) or the callback stops
    /// it. Records have the largest Ritz value of the batch and the largest residual of the first
    /// k, both of the subspace before it has seen the batch.
    ///
    /// # Errors
    /// Those of [`update`](Self::update); batches before the bad one have been used.
    pub fn track_watched<'b>(
        &mut self,
        batches: impl IntoIterator<Item = BlockRef<'b, T>>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Info<T>>
    where
        T: 'b,
    {
        let mut history = Vec::new();
        for rows in batches {
            let report = self.update(rows)?;
            let residual = report.residuals.iter().copied().fold(T::zero(), T::max);
            let ritz = report.ritz.first().copied().unwrap_or(T::zero());
            let record =
                Record { tick: report.batches, passes: report.batches as f64, ritz, residual };
            history.push(record);
            if let ControlFlow::Break(stop) = watch(&record) {
                return Ok(Info { history, ..self.info_at(stop) });
            }
        }
        Ok(Info { history, ..self.info() })
    }

    /// The subspace: n × k, orthonormal.
    #[must_use]
    pub fn basis(&self) -> &Block<T> {
        &self.basis
    }

    /// What the last batch said, what was chosen, and why.
    #[must_use]
    pub fn report(&self) -> &Tracked<T> {
        &self.report
    }

    /// What tracking has cost so far, with the Ritz values and residuals of the last batch.
    #[must_use]
    pub fn info(&self) -> Info<T> {
        self.info_at(Stop::Exhausted)
    }

    fn info_at(&self, stop: Stop) -> Info<T> {
        let (ritz, residuals) = self.measured.clone();
        Info { ritz, residuals, reason: self.report.to_string(), ..self.engine.info(stop) }
    }

    /// The columns of a basis, and a random one more.
    fn filled(&self, basis: BlockRef<'_, T>) -> Block<T> {
        let random = Block::<T>::gaussian(self.dim, self.engine.block().cols(), 1);
        Block::from_fn(self.dim, random.cols(), |i, j| {
            if j < basis.cols() { basis.row(i)[j] } else { random.row(i)[j] }
        })
    }

    fn check(&self, (rows, cols): (usize, usize)) -> Result<()> {
        check_dim("columns of the batch", self.dim, cols)?;
        check_rows(rows, cols)?;
        if let TrackingStep::Oja(step) = self.judge.step()
            && !(step.is_finite() && step > 0.0)
        {
            let (name, need) = ("step", "must be finite and above 0");
            return Err(ErrorKind::Parameter { name, value: step, need }.into());
        }
        if let TrackingMomentum::Fixed(beta) = self.judge.forced()
            && !(beta.is_finite() && beta >= 0.0)
        {
            let (name, need) = ("beta", "must be finite and at least 0");
            return Err(ErrorKind::Parameter { name, value: beta, need }.into());
        }
        let needed = self.engine.block().cols();
        if self.judge.step() == TrackingStep::Power && rows < needed {
            let what = "rows of a batch for a power step";
            return Err(ErrorKind::TooFew { what, needed, found: rows }.into());
        }
        Ok(())
    }

    /// The step with the batch, or the state before it.
    fn advance(&mut self, batch: BatchCovariance<T>) -> Result<&Tracked<T>> {
        if self.judge.step() == TrackingStep::Power {
            batch.check_power()?;
        }
        self.engine.refresh(&mut self.before)?;
        if let Err(error) = self.take(batch) {
            // A step that fails may have overwritten half of the pair, and keeps its batch.
            let start = self.before.block().clone();
            let fresh = Self::start(self.dim, self.components, start)?;
            (self.engine, self.feed, self.lever) = (fresh.engine, fresh.feed, fresh.lever);
            self.engine.resume(self.before.clone())?;
            self.read_basis()?;
            return Err(error);
        }
        Ok(&self.report)
    }

    /// One tick of the engine on the batch, then the readout and the estimates.
    fn take(&mut self, batch: BatchCovariance<T>) -> Result<()> {
        self.lever.set(self.judge.settings());
        self.feed.put(batch);
        let ended = matches!(self.engine.advance_measured()?, Advance::Ended(_));
        let mut norms = [T::zero()];
        let first = self.engine.block().as_ref().cols_range(0..1);
        ops::column_norms(first, &mut norms, &mut self.ws)?;
        if ended || norms[0] == T::zero() {
            // The batch is orthogonal to the subspace, and a power step leaves nothing of it.
            let (name, value) = ("variance of the batch along the subspace", 0.0);
            return Err(ErrorKind::Parameter { name, value, need: "must be above 0" }.into());
        }
        self.read_basis()?;
        let measure = self.engine.measure();
        self.measured.0.clone_from(&measure.ritz);
        self.measured.1.clone_from(&measure.residuals);
        self.judge.see(measure, self.components);
        if let Some(moved) = self.motion.see(&self.basis, self.judge.window(), &mut self.ws)?
            && self.judge.weigh(moved)
        {
            self.motion.restart();
        }
        self.report.fill(self.engine.tick(), measure, self.components, &self.judge);
        Ok(())
    }

    /// The first k columns of the block, orthonormalised: QR is nested, so that they are what a
    /// tracker without the extra column would have.
    fn read_basis(&mut self) -> Result<()> {
        let leading = self.engine.block().as_ref().cols_range(0..self.components);
        self.basis.assign(leading)?;
        self.qr.orthonormalize(&mut [&mut self.basis], &mut self.ws)?;
        Ok(())
    }
}
