//! scipy's solvers in a process of their own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use favard_benches::{Outcome, Venv, Worker, folder};
use favard_operator::Block;

use crate::data::Data;

/// A Python process that holds the same problem, columns divided by their norms.
pub struct Scipy {
    worker: Worker,
    x: PathBuf,
    cols: usize,
    /// Of scipy.
    pub version: String,
}

impl Scipy {
    pub fn start(data: &Data, scale: &[f64]) -> Outcome<Self> {
        let (folder, venv) = (folder("least_squares")?, Venv::open()?);
        venv.require(&[("numpy", "numpy"), ("scipy", "scipy")])?;
        let write = |part: &str, bytes: Vec<u8>| {
            fs::write(folder.join(format!("{}.{part}", data.name)), bytes)
        };
        let bytes = |numbers: &[f64]| numbers.iter().flat_map(|v| v.to_ne_bytes()).collect();
        write("columns", data.a.columns().iter().flat_map(|c| c.to_ne_bytes()).collect())?;
        write("values", bytes(data.a.values()))?;
        write("scale", bytes(scale))?;
        write("rhs", bytes(data.b.as_ref().data()))?;
        let (rows, cols) = data.a.shape();
        let args = [data.name, &rows.to_string(), &cols.to_string()];
        let script = folder.join("worker.py");
        fs::write(&script, include_str!("worker.py"))?;
        let mut command = Command::new(venv.python());
        command.args([script.as_os_str(), folder.as_os_str()]).args(args);
        let mut worker = Worker::start(&mut command)?;
        let version = worker.line()?;
        let x = folder.join(format!("{}.x", data.name));
        Ok(Self { worker, x, cols, version })
    }

    /// Seconds and iterations of `method`.
    pub fn solve(&mut self, method: &str, tolerance: f64) -> Outcome<(f64, f64)> {
        let answer = self.worker.ask(&format!("{method} {tolerance}"))?;
        let mut words = answer.split_whitespace().map(str::parse);
        match (words.next(), words.next()) {
            (Some(seconds), Some(iterations)) => Ok((seconds?, iterations?)),
            _ => Err("a short answer".into()),
        }
    }

    /// The solution found last.
    pub fn solution(&self) -> Outcome<Block<f64>> {
        let bytes = fs::read(&self.x)?;
        let numbers: Vec<f64> =
            bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
        if numbers.len() == self.cols { Ok(Block::column(&numbers)) } else { Err("short".into()) }
    }
}
