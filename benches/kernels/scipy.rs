//! scipy, in a process of its own, asked for one product at a time.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use favard_benches::{Outcome, Venv, Worker, folder, raw};
use favard_operator::{Csr, Scalar};

/// A Python process that holds the same matrix.
#[derive(Debug)]
pub struct Scipy {
    worker: Worker,
    folder: PathBuf,
    /// Of scipy.
    pub version: String,
}

/// Seconds of `X @ W`, of `X.T @ Z`, and of both.
pub type Seconds = [f64; 3];

impl Scipy {
    /// Gives the matrix, all of whose rows are equally long, to a new process.
    pub fn start<T: Scalar>(x: &Csr<'_, T>) -> Outcome<Self> {
        let (folder, venv) = (folder("kernels")?, Venv::open()?);
        venv.require(&[("numpy", "numpy"), ("scipy", "scipy")])?;
        raw::write(&folder.join("columns"), x.columns().iter().map(|c| c.to_ne_bytes()))?;
        let (path, values) = (folder.join("values"), x.values().iter());
        if size_of::<T>() == 4 {
            raw::write(&path, values.map(|v| v.to_f32().unwrap_or(f32::NAN).to_ne_bytes()))?;
        } else {
            raw::write(&path, values.map(|v| v.as_f64().to_ne_bytes()))?;
        }
        let script = folder.join("worker.py");
        fs::write(&script, include_str!("worker.py"))?;
        let (rows, cols) = x.shape();
        let dtype = if size_of::<T>() == 4 { "float32" } else { "float64" };
        let mut worker = Worker::start(
            Command::new(venv.python()).args([script.as_os_str(), folder.as_os_str()]).args([
                &rows.to_string(),
                &cols.to_string(),
                dtype,
            ]),
        )?;
        let version = worker.line()?;
        Ok(Self { worker, folder, version })
    }

    /// One measurement with a block of k columns.
    pub fn measure(&mut self, k: usize) -> Outcome<Seconds> {
        self.ask("time", k)
    }

    /// (X W, XᵀX W) row by row.
    pub fn results(&mut self, k: usize) -> Outcome<(Vec<f64>, Vec<f64>)> {
        self.ask("save", k)?;
        let read = |name: &str| raw::read(&self.folder.join(name), f64::from_ne_bytes);
        Ok((read("forward")?, read("gram")?))
    }

    fn ask(&mut self, command: &str, k: usize) -> Outcome<Seconds> {
        let line = self.worker.ask(&format!("{command} {k}"))?;
        let mut seconds = [0.0; 3];
        for (second, word) in seconds.iter_mut().zip(line.split_whitespace()) {
            *second = word.parse()?;
        }
        Ok(seconds)
    }
}
