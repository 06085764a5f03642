//! The run of a sampled method: the engine steps, the batches estimate, the operator certifies.

use std::ops::{ControlFlow, Range};

use favard_engine::map::{Draw, StepMap, Svrg};
use favard_engine::recurrence::Recurrence;
use favard_engine::{Advance, Engine, Stop};
use favard_operator::{Block, RowOperator, Scalar, StochasticOperator, Workspace};

use super::columns::largest;
use super::monitor::{Checked, Monitor};
use super::row_gradient::RowGradient;
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

/// Steps until the operator certifies the block, the budget is used, or the residual no longer
/// falls. The batches' own residuals, averaged over a window, say when a check (two passes) is worth
/// its price.
pub(crate) fn run<T: Scalar, M: Estimated<T>, R: Recurrence<T>>(
    engine: &mut Engine<T, M, R>,
    monitor: &mut Monitor<'_, T>,
    batch: usize,
    ws: &mut Workspace<T>,
) -> Result<Ended<T>> {
    let (unknowns, cols) = (engine.map().unknowns(), engine.block().cols());
    let dim = unknowns.len();
    let window = WINDOW.max(dim).div_ceil(batch);
    let (mut x, mut g) = (Block::zeros(dim, cols), Block::zeros(dim, cols));
    let mut target = T::of(monitor.system.tolerance);
    let (mut first, mut best) = (T::infinity(), T::infinity());
    // Passes and windows since the best residual, and passes at the last check.
    let (mut since, mut waited, mut looked) = (0.0, 0, monitor.passes);
    // The best certificate of the checks, and how many since.
    let (mut proven, mut missed) = (T::infinity(), 0);
    let mut sums = vec![T::zero(); cols];
    loop {
        let before = engine.map().cost();
        sums.fill(T::zero());
        // A window ends early where the budget does, or a check is due.
        let limit = CHECK.min(monitor.system.passes - monitor.passes);
        let (mut ended, mut ticks) = (None, 0);
        while ticks < window && (ticks == 0 || engine.map().cost().passes - before.passes < limit) {
            match engine.advance()? {
                // At zero, a batch whose right-hand sides are zero says nothing; the next one may.
                Advance::Moved | Advance::Ended(Stop::Breakdown) => {}
                Advance::Ended(stop) => {
                    ended = Some(stop);
                    break;
                }
            }
            ticks += 1;
            if let Some(estimates) = engine.map().estimates() {
                sums.iter_mut().zip(estimates).for_each(|(sum, &square)| *sum += square);
            }
        }
        let cost = engine.map().cost();
        let passes = cost.passes - before.passes;
        monitor.count(cost.applications - before.applications, passes);
        let estimated = engine.map().estimates().is_some() && ended.is_none();
        if estimated {
            // ‖r‖ / ‖b‖, from the batches
            let share = T::of_count(ticks).recip();
            for (j, sum) in sums.iter().enumerate() {
                let size = monitor.sizes[j];
                let residual = (*sum * share).sqrt();
                let zero = residual == T::zero();
                monitor.certificates[j] = if zero { residual } else { residual / size };
            }
        }
        let worst = largest(&monitor.certificates);
        let flow = monitor.tick();
        if first.is_infinite() {
            first = worst;
        }
        let diverged = estimated && (worst.is_nan() || worst > T::of(DIVERGED) * first);
        if !estimated || worst < best * T::of(0.99) {
            // Without estimates only the checks can tell.
            (best, since, waited) = (worst, 0.0, 0);
        } else {
            (since, waited) = (since + passes, waited + 1);
        }
        let stalled = since >= PATIENCE.0 && waited >= PATIENCE.1;
        let due = monitor.passes - looked >= CHECK || estimated && worst <= target;
        if !(due || stalled || diverged || flow.is_break() || ended.is_some()) {
            continue;
        }
        x.assign(engine.block().as_ref().rows_range(unknowns.clone()))?;
        let checked = monitor.check(&x, &mut g, ws)?;
        looked = monitor.passes;
        let solved = monitor.all_solved(&checked.residuals);
        let certificate = largest(&monitor.certificates);
        missed = if certificate < proven * T::of(0.9) { 0 } else { missed + 1 };
        proven = proven.min(certificate);
        let stalled = stalled || missed >= CHECKS && !estimated;
        let stop = match (flow, ended) {
            _ if solved => Stop::Converged,
            (ControlFlow::Break(stop), _) | (_, Some(stop)) => stop,
            _ if stalled || diverged => Stop::Stagnated,
            _ => {
                if worst <= target {
                    target *= T::of(0.5);
                }
                continue;
            }
        };
        return Ok(Ended { stop, ticks: engine.tick(), checked, diverged });
    }
}
