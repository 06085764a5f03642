//! What a saved [`SubspaceTracker`] is.

use std::borrow::Cow;

use favard_engine::Checkpoint;
use favard_operator::{Block, Scalar, check_dim};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::choice::Judge;
use super::motion::Motion;
use super::report::Tracked;
use super::{SubspaceTracker, check_components, width};
use crate::error::Result;

/// The engine between two batches, what the tracker has measured, and what was asked for.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct State<'a, T: Scalar> {
    dim: usize,
    components: usize,
    missing: bool,
    probability: Option<f64>,
    engine: Checkpoint<T>,
    /// The Ritz values and residuals of the last batch.
    measured: Cow<'a, (Vec<T>, Vec<T>)>,
    motion: Cow<'a, Motion<T>>,
    judge: Cow<'a, Judge>,
    report: Cow<'a, Tracked<T>>,
}

impl<T: Scalar> State<'_, T> {
    /// The tracker that goes on from here. Its parts may come from a file: they have to fit.
    fn revive(self) -> Result<SubspaceTracker<T>> {
        let Self { dim, components, engine, .. } = self;
        check_components(dim, components)?;
        let start: Block<T> = engine.block().clone();
        check_dim("rows of the tracked block", dim, start.rows())?;
        check_dim("columns of the tracked block", width(dim, components), start.cols())?;
        self.motion.check((dim, components))?;
        self.judge.check()?;
        let mut tracker = SubspaceTracker::start(dim, components, start)?;
        tracker.engine.resume(engine)?;
        tracker.read_basis()?;
        (tracker.missing, tracker.probability) = (self.missing, self.probability);
        (tracker.motion, tracker.judge) = (self.motion.into_owned(), self.judge.into_owned());
        (tracker.measured, tracker.report) = (self.measured.into_owned(), self.report.into_owned());
        Ok(tracker)
    }
}

impl<T: Scalar> Serialize for SubspaceTracker<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let state = State {
            dim: self.dim,
            components: self.components,
            missing: self.missing,
            probability: self.probability,
            engine: self.engine.checkpoint(),
            measured: Cow::Borrowed(&self.measured),
            motion: Cow::Borrowed(&self.motion),
            judge: Cow::Borrowed(&self.judge),
            report: Cow::Borrowed(&self.report),
        };
        state.serialize(serializer)
    }
}

impl<'de, T: Scalar> Deserialize<'de> for SubspaceTracker<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        State::<T>::deserialize(deserializer)?.revive().map_err(D::Error::custom)
    }
}
