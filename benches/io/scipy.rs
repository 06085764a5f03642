//! scipy, in a process of its own, asked for one file at a time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{Outcome, venv};

/// A Python process that reads files.
#[derive(Debug)]
pub struct Scipy {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
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
        let mut child = Command::new(venv::python(folder)?)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut scipy = Self { child, input, output, version: String::new() };
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

    /// Reads a file once.
    pub fn read(&mut self, path: &Path) -> Outcome<Measured> {
        writeln!(self.input, "{}", path.display())?;
        let line = self.line()?;
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

impl Drop for Scipy {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
