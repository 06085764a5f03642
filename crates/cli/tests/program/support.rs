//! Running the program, and files for it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The program with some arguments, not yet run.
pub fn favard(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_favard"));
    command.args(args).env_remove("RUST_LOG");
    command
}

/// What a run gave: exit code, standard output, standard error.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Nothing went wrong.
    #[track_caller]
    pub fn met(self) -> Self {
        assert_eq!((self.code, &*self.err), (Some(0), ""), "{}", self.out);
        self
    }

    /// Exit code 1, and one line on stderr that has these words.
    #[track_caller]
    pub fn failed(&self, words: &str) {
        assert_eq!(self.code, Some(1), "{}", self.err);
        assert_eq!(self.out, "");
        assert_eq!(self.err.matches('\n').count(), 1, "{}", self.err);
        assert!(self.err.starts_with("favard: ") && self.err.contains(words), "{}", self.err);
    }
}

/// Runs the program.
pub fn run(args: &[&str]) -> Ran {
    favard(args).output().unwrap().into()
}

/// Packs bytes.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

/// Runs the program until it logs its first step, sends it SIGINT and lets it end.
#[cfg(target_os = "linux")]
pub fn interrupt(args: &[&str]) -> Ran {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;
    let mut child = favard(args)
        .env("RUST_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("step") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended by itself");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    Ran { code: output.status.code(), out, err: rest }
}

/// A folder with files in it.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path of a file, as an argument.
    pub fn path(&self, name: &str) -> String {
        self.join(name).to_str().unwrap().to_string()
    }

    /// Writes a file; gives its path.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.join(name), text).unwrap();
        self.path(name)
    }

    /// A table of 40 rows with names: three columns that vary by 9, 4 and 1 in their deviations.
    pub fn table(&self) -> String {
        let mut text = "name,alpha,\"be,ta\",gamma\n".to_string();
        for i in 0_i32..40 {
            let (a, b, c) = (9 * (i % 2), 4 * (i / 2 % 2), i / 4 % 2);
            let _ = writeln!(text, "row {i},{a},{b},{c}");
        }
        self.file("table.csv", text)
    }

    /// Names of the files in it, hidden ones included.
    pub fn names(&self, folder: &str) -> Vec<String> {
        names(&self.join(folder))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().into_string().unwrap()
    };
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// A list of numbers in JSON.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}
