//! The run of a sampled method: the engine steps, the batches estimate, the operator certifies.

use std::ops::{ControlFlow, Range};

use favard_engine::map::{Draw, StepMap, Svrg};
use favard_engine::recurrence::Recurrence;
use favard_engine::{Checkpoint, Engine, Stop};
use favard_operator::{Block, RowOperator, Scalar, StochasticOperator, Workspace};
use serde::{Deserialize, Serialize};

use super::columns::largest;
use super::monitor::{Checked, Monitor};
use super::row_gradient::RowGradient;
use super::state::{Kept, Phase, Prelude};
use super::window::Window;
use crate::error::Result;

/// Rows of a window over which the batches' residuals are averaged, at least.
const WINDOW: usize = 256;

/// Passes' worth of rows between two checks that the estimates do not ask for.
const CHECK: f64 = 8.0;

/// Passes' worth of rows, and windows, without a lower residual until a run has stalled.
const PATIENCE: (f64, u64) = (3.0, 100);

/// Checks without a lower certificate until a run without estimates has stalled.
const CHECKS: u32 = 4;

/// How far the residual may rise above its first value before a run has diverged.
const DIVERGED: f64 = 1e6;

/// A map that may estimate $\lVert A x - b \rVert^2$ from the batch it has used last.
pub(crate) trait Estimated<T: Scalar>: StepMap<T> {
    fn estimates(&self) -> Option<&[T]>;

    /// The rows of the block that hold x: all of them, unless the map carries more.
    fn unknowns(&self) -> Range<usize> {
        0..self.dim()
    }
}

impl<T, A, S> Estimated<T> for RowGradient<'_, T, A, S>
where
    T: Scalar,
    A: RowOperator<T> + ?Sized,
    S: Draw<T>,
{
    fn estimates(&self) -> Option<&[T]> {
        Some(self.residuals())
    }
}

impl<T: Scalar, A: StochasticOperator<T>, S: Draw<T>> Estimated<T> for Svrg<T, A, S> {
    fn estimates(&self) -> Option<&[T]> {
        None
    }
}

/// How a run ended.
pub(crate) struct Ended<T> {
    pub stop: Stop,
    /// Ticks of the engine.
    pub ticks: u64,
    pub checked: Checked<T>,
    pub diverged: bool,
}

/// What the stop rule has seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct Course<T: Scalar> {
    /// The estimate from which on a check is worth its price.
    target: T,
    /// The first residual and the least one.
    first: T,
    best: T,
    /// Passes and windows since the least one.
    since: f64,
    waited: u64,
    /// Passes at the last check.
    looked: f64,
    /// The least certificate of the checks, and the checks since.
    proven: T,
    missed: u32,
}

impl<T: Scalar> Course<T> {
    fn new(tolerance: f64, passes: f64) -> Self {
        let (first, best, proven) = (T::infinity(), T::infinity(), T::infinity());
        let target = T::of(tolerance);
        Self { target, first, best, since: 0.0, waited: 0, looked: passes, proven, missed: 0 }
    }

    /// Takes the residual of a window that took so many passes.
    fn see(&mut self, worst: T, passes: f64, estimated: bool) {
        if self.first.is_infinite() {
            self.first = worst;
        }
        if !estimated || worst < self.best * T::of(0.99) {
            // Without estimates only the checks can tell.
            (self.best, self.since, self.waited) = (worst, 0.0, 0);
        } else {
            (self.since, self.waited) = (self.since + passes, self.waited + 1);
        }
    }

    fn has_stalled(&self) -> bool {
        self.since >= PATIENCE.0 && self.waited >= PATIENCE.1
    }

    fn has_diverged(&self, worst: T) -> bool {
        worst.is_nan() || worst > T::of(DIVERGED) * self.first
    }
}

/// What a checkpoint carries.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct State<T: Scalar> {
    engine: Checkpoint<T>,
    course: Course<T>,
    /// The window that the budget has cut short, and that a larger one completes. `None` when it
    /// was complete and has its record; what follows from that is decided anew.
    open: Option<Window<T>>,
}

