//! The program from start to finish on a file, beside the solver's own time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use favard_benches::Outcome;

/// The built program.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
}

/// What a run took.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// From start to finish, the file and the results included.
    pub wall: f64,
    /// Of the fit alone.
    pub fit: f64,
    /// The peak of memory, where the system tells it.
    pub peak: Option<u64>,
}

impl Program {
    /// Builds it as `cargo build --release` does, beside the bench.
    pub fn build() -> Outcome<Self> {
        let cargo = std::env::var("CARGO").unwrap_or("cargo".to_string());
        let target = favard_benches::folder("io")?;
        let target = target.ancestors().nth(2).ok_or("no target directory")?.to_path_buf();
        let mut build = Command::new(cargo);
        build.args(["build", "--release", "--quiet", "-p", "favard-cli", "--target-dir"]);
        if !build.arg(&target).status()?.success() {
            return Err("the program cannot be built".into());
        }
        Ok(Self {
            path: target.join("release").join(format!("favard{}", std::env::consts::EXE_SUFFIX)),
        })
    }

    /// `favard pca FILE -k K --json`, and more arguments.
    pub fn pca(&self, file: &Path, k: usize, more: &[&str]) -> Outcome<Run> {
        let start = Instant::now();
        let output = Command::new(&self.path)
            .arg("pca")
            .arg(file)
            .args(["-k", &k.to_string(), "--json"])
            .args(more)
            .output()?;
        let wall = start.elapsed().as_secs_f64();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let fit = json["seconds"].as_f64().ok_or("no seconds in the summary")?;
        Ok(Run { wall, fit, peak: json["peak_memory_bytes"].as_u64() })
    }
}
