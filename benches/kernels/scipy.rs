//! scipy, in a process of its own, asked for one product at a time.

use std::fs;
use std::path::PathBuf;

use favard_operator::{Csr, Scalar};

use crate::python::{Outcome, Worker, folder};

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
        let folder = folder()?;
        let columns: Vec<u8> = x.columns().iter().flat_map(|c| c.to_ne_bytes()).collect();
        fs::write(folder.join("columns"), columns)?;
        let values = x.values().iter();
        let values: Vec<u8> = if size_of::<T>() == 4 {
            values.flat_map(|v| v.to_f32().unwrap_or(f32::NAN).to_ne_bytes()).collect()
        } else {
            values.flat_map(|v| v.as_f64().to_ne_bytes()).collect()
        };
        fs::write(folder.join("values"), values)?;
        let (rows, cols) = x.shape();
        let dtype = if size_of::<T>() == 4 { "float32" } else { "float64" };
        let args = [&rows.to_string(), &cols.to_string(), dtype];
        let mut worker = Worker::start("worker.py", include_str!("worker.py"), &args)?;
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
        let read = |name: &str| -> Outcome<Vec<f64>> {
            let bytes = fs::read(self.folder.join(name))?;
            Ok(bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect())
        };
        Ok((read("forward")?, read("gram")?))
    }

    fn ask(&mut self, command: &str, k: usize) -> Outcome<Seconds> {
        let answer = self.worker.ask(&format!("{command} {k}"))?;
        let mut seconds = [0.0; 3];
        seconds.iter_mut().zip(answer).for_each(|(second, value)| *second = value);
        Ok(seconds)
    }
}
