//! [`Task`]: what a method is given, and how its engine is run.

use favard_engine::gauge::Gauge;
use favard_engine::map::StepMap;
use favard_engine::readout::Readout;
use favard_engine::recurrence::Recurrence;
use favard_engine::{Engine, Info, Stop};
use favard_operator::{Block, LinearOperator, Orthonormalizer, Scalar, Workspace, ops};

use super::Options;
use super::state::{Carried, State};
use super::watch::{Eye, Limits, Residuals};
use crate::Eigen;
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result};

/// What a [`Method`](super::Method) is given: the operator, the options, a start and an observer.
///
/// A method makes its start block with [`block`](Self::block), composes an engine, and hands it to
/// [`run`](Self::run), which stops it by the options and proves the answer.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::PeriodicQr, map::Exact, recurrence::Power};
/// use favard_models::{Eigen, Result, solvers::{Eigensolver, Method, Task}};
/// use favard_operator::{Diagonal, LinearOperator, Scalar};
///
/// /// Ten steps of the power iteration, come what may.
/// struct Ten;
/// impl<T: Scalar, A: LinearOperator<T> + ?Sized> Method<T, A> for Ten {
///     fn run(&self, task: Task<'_, T, A>) -> Result<Eigen<T>> {
///         let (start, map) = (task.block(task.guard(0))?, Exact::new(task.op)?);
///         let gauge = PeriodicQr::new(start.cols(), 1)?;
///         task.steps(10).run(Engine::new(map, Power, start)?.with_gauge(gauge))
///     }
/// }
/// let op = Diagonal::new(vec![1.0, 0.9])?;
/// assert_eq!(Eigensolver::new(Ten, 1).solve(&op)?.info.iterations, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Task<'a, T: Scalar, A: ?Sized> {
    /// The operator.
    pub op: &'a A,
    /// The options, checked against the operator's shape.
    pub options: Options,
    start: Option<&'a Block<T>>,
    eye: Eye<'a, T>,
    /// Products and passes used before the run.
    before: (u64, f64),
    residuals: Residuals,
    pub(super) steps: u64,
    keeper: &'a mut Keeper,
    /// What is saved with every state of the engine.
    pub(super) carried: Carried<T>,
    /// The state that the first engine takes up.
    kept: Option<State<'static, T>>,
}

impl<'a, T: Scalar, A: ?Sized> Task<'a, T, A> {
    pub(super) fn new(
        op: &'a A,
        options: Options,
        start: Option<&'a Block<T>>,
        eye: Eye<'a, T>,
        keeper: &'a mut Keeper,
    ) -> Result<Self> {
        let kept = keeper.take::<State<'static, T>>()?;
        let known = kept.as_ref().map(|kept| (kept.before, kept.carried.clone().into_owned()));
        let (before, carried) = known.unwrap_or_default();
        let (residuals, steps) = (Residuals::Exact, u64::MAX);
        Ok(Self { op, options, start, eye, before, residuals, steps, keeper, carried, kept })
    }

    /// Says when the residuals of the run mean something; at every tick unless said otherwise.
    #[must_use]
    pub fn residuals(self, residuals: Residuals) -> Self {
        Self { residuals, ..self }
    }

    /// The run ends after this many ticks of its engine, with [`Stop::Iterations`].
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Says what the run is planned with, which no axis of its engine remembers.
    ///
    /// # Errors
    /// When the run that is taken up was planned with another number.
    pub(super) fn plan(&mut self, what: &'static str, value: u64) -> Result<()> {
        let planned = &mut self.carried.planned;
        match planned.iter().find(|(name, _)| name == what) {
            None => planned.push((what.to_string(), value)),
            Some((_, found)) if *found == value => {}
            Some((_, found)) => {
                let (expected, found) = (value.to_string(), found.to_string());
                return Err(ErrorKind::Foreign { what: what.to_string(), expected, found }.into());
            }
        }
        Ok(())
    }

    /// Products and passes that were used outside of the engine, to be counted with it.
    pub fn spend(&mut self, products: u64, passes: f64) {
        self.before = (self.before.0 + products, self.before.1 + passes);
    }
}

