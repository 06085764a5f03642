//! The tests of the Python package, run by `cargo test`.
//!
//! A virtual environment is made below the target directory, once for each list of requirements. The
//! extension module is the one that cargo has just built, beside this program; with the Python files
//! it makes a package below the target directory. Then pytest runs, and its outcome is this test's.
//!
//! Without a harness, so that pytest's closing lines are always shown: what was left out is seen.

use std::env;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("pytest: test");
        return ExitCode::SUCCESS;
    }
    let mut filters = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    if filters.peek().is_some() && !filters.any(|filter| "pytest".contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let python = environment(&crate_dir.join("tests/requirements.txt"), scratch)?;
    let package = package(&crate_dir.join("python/favard"), &scratch.join("python-package"))?;
    let output = Command::new(python)
        .args(["-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"])
        .arg(crate_dir.join("tests"))
        .env("PYTHONPATH", package)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(crate_dir)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{text}\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    text.lines().filter(|line| line.starts_with("peers ")).for_each(|line| println!("{line}"));
    println!("pytest: {}", text.lines().last().unwrap_or_default());
    Ok(())
}

/// The interpreter of an environment with the requirements, made if there is none yet.
fn environment(requirements: &Path, scratch: &Path) -> Result<PathBuf> {
    let base = env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let version = succeed(Command::new(&base).arg("--version"))?;
    let mut hasher = DefaultHasher::new();
    (fs::read_to_string(requirements)?, version).hash(&mut hasher);
    let home = scratch.join(format!("python-{:016x}", hasher.finish()));
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let ready = home.join("ready");
    if !ready.exists() {
        // One that was begun and not finished is made anew.
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        succeed(Command::new(&base).args(["-m", "venv"]).arg(&home))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        succeed(Command::new(&python).args(install).arg(requirements))?;
        fs::write(ready, "")?;
    }
    Ok(python)
}

/// The directory of a package made of the Python files and the extension module beside this program.
fn package(source: &Path, root: &Path) -> Result<PathBuf> {
    let name = format!("{}_core{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let built = env::current_exe()?.with_file_name(name);
    let target = root.join("favard");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    copy(source, &target)?;
    let module = if cfg!(windows) { "_core.pyd" } else { "_core.abi3.so" };
    fs::copy(&built, target.join(module)).map_err(|e| format!("{}: {e}", built.display()))?;
    Ok(root.to_path_buf())
}

/// Copies the Python files and stubs of a directory and those below.
fn copy(source: &Path, target: &Path) -> Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        let kept = path.extension().is_some_and(|e| e == "py" || e == "pyi" || e == "typed");
        if path.is_dir() && name != "__pycache__" {
            copy(&path, &target.join(name))?;
        } else if kept {
            fs::copy(&path, target.join(name))?;
        }
    }
    Ok(())
}

/// What a command prints, if it succeeds.
fn succeed(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr)).into())
}
