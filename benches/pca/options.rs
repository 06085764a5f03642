//! The command line.

use std::path::PathBuf;

/// What is measured and how often.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether the data sets are made about 20 times smaller.
    pub quick: bool,
    /// Rounds, of which the best counts.
    pub rounds: usize,
    /// Threads for everybody.
    pub threads: usize,
    /// Only data sets whose name contains this.
    pub only: Option<String>,
    /// Files of `scipy.sparse.save_npz` that are measured too.
    pub files: Vec<PathBuf>,
}

impl Options {
    /// Reads the arguments; those that cargo adds are ignored.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options =
            Self { quick: false, rounds: 3, threads: 2, only: None, files: Vec::new() };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag}: a value is missing"));
            let number = |value: String| match value.parse() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(format!("{flag}: {value} is not a positive whole number")),
            };
            match flag.as_str() {
                "--quick" => options.quick = true,
                "--rounds" => options.rounds = number(value()?)?,
                "--threads" => options.threads = number(value()?)?,
                "--only" => options.only = Some(value()?),
                "--bench" => {}
                name if name.starts_with('-') => return Err(format!("{flag}: not known")),
                file => options.files.push(file.into()),
            }
        }
        Ok(options)
    }

    /// Whether a data set of this name is asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only))
    }
}
