//! scipy, in a process of its own, asked for one file at a time.

use std::fs;
use std::path::Path;
use std::process::Command;

use favard_benches::{Outcome, Venv, Worker};

/// A Python process that reads files.
#[derive(Debug)]
pub struct Scipy {
    worker: Worker,
    /// Of scipy.
    pub version: String,
}

/// What it says of a file.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Of `mmread`.
    pub seconds: f64,
    /// Of the conversion to CSR.
    pub convert: f64,
    /// Stored entries.
    pub entries: usize,
    /// Of the values.
    pub sum: f64,
}

impl Scipy {
    /// Starts the process.
    pub fn start(folder: &Path) -> Outcome<Self> {
        let script = folder.join("io.py");
        fs::write(&script, include_str!("worker.py"))?;
        let venv = Venv::open()?;
        venv.require(&[("numpy", "numpy"), ("scipy", "scipy")])?;
        let mut worker = Worker::start(Command::new(venv.python()).arg(script))?;
        let version = worker.line()?;
        Ok(Self { worker, version })
    }

    /// Reads a file once.
    pub fn read(&mut self, path: &Path) -> Outcome<Measured> {
        let line = self.worker.ask(&path.display().to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[seconds, convert, entries, sum] = &words[..] else { return Err(line.into()) };
        Ok(Measured {
            seconds: seconds.parse()?,
            convert: convert.parse()?,
            entries: entries.parse()?,
            sum: sum.parse()?,
        })
    }
}
