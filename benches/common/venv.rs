//! [`Venv`]: the Python environment of the benches.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Outcome, folder};

/// A virtual environment below the target directory, shared by the benches.
#[derive(Debug, Clone)]
pub struct Venv {
    python: PathBuf,
}

impl Venv {
    /// The environment, made when there is none.
    ///
    /// # Errors
    /// When there is no `python3` that can make one.
    pub fn open() -> Outcome<Self> {
        let venv = folder("venv")?;
        let python = venv.join("bin").join("python");
        if succeed(Command::new(&python).args(["-m", "pip", "--version"])).is_err() {
            succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        }
        Ok(Self { python })
    }

    /// Installs those of the packages, each given as (package, module), that cannot be imported.
    ///
    /// # Errors
    /// When one can still not be imported; the message is the last line of what was tried.
    pub fn require(&self, packages: &[(&str, &str)]) -> Outcome<()> {
        let has = |module: &str| {
            let import = format!("import {module}");
            succeed(Command::new(&self.python).args(["-c", &import]))
        };
        for (package, module) in packages {
            if has(module).is_err() {
                eprintln!("installing {package} for the comparison");
                let pip = ["-m", "pip", "install", "-q", package];
                succeed(Command::new(&self.python).args(pip))?;
                has(module)?;
            }
        }
        Ok(())
    }

    /// The interpreter.
    #[must_use]
    pub fn python(&self) -> &Path {
        &self.python
    }
}

fn succeed(command: &mut Command) -> Outcome<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(message.lines().last().unwrap_or("failed without a word").to_owned().into())
}
