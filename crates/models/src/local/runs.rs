//! [`Runs`]: the engine runs of a model, one after another, watched, saved and taken up.

use std::ops::ControlFlow;

use favard_engine::gauge::Gauge;
use favard_engine::map::StepMap;
use favard_engine::observe::Tolerance;
use favard_engine::readout::Readout;
use favard_engine::recurrence::Recurrence;
use favard_engine::{Checkpoint, Engine, Info, Record, Stop};
use favard_operator::Scalar;
use serde::{Deserialize, Serialize};

use super::round::Round;
use super::{Watch, Watched};
use crate::checkpoint::Keeper;
use crate::error::Result;

/// What is under way when a state is saved.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) enum Current<T: Scalar> {
    /// Nothing: the next run has not begun.
    Nothing,
    /// A run of the spectral stage.
    Spectral(Box<Checkpoint<T>>),
    /// A round of the descent.
    Descent(Box<(Checkpoint<T>, Round<T>)>),
}

/// The runs of a model.
///
/// A first stage is a few runs of engines, each of which starts where the ones before it have led.
/// A state has the end of each run that is over and the middle of the one that is not. To take it up
/// the model does again what it does between the runs, and the runs that are over return at once.
pub(crate) struct Runs<'a, T: Scalar> {
    watch: &'a mut Watch<'a, T>,
    keeper: Keeper,
    /// How the runs that are over ended; kept only when there is a file to save to or to take up.
    done: Vec<(Checkpoint<T>, Info<T>)>,
    /// Runs asked for.
    asked: usize,
    /// What is taken up.
    current: Current<T>,
    /// Why the caller has stopped it.
    stopped: Option<Stop>,
}

impl<'a, T: Scalar> Runs<'a, T> {
    /// Shown to a callback and saved by a keeper whose fingerprint is complete.
    pub fn new(mut keeper: Keeper, watch: &'a mut Watch<'a, T>) -> Result<Self> {
        let state = keeper.take::<(Vec<(Checkpoint<T>, Info<T>)>, Current<T>)>()?;
        let (done, current) = state.unwrap_or((Vec::new(), Current::Nothing));
        Ok(Self { watch, keeper, done, asked: 0, current, stopped: None })
    }

    /// Why the caller has stopped the runs, if so.
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Shows a record to the caller.
    pub(super) fn show(&mut self, record: &Record<T>) -> ControlFlow<Stop> {
        let flow = (self.watch)(record);
        self.stopped = flow.break_value();
        flow
    }

    /// Counts a step: is a save due after it, or because of what it was?
    pub(super) fn is_due(&mut self, anyway: bool) -> bool {
        self.keeper.is_due() || anyway && self.keeper.saves()
    }

    /// Saves what is over and what is under way.
    pub(super) fn save(&mut self, current: &Current<T>) -> favard_engine::Result<()> {
        self.keeper.save::<T>(&(&self.done, current))
    }

    /// Runs an engine until the leading residuals are small, up to a tick, or goes on with its run
    /// where it was saved.
    ///
    /// # Errors
    /// Those of the engine and of the files.
    pub fn run<M, R, G, O>(
        &mut self,
        engine: &mut Engine<T, M, R, G, O>,
        limit: u64,
        tolerance: Tolerance,
    ) -> Result<Info<T>>
    where
        M: StepMap<T>,
        R: Recurrence<T>,
        G: Gauge<T>,
        O: Readout<T>,
    {
        let index = self.asked;
        self.asked += 1;
        if let Some((checkpoint, info)) = self.done.get(index) {
            engine.resume(checkpoint.clone())?;
            return Ok(info.clone());
        }
        match std::mem::replace(&mut self.current, Current::Nothing) {
            Current::Spectral(checkpoint) => engine.resume(*checkpoint)?,
            other => self.current = other,
        }
        let mut observer = Watched::new(tolerance, engine.map().cost().passes, self);
        let left = limit.saturating_sub(engine.tick());
        let info = engine.run(left, &mut observer)?;
        let met = observer.met;
        if self.keeper.saves() && (met || self.stopped.is_none()) {
            self.done.push((engine.checkpoint(), info.clone()));
            if self.stopped.is_some() {
                // Stopped by the caller at the step that ended it anyway.
                self.save(&Current::Nothing)?;
            }
        }
        Ok(info)
    }

    /// The round of the descent that is taken up.
    pub(super) fn take_round(&mut self) -> Option<(Checkpoint<T>, Round<T>)> {
        match std::mem::replace(&mut self.current, Current::Nothing) {
            Current::Descent(saved) => Some(*saved),
            _ => None,
        }
    }
}
