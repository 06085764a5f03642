//! [`Engine`]: one step of the recurrence, whatever the axes.

use favard_operator::{Block, Scalar, Workspace, ops};

use crate::error::{ErrorKind, Result};
use crate::gauge::{Gauge, GaugeFits, NoGauge};
use crate::info::{Info, Measure, Record, Stop};
use crate::map::{Flow, StepMap};
use crate::observe::{Observer, Step};
use crate::readout::{Last, Readout, ReadoutFits};
use crate::recurrence::{Progress, Recurrence, Steer, Triple};
use crate::ritz::RayleighRitz;

/// The recurrence
///
/// $$ F_{t+1} = a_t \Phi_t(F_t) + b_t F_t - c_t F_{t-1} $$
///
/// as four independent choices: a [map](crate::map) Φ, a [recurrence](crate::recurrence) (a, b, c),
/// a [gauge](crate::gauge) and a [readout](crate::readout).
///
/// The caller may own the loop ([`advance`](Self::advance)), or hand it over
/// ([`run`](Self::run)) with [observers](crate::observe) that watch and stop it.
///
/// # Cost
/// A step is one evaluation of the map, fused with the recurrence for operators that cannot fail:
/// it then moves the operator once, and of the two blocks reads one and updates the other; one more
/// read checks that the result is finite and gives the norms. A measured step, and every step of an
/// operator that can fail, keeps the product in a third block. Memory: two blocks, a third when
/// needed, and the operator's scratch; nothing is allocated after the first step of each kind.
///
/// # Failure
/// When the operator fails or panics the engine is still at the state before the step, which can be
/// tried again. When an iterate becomes non-finite, [`block`](Self::block) still holds the last
/// finite one.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::Norm, map::Exact, recurrence::{Momentum, Start}};
/// use favard_operator::{Block, Diagonal};
///
/// let op = Diagonal::new(vec![1.0, 0.9, 0.5])?;
/// let recurrence = Momentum::new(0.9 * 0.9 / 4.0, Start::U)?;
/// let mut engine =
///     Engine::new(Exact::new(op)?, recurrence, Block::column(&[1.0, 1.0, 1.0]))?.with_gauge(Norm);
/// while engine.tick() < 40 {
///     engine.advance()?;
/// }
/// assert!((engine.block().row(0)[0] - 1.0_f64).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine<T: Scalar, M, R, G = NoGauge, O = Last> {
    pub(crate) map: M,
    pub(crate) recurrence: R,
    pub(crate) gauge: G,
    pub(crate) readout: O,
    pub(crate) cur: Block<T>,
    pub(crate) prev: Block<T>,
    image: Block<T>,
    norms: Vec<T>,
    ritz: RayleighRitz<T>,
    pub(crate) tick: u64,
    pub(crate) phase: u64,
    pub(crate) history: Vec<Record<T>>,
    broken: Option<u64>,
    ws: Workspace<T>,
}

impl<T: Scalar, M: StepMap<T>, R: Recurrence<T>> Engine<T, M, R> {
    /// An engine at tick 0 with $F_0$ = `start`, no gauge, and the last iterate as its answer.
    ///
    /// # Errors
    /// When the start block has no column, another number of rows than the map or of columns than
    /// its right-hand side, more columns than rows, or an entry that is not finite.
    pub fn new(map: M, recurrence: R, start: Block<T>) -> Result<Self> {
        let ((rows, cols), dim) = (start.shape(), map.dim());
        if rows != dim {
            let what = "rows of the start block";
            return Err(ErrorKind::Shape { what, expected: dim, found: rows }.into());
        }
        if let Some(expected) = map.cols().filter(|&expected| expected != cols) {
            let what = "columns of the start block";
            return Err(ErrorKind::Shape { what, expected, found: cols }.into());
        }
        if cols == 0 {
            return Err(ErrorKind::Start { rows, cols, need: "needs at least one column" }.into());
        }
        if cols > rows {
            let need = "has more columns than the operator has dimensions";
            return Err(ErrorKind::Start { rows, cols, need }.into());
        }
        if let Some((row, column)) = ops::find_non_finite(start.as_ref()) {
            let (what, value) = ("start block", start.row(row)[column].as_f64());
            let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
        Ok(Self {
            map,
            recurrence,
            gauge: NoGauge,
            readout: Last,
            prev: Block::zeros(rows, cols),
            image: Block::zeros(0, 0),
            cur: start,
            norms: vec![T::zero(); cols],
            ritz: RayleighRitz::new(cols),
            tick: 0,
            phase: 0,
            history: Vec::new(),
            broken: None,
            ws: Workspace::new(),
        })
    }

    /// The same engine with another gauge, which has to fit the map.
    pub fn with_gauge<G: Gauge<T> + GaugeFits<M>>(self, gauge: G) -> Engine<T, M, R, G> {
        self.replace(|_, last| (gauge, last))
    }
}

impl<T: Scalar, M: StepMap<T>, R: Recurrence<T>, G: Gauge<T>> Engine<T, M, R, G> {
    /// The same engine with another readout, which has to fit the gauge.
    ///
    /// # Errors
    /// Those of the readout when it takes up the start block.
    pub fn with_readout<O>(self, mut readout: O) -> Result<Engine<T, M, R, G, O>>
    where
        O: Readout<T> + ReadoutFits<G>,
    {
        readout.absorb(0, &self.cur)?;
        Ok(self.replace(|gauge, _| (gauge, readout)))
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// It was done: the tick is one higher.
    Moved,
    /// It was not: the stream has ended, or the iterate is zero.
    Ended(Stop),
}

impl<T: Scalar, M, R, G, O> Engine<T, M, R, G, O> {
    fn replace<H, P>(self, change: impl FnOnce(G, O) -> (H, P)) -> Engine<T, M, R, H, P> {
        let (gauge, readout) = change(self.gauge, self.readout);
        Engine {
            map: self.map,
            recurrence: self.recurrence,
            gauge,
            readout,
            cur: self.cur,
            prev: self.prev,
            image: self.image,
            norms: self.norms,
            ritz: self.ritz,
            tick: self.tick,
            phase: self.phase,
            history: self.history,
            broken: self.broken,
            ws: self.ws,
        }
    }