impl<T: Scalar, A: LinearOperator<T> + ?Sized> Task<'_, T, A> {
    /// The number of guard columns: the caller's, or `own`, as far as the dimension has room.
    #[must_use]
    pub fn guard(&self, own: usize) -> usize {
        let room = self.op.shape().0 - self.options.components;
        self.options.guard.unwrap_or(own).min(room)
    }

    /// Guard columns of a method that profits from them: up to the next cache line, at least two.
    #[must_use]
    pub fn full_line(&self) -> usize {
        let components = self.options.components;
        (components + 2).next_multiple_of(T::LANE) - components
    }

    /// The start block: the given columns, then random ones, orthonormal; k columns and `guard`
    /// more.
    ///
    /// # Errors
    /// When the given columns have another number of rows, or an entry that is not finite.
    pub fn block(&self, guard: usize) -> Result<Block<T>> {
        self.block_from(None, guard)
    }

    /// The start block, with columns of the method's own where the caller gave none.
    pub(super) fn block_from(&self, own: Option<&Block<T>>, guard: usize) -> Result<Block<T>> {
        let dim = self.op.shape().0;
        let cols = (self.options.components + guard).min(dim);
        let mut block = Block::gaussian(dim, cols, self.options.seed);
        if let Some(start) = self.start.or(own) {
            favard_operator::check_dim("rows of the start block", dim, start.rows())?;
            let given = start.cols().min(cols);
            let columns = start.as_ref().cols_range(0..given);
            ops::copy(columns, block.as_mut().cols_range(0..given))?;
        }
        Orthonormalizer::new(cols).orthonormalize(&mut [&mut block], &mut Workspace::new())?;
        Ok(block)
    }

    /// Runs an engine until the options or the observer end it, and makes eigenpairs of its answer.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn run<M, R, G, O>(&mut self, mut engine: Engine<T, M, R, G, O>) -> Result<Eigen<T>>
    where
        M: StepMap<T>,
        R: Recurrence<T>,
        G: Gauge<T>,
        O: Readout<T>,
    {
        let info = self.drive(&mut engine)?;
        self.conclude(&engine, info)
    }

    /// Makes eigenpairs of an engine's answer.
    ///
    /// # Errors
    /// Those of the operator.
    pub(super) fn conclude<M, R, G, O>(
        &self,
        engine: &Engine<T, M, R, G, O>,
        info: Info<T>,
    ) -> Result<Eigen<T>>
    where
        M: StepMap<T>,
        R: Recurrence<T>,
        G: Gauge<T>,
        O: Readout<T>,
    {
        let met = info.stop == Stop::Converged;
        let found = self.finish(engine.answer(), info)?;
        if !met || found.info.stop == Stop::Converged {
            return Ok(found);
        }
        // The residuals that were small are those of the block before the last step, and with
        // momentum they rise and fall: that block is still there, in the same gauge.
        let info = Info { stop: Stop::Converged, ..found.info.clone() };
        let before = self.finish(engine.previous(), info)?;
        if before.info.stop == Stop::Converged {
            return Ok(before);
        }
        // It was looked at all the same.
        let Info { applications, passes, .. } = before.info;
        let info = Info { applications, passes, ..found.info };
        Ok(Eigen { info, ..found })
    }

    /// Runs an engine until the options or the observer end it, saved as the caller wishes; the
    /// first one goes on where a run that is taken up was saved.
    ///
    /// # Errors
    /// Those of the engine, of the observer, and of the files.
    pub fn drive<M, R, G, O>(&mut self, engine: &mut Engine<T, M, R, G, O>) -> Result<Info<T>>
    where
        M: StepMap<T>,
        R: Recurrence<T>,
        G: Gauge<T>,
        O: Readout<T>,
    {
        let Options { components, tolerance, passes, .. } = self.options;
        let mut limits = Limits {
            components,
            tolerance,
            passes,
            before: self.before,
            residuals: self.residuals,
            rounding: T::EPSILON.as_f64() * self.op.shape().0 as f64,
            least: f64::INFINITY,
            waited: 0,
            // Room for the records of most runs, so that steps do not allocate.
            history: Vec::with_capacity(4096),
            eye: &mut self.eye,
            keeper: self.keeper,
            carried: &self.carried,
        };
        let mut spent = false;
        if let Some(State { engine: state, least, waited, history, .. }) = self.kept.take() {
            engine.resume(state)?;
            limits.restore(least, waited, &history);
            // It may have ended for want of a budget, and have no larger one now.
            spent = limits.is_spent(engine.map().cost());
        }
        let mut info = if spent {
            engine.info(Stop::Passes)
        } else {
            engine.run(self.steps.saturating_sub(engine.tick()), &mut limits)?
        };
        info.history = limits.history;
        info.applications += self.before.0;
        info.passes += self.before.1;
        info.seed = Some(self.options.seed);
        Ok(info)
    }

    /// The eigenpairs in the span of a block, with residuals from one more product.
    ///
    /// The block is orthonormalised first, so that there are k pairs whatever the iteration has done
    /// to its columns: one that the operator has made zero, or dependent on the others, is replaced
    /// by a random direction, which for an operator of lower rank has the eigenvalue 0.
    ///
    /// # Errors
    /// Those of the operator.
    pub fn finish(&self, block: &Block<T>, info: Info<T>) -> Result<Eigen<T>> {
        let (stop, tolerance) = (info.stop, self.options.tolerance);
        let mut basis = block.clone();
        Orthonormalizer::new(basis.cols())
            .orthonormalize(&mut [&mut basis], &mut Workspace::new())?;
        let mut found = Eigen::of_span(self.op, &basis, self.options.components, info)?;
        // What the iteration promised, the recomputed residuals must keep, up to rounding.
        let rounding = T::EPSILON.as_f64() * block.rows() as f64;
        found.info.stop = match stop {
            Stop::Converged if found.meets(tolerance.max(rounding)) => stop,
            Stop::Converged => Stop::Stagnated,
            Stop::Iterations | Stop::Passes | Stop::Stagnated
                if tolerance > 0.0 && found.meets(tolerance) =>
            {
                Stop::Converged
            }
            stop => stop,
        };
        Ok(found)
    }
}

impl<T: Scalar, A: ?Sized> std::fmt::Debug for Task<'_, T, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("options", &self.options).finish_non_exhaustive()
    }
}