/// Steps until the operator certifies the block, the budget is used, or the residual no longer
/// falls. The batches' own residuals, averaged over a window, say when a check (two passes) is worth
/// its price.
///
/// A residual that does not fall in the ticks of the warm-up has not stalled. The run is saved after
/// windows, with a prelude, and goes on where it was saved.
pub(crate) fn run<T: Scalar, M: Estimated<T>, R: Recurrence<T>>(
    engine: &mut Engine<T, M, R>,
    monitor: &mut Monitor<'_, T>,
    (batch, warm_up): (usize, u64),
    (kept, prelude): (Option<Kept<T>>, &Prelude),
    ws: &mut Workspace<T>,
) -> Result<Ended<T>> {
    let (unknowns, cols) = (engine.map().unknowns(), engine.block().cols());
    let dim = unknowns.len();
    let size = WINDOW.max(dim).div_ceil(batch);
    let (mut x, mut g) = (Block::zeros(dim, cols), Block::zeros(dim, cols));
    let mut course = Course::new(monitor.system.tolerance, monitor.passes);
    let mut window = Window::new(cols);
    let mut judged = true;
    if let Some(mut kept) = kept {
        kept.check(Phase::Sampled)?;
        let state: State<T> = kept.stored.read()?;
        engine.resume(state.engine)?;
        monitor.restore(kept.known)?;
        course = state.course;
        judged = state.open.is_some();
        if let Some(open) = state.open {
            window.restore(open)?;
        }
    }
    loop {
        let (mut flow, mut ended) = (ControlFlow::Continue(()), None);
        if judged {
            // It ends early where the budget does, or a check is due.
            let limit = CHECK.min(monitor.system.passes - monitor.passes);
            ended = window.fill(engine, size, limit)?;
            let (applications, passes) = window.cost(engine.map().cost());
            let spent = monitor.is_spent_after(passes);
            let saved = (Phase::Sampled, prelude);
            if spent && ended.is_none() {
                let stop = ControlFlow::Break(Stop::Passes);
                let open = || Some(window.clone());
                let state =
                    || State { engine: engine.checkpoint(), course: course.clone(), open: open() };
                monitor.keep(stop, saved, state)?;
            }
            monitor.count(applications, passes);
            let estimated = engine.map().estimates().is_some() && ended.is_none();
            if estimated {
                // ‖r‖ / ‖b‖, from the batches
                window.residuals(&monitor.sizes, &mut monitor.certificates);
            }
            window.clear();
            flow = monitor.tick();
            course.see(largest(&monitor.certificates), passes, estimated);
            if !spent && ended.is_none() {
                let state =
                    || State { engine: engine.checkpoint(), course: course.clone(), open: None };
                monitor.keep(flow, saved, state)?;
            }
        } else if monitor.is_spent() {
            flow = ControlFlow::Break(Stop::Passes);
        }
        judged = true;
        let estimated = engine.map().estimates().is_some() && ended.is_none();
        let worst = largest(&monitor.certificates);
        let diverged = estimated && course.has_diverged(worst);
        // Who asks for 0 asks for all that the budget gives.
        let warm = engine.tick() >= warm_up && monitor.system.tolerance > 0.0;
        let stalled = warm && course.has_stalled();
        let due = monitor.passes - course.looked >= CHECK || estimated && worst <= course.target;
        if !(due || stalled || diverged || flow.is_break() || ended.is_some()) {
            continue;
        }
        x.assign(engine.block().as_ref().rows_range(unknowns.clone()))?;
        let checked = monitor.check(&x, &mut g, ws)?;
        course.looked = monitor.passes;
        let solved = monitor.all_solved(&checked.residuals);
        let certificate = largest(&monitor.certificates);
        let lower = certificate < course.proven * T::of(0.9);
        course.missed = if lower { 0 } else { course.missed + 1 };
        course.proven = course.proven.min(certificate);
        let stalled = stalled || warm && course.missed >= CHECKS && !estimated;
        let stop = match (flow, ended) {
            _ if solved => Stop::Converged,
            (ControlFlow::Break(stop), _) | (_, Some(stop)) => stop,
            _ if stalled || diverged => Stop::Stagnated,
            _ => {
                if worst <= course.target {
                    course.target *= T::of(0.5);
                }
                continue;
            }
        };
        return Ok(Ended { stop, ticks: engine.tick(), checked, diverged });
    }
}