    /// Steps done.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// $F_t$, in the gauge of the engine.
    pub fn block(&self) -> &Block<T> {
        &self.cur
    }

    /// $F_{t-1}$, in the same gauge; zero after a start or restart.
    pub fn previous(&self) -> &Block<T> {
        &self.prev
    }

    /// The map.
    pub fn map(&self) -> &M {
        &self.map
    }

    /// The recurrence.
    pub fn recurrence(&self) -> &R {
        &self.recurrence
    }

    /// The gauge.
    pub fn gauge(&self) -> &G {
        &self.gauge
    }

    /// The readout.
    pub fn readout(&self) -> &O {
        &self.readout
    }

    /// The Ritz values and residuals measured last; empty before.
    pub fn measure(&self) -> &Measure<T> {
        self.ritz.measure()
    }
}

impl<T, M, R, G, O> Engine<T, M, R, G, O>
where
    T: Scalar,
    M: StepMap<T>,
    R: Recurrence<T>,
    G: Gauge<T>,
    O: Readout<T>,
{
    /// The answer so far.
    pub fn answer(&self) -> &Block<T> {
        self.readout.answer(&self.cur)
    }

    /// One step.
    ///
    /// # Errors
    /// When the operator fails, or an iterate is not finite. The state is that before the step.
    pub fn advance(&mut self) -> Result<Advance> {
        self.step(false)
    }

    /// One step that also measures: the Ritz values and residuals of the block *before* the step,
    /// from the step's own product, at no further product. [`measure`](Self::measure) has them.
    ///
    /// # Errors
    /// Those of [`advance`](Self::advance), and a small eigenproblem that does not converge.
    pub fn advance_measured(&mut self) -> Result<Advance> {
        self.step(true)
    }

    fn step(&mut self, measured: bool) -> Result<Advance> {
        if let Some(tick) = self.broken {
            return Err(ErrorKind::Broken { tick }.into());
        }
        let tick = self.tick;
        let failed = |source| ErrorKind::Step { tick, source };
        match self.map.prepare(tick, &mut self.cur, &mut self.ws).map_err(failed)? {
            Flow::Continue => {}
            Flow::Restart => {
                self.prev.fill(T::zero());
                self.phase = 0;
            }
            Flow::End => return Ok(Advance::Ended(Stop::Exhausted)),
        }
        if measured || self.recurrence.wants_measure() || !self.map.is_infallible() {
            self.step_with_image(measured)?;
        } else {
            self.step_in_place()?;
        }
        // prev holds F_{t+1}
        ops::column_norms(self.prev.as_ref(), &mut self.norms, &mut self.ws)?;
        if !self.norms.iter().all(|norm| norm.is_finite()) {
            // Where the entries are finite and only a norm overflows, the next step would not be.
            let found = ops::find_non_finite(self.prev.as_ref());
            let (row, column) = found.unwrap_or_else(|| self.largest_of_overflow());
            self.broken = Some(tick);
            return Err(ErrorKind::NonFinite { tick, row, column }.into());
        }
        std::mem::swap(&mut self.cur, &mut self.prev);
        (self.tick, self.phase) = (tick + 1, self.phase + 1);
        let zero = self.norms.iter().all(|norm| *norm == T::zero());
        if zero && self.map.stays_at_zero() && self.is_stuck()? {
            return Ok(Advance::Ended(Stop::Breakdown));
        }
        let Self { cur, prev, ws, norms, .. } = self;
        self.gauge.fix(self.tick, norms, cur, prev, ws)?;
        self.readout.absorb(self.tick, &self.cur)?;
        Ok(Advance::Moved)
    }

    /// The largest entry of the first column whose norm has overflowed.
    fn largest_of_overflow(&self) -> (usize, usize) {
        let column = self.norms.iter().position(|norm| !norm.is_finite()).unwrap_or(0);
        let size = |row: usize| self.prev.row(row)[column].abs();
        let larger = |best: usize, row: usize| if size(row) > size(best) { row } else { best };
        ((0..self.prev.rows()).fold(0, larger), column)
    }

    /// F_{t+1} overwrites F_{t−1} as the product is made: no temporary.
    fn step_in_place(&mut self) -> Result<()> {
        let progress = Progress { tick: self.tick, phase: self.phase, measure: None };
        let Triple { a, b, c } = self.recurrence.triple(&progress);
        let Self { map, cur, prev, ws, tick, .. } = self;
        let mut gamma = -c;
        if b != T::zero() {
            // F_{t−1} ← b F_t − c F_{t−1}
            ops::axpby(b, cur.as_ref(), -c, prev.as_mut())?;
            gamma = T::one();
        }
        // F_{t−1} ← a Φ(F_t) + γ F_{t−1}
        map.eval(a, cur.as_ref(), gamma, prev.as_mut(), ws)
            .map_err(|source| ErrorKind::Step { tick: *tick, source }.into())
    }

    /// The product is kept in a block of its own, measured if asked, and then combined; until it
    /// is there, nothing of the state has changed.
    fn step_with_image(&mut self, measured: bool) -> Result<()> {
        let Self { map, recurrence, cur, prev, image, ws, tick, phase, ritz, .. } = self;
        if image.shape() != cur.shape() {
            image.reshape(cur.rows(), cur.cols());
        }
        // I ← Φ(F_t)
        map.eval(T::one(), cur.as_ref(), T::zero(), image.as_mut(), ws)
            .map_err(|source| ErrorKind::Step { tick: *tick, source })?;
        let wanted = recurrence.wants_measure();
        let measure = if measured || wanted {
            ritz.compute(cur.as_ref(), image.as_ref(), *tick, ws)?;
            Some(ritz.measure())
        } else {
            None
        };
        let progress = Progress { tick: *tick, phase: *phase, measure };
        if wanted {
            recurrence.steer(&progress, Steer { cur, prev, image })?;
        }
        let Triple { a, b, c } = recurrence.triple(&progress);
        // F_{t−1} ← a I + b F_t − c F_{t−1}
        ops::axpby(b, cur.as_ref(), -c, prev.as_mut())?;
        ops::axpby(a, image.as_ref(), T::one(), prev.as_mut())?;
        Ok(())
    }

    /// Whether the whole pair is zero: every later iterate of a map that stays there is zero too.
    fn is_stuck(&mut self) -> Result<bool> {
        ops::column_norms(self.prev.as_ref(), &mut self.norms, &mut self.ws)?;
        Ok(self.norms.iter().all(|norm| *norm == T::zero()))
    }

    /// Steps until the observer stops the run, or `limit` steps are done in this call.
    ///
    /// # Errors
    /// Those of [`advance`](Self::advance). Nothing is lost: the engine keeps its state, its answer
    /// and its history.
    pub fn run(&mut self, limit: u64, observer: &mut dyn Observer<T>) -> Result<Info<T>> {
        let mut stop = Stop::Iterations;
        // Room for the records of most runs, so that steps do not allocate.
        self.history.reserve(usize::try_from(limit).unwrap_or(usize::MAX).min(4096));
        for _ in 0..limit {
            let (tick, passes) = (self.tick, self.map.cost().passes);
            let measured = observer.wants_measure(tick);
            if let Advance::Ended(reason) = self.step(measured)? {
                stop = reason;
                break;
            }
            let wanted = measured || self.recurrence.wants_measure();
            if wanted {
                let Measure { ritz, residuals } = self.ritz.measure();
                let residual = residuals.iter().copied().fold(T::zero(), T::max);
                let ritz = ritz.first().copied().unwrap_or(T::zero());
                self.history.push(Record { tick, passes, ritz, residual });
            }
            let step = Step {
                tick: self.tick,
                cost: self.map.cost(),
                measure: wanted.then(|| self.ritz.measure()),
                block: &self.cur,
                answer: self.readout.answer(&self.cur),
                snapshot: &|| self.checkpoint(),
            };
            if let std::ops::ControlFlow::Break(reason) = observer.observe(&step)? {
                stop = reason;
                break;
            }
        }
        Ok(self.info(stop))
    }

    /// The report so far, with the given reason to stop.
    pub fn info(&self, stop: Stop) -> Info<T> {
        let (cost, measure) = (self.map.cost(), self.ritz.measure());
        let (map, recurrence) = (self.map.name(), self.recurrence.name());
        let (gauge, readout) = (self.gauge.name(), self.readout.name());
        Info {
            method: format!("{map} map, {recurrence}, gauge {gauge}, readout {readout}"),
            iterations: self.tick,
            applications: cost.applications,
            passes: cost.passes,
            seed: self.map.seed(),
            history: self.history.clone(),
            ritz: measure.ritz.clone(),
            residuals: measure.residuals.clone(),
            ..Info::new(stop)
        }
    }
}

impl<T: Scalar, M, R, G, O> Engine<T, M, R, G, O> {
    /// A restored state is a good one.
    pub(crate) fn revive(&mut self) {
        self.broken = None;
    }
}
