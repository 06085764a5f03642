//! [`Keeper`]: what saves a run, and what gives a saved one back.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Instant;

use favard_engine::store::{self, Stored};
use favard_operator::Scalar;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checkpoints, Every};
use crate::error::{ErrorKind, Result};

/// One line of a fingerprint: what it is, and its value.
type Mark = (String, String);

/// Saves a run when that is due, under the fingerprint that the layers of a model put together
/// before it starts; holds the state that is taken up until the solver asks for it.
///
/// The default is idle: it saves nothing and has nothing.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    to: Option<(PathBuf, &'static str)>,
    every: Every,
    /// When the last save ended, and steps since.
    last: Option<Instant>,
    steps: u64,
    marks: Vec<Mark>,
    /// What is taken up: the fingerprint of the file, and its state.
    from: Option<(Vec<Mark>, Stored)>,
}

impl Keeper {
    /// For runs of one kind. The file to take up is read here, and the one to save to is tried.
    pub fn open<T: Scalar>(checkpoints: &Checkpoints, kind: &'static str) -> Result<Self> {
        let from = match &checkpoints.from {
            None => None,
            Some(path) => {
                let mut stored = Stored::open::<T>(path, kind)?;
                Some((stored.read()?, stored))
            }
        };
        let to = checkpoints.to.clone().map(|path| (path, kind));
        if let Some((path, _)) = &to {
            store::prepare(path)?;
        }
        let last = to.is_some().then(Instant::now);
        Ok(Self { to, every: checkpoints.every, last, steps: 0, marks: Vec::new(), from })
    }

    /// Adds a line to the fingerprint.
    ///
    /// # Errors
    /// When the run that is taken up has another value there.
    pub fn mark(&mut self, what: &'static str, value: impl Display) -> Result<()> {
        if self.is_idle() {
            return Ok(());
        }
        let own = (what.to_string(), value.to_string());
        if let Some((marks, _)) = &self.from {
            let found = marks.iter().find(|(name, _)| *name == own.0);
            let found = found.map_or("not said", |(_, value)| value);
            if found != own.1 {
                let (expected, found) = (own.1, found.to_string());
                return Err(ErrorKind::Foreign { what: own.0, expected, found }.into());
            }
        }
        self.marks.push(own);
        Ok(())
    }

    /// The line of the file that is taken up.
    pub fn found(&self, what: &str) -> Option<&str> {
        let (marks, _) = self.from.as_ref()?;
        marks.iter().find(|(name, _)| name == what).map(|(_, value)| value.as_str())
    }

    /// The state that is taken up, once.
    ///
    /// # Errors
    /// When the file has a line that the problem has not, or a state of another form.
    pub fn take<S: DeserializeOwned>(&mut self) -> Result<Option<S>> {
        match self.take_stored()? {
            None => Ok(None),
            Some(mut stored) => Ok(Some(stored.read()?)),
        }
    }

    /// The same, to be decoded part by part.
    pub fn take_stored(&mut self) -> Result<Option<Stored>> {
        let Some((marks, stored)) = self.from.take() else {
            return Ok(None);
        };
        let ours = |name: &String| self.marks.iter().any(|(own, _)| own == name);
        if let Some((name, value)) = marks.into_iter().find(|(name, _)| !ours(name)) {
            let expected = "not said".to_string();
            return Err(ErrorKind::Foreign { what: name, expected, found: value }.into());
        }
        Ok(Some(stored))
    }

    /// Another one for the same file, with the lines so far, that has nothing to take up: for the
    /// next part of a run.
    pub fn fork(&self) -> Self {
        let (to, marks) = (self.to.clone(), self.marks.clone());
        Self { to, every: self.every, last: self.last, steps: self.steps, marks, from: None }
    }

    /// Whether nothing is saved and nothing taken up.
    pub fn is_idle(&self) -> bool {
        self.to.is_none() && self.from.is_none()
    }

    /// Whether there is a file to save to.
    pub fn saves(&self) -> bool {
        self.to.is_some()
    }

    /// Counts a step: is a save due after it?
    pub fn is_due(&mut self) -> bool {
        let Some(last) = self.last else {
            return false;
        };
        self.steps += 1;
        match self.every {
            Every::Steps(steps) => self.steps >= steps,
            Every::Time(time) => last.elapsed() >= time,
        }
    }

    /// Saves a state of a run with numbers of type `T`.
    pub fn save<T: Scalar>(&mut self, state: &impl Serialize) -> favard_engine::Result<()> {
        if let Some((path, kind)) = &self.to {
            store::save::<T>(path, kind, &(&self.marks, state))?;
            (self.last, self.steps) = (Some(Instant::now()), 0);
        }
        Ok(())
    }
}
