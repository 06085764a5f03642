//! A Python process with numpy and scipy, in a virtual environment below the target directory.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A folder below cargo's target directory, where the bench itself lies.
pub fn folder() -> Outcome<PathBuf> {
    let exe = std::env::current_exe()?;
    let target = exe.ancestors().nth(3).ok_or("the bench does not lie in a target directory")?;
    let folder = target.join("favard-benches");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn succeed(command: &mut Command) -> Outcome<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(message.lines().last().unwrap_or("failed without a word").to_owned().into())
}

/// A virtual environment with numpy and scipy, made when there is none.
fn python(folder: &Path) -> Outcome<PathBuf> {
    let venv = folder.join("venv");
    let python = venv.join("bin").join("python");
    if succeed(Command::new(&python).args(["-c", "import scipy"])).is_err() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "-q", "numpy", "scipy"]))?;
    }
    Ok(python)
}

/// A Python process that answers each line of input with a line of output.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts `script`, kept as `name` in the folder, with the folder and `args` as its arguments.
    pub fn start(name: &str, script: &str, args: &[&str]) -> Outcome<Self> {
        let folder = folder()?;
        let python = python(&folder)?;
        let path = folder.join(name);
        fs::write(&path, script)?;
        let mut child = Command::new(python)
            .args([path.as_os_str(), folder.as_os_str()])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }

    /// The next line of output.
    pub fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the scipy process ended".into());
        }
        Ok(line.trim().to_owned())
    }

    /// The numbers of the line that answers a command.
    pub fn ask(&mut self, command: &str) -> Outcome<Vec<f64>> {
        writeln!(self.input, "{command}")?;
        self.line()?.split_whitespace().map(|word| Ok(word.parse()?)).collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
