//! scipy, in a process of its own, asked for one product at a time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use favard_operator::{Csr, Scalar};

use crate::venv::{folder, python};

/// A Python process that holds the same matrix.
#[derive(Debug)]
pub struct Scipy {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    folder: PathBuf,
    /// Of scipy.
    pub version: String,
}

/// Seconds of `X @ W`, of `X.T @ Z`, and of both.
pub type Seconds = [f64; 3];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

impl Scipy {
    /// Gives the matrix, all of whose rows are equally long, to a new process.
    pub fn start<T: Scalar>(x: &Csr<'_, T>) -> Outcome<Self> {
        let folder = folder()?;
        let python = python(&folder)?;
        let columns: Vec<u8> = x.columns().iter().flat_map(|c| c.to_ne_bytes()).collect();
        fs::write(folder.join("columns"), columns)?;
        let values = x.values().iter();
        let values: Vec<u8> = if size_of::<T>() == 4 {
            values.flat_map(|v| v.to_f32().unwrap_or(f32::NAN).to_ne_bytes()).collect()
        } else {
            values.flat_map(|v| v.as_f64().to_ne_bytes()).collect()
        };
        fs::write(folder.join("values"), values)?;
        let script = folder.join("worker.py");
        fs::write(&script, include_str!("worker.py"))?;
        let (rows, cols) = x.shape();
        let dtype = if size_of::<T>() == 4 { "float32" } else { "float64" };
        let mut child = Command::new(python)
            .args([script.as_os_str(), folder.as_os_str()])
            .args([&rows.to_string(), &cols.to_string(), dtype])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut scipy = Self { child, input, output, folder, version: String::new() };
        scipy.version = scipy.line()?;
        Ok(scipy)
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the scipy process ended".into());
        }
        Ok(line.trim().to_owned())
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
        writeln!(self.input, "{command} {k}")?;
        let line = self.line()?;
        let mut seconds = [0.0; 3];
        for (second, word) in seconds.iter_mut().zip(line.split_whitespace()) {
            *second = word.parse()?;
        }
        Ok(seconds)
    }
}

impl Drop for Scipy {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
