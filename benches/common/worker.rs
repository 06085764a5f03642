//! [`Worker`]: a process that answers one line with one line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Outcome;

/// A process that is asked one line at a time; it ends with this value.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts it.
    ///
    /// # Errors
    /// When the command cannot be run.
    pub fn start(command: &mut Command) -> Outcome<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }

    /// The next line that it writes.
    ///
    /// # Errors
    /// When it ended.
    pub fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the worker process ended".into());
        }
        Ok(line.trim().to_owned())
    }

    /// Its answer to a line.
    ///
    /// # Errors
    /// When it ended.
    pub fn ask(&mut self, question: &str) -> Outcome<String> {
        writeln!(self.input, "{question}")?;
        self.line()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
