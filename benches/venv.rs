//! A Python with the packages a bench compares with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A folder below cargo's target directory, where the bench itself lies.
pub fn folder() -> Outcome<PathBuf> {
    let exe = std::env::current_exe()?;
    let target = exe.ancestors().nth(3).ok_or("the bench does not lie in a target directory")?;
    let folder = target.join("favard-benches");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A virtual environment with numpy and scipy, made when there is none.
pub fn python(folder: &Path) -> Outcome<PathBuf> {
    let venv = folder.join("venv");
    let python = venv.join("bin").join("python");
    if succeed(Command::new(&python).args(["-c", "import scipy"])).is_err() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "-q", "numpy", "scipy"]))?;
    }
    Ok(python)
}

fn succeed(command: &mut Command) -> Outcome<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(message.lines().last().unwrap_or("failed without a word").to_owned().into())
}
