//! The Python peers, in a process of their own that holds the same matrix.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use favard_benches::{Outcome, Venv, Worker, folder, raw};
use favard_operator::{Block, Csr};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::data::Matrix;
use crate::peer::{Answer, Peer, Problem};

/// The process, asked one thing at a time.
#[derive(Debug)]
pub struct Python {
    worker: Worker,
    folder: PathBuf,
    /// Of everything that is compared.
    pub versions: String,
}

#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    ladder: Vec<f64>,
}

impl Python {
    /// Makes the environment and starts the process. A peer that cannot be installed is left out,
    /// and said to be.
    pub fn start(threads: usize) -> Outcome<Self> {
        let (folder, venv) = (folder("pca")?, Venv::open()?);
        venv.require(&[("numpy", "numpy"), ("scipy", "scipy"), ("scikit-learn", "sklearn")])?;
        if let Err(error) = venv.require(&[("primme", "primme")]) {
            println!("PRIMME is not measured, it could not be installed: {error}");
        }
        let script = folder.join("worker.py");
        fs::write(&script, include_str!("worker.py"))?;
        let threads = threads.to_string();
        let mut command = Command::new(venv.python());
        command.args([script.as_os_str(), folder.as_os_str()]);
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(name, &threads);
        }
        let mut worker = Worker::start(&mut command)?;
        let hello = parse(&worker.line()?)?;
        let versions = hello["versions"].as_str().unwrap_or_default().to_owned();
        Ok(Self { worker, folder, versions })
    }

    fn ask(&mut self, question: &Value) -> Outcome<Value> {
        parse(&self.worker.ask(&question.to_string())?)
    }

    /// Gives it a matrix.
    pub fn load(&mut self, x: &Matrix) -> Outcome<()> {
        let path = |name: &str| self.folder.join(name);
        let is_sparse = match x {
            Matrix::Sparse(x) => {
                let pointers = x.pointers().iter().map(|&p| (p as u64).to_ne_bytes());
                raw::write(&path("pointers"), pointers)?;
                raw::write(&path("columns"), x.columns().iter().map(|c| c.to_ne_bytes()))?;
                raw::write(&path("values"), x.values().iter().map(|v| v.to_ne_bytes()))?;
                true
            }
            Matrix::Dense(x) => {
                raw::write(&path("values"), x.view().iter().map(|v| v.to_ne_bytes()))?;
                false
            }
        };
        let (rows, cols) = x.shape();
        self.ask(&json!({"ask": "load", "rows": rows, "cols": cols, "sparse": is_sparse}))?;
        self.clear()
    }

    /// Lets it load a file of `scipy.sparse.save_npz`, and takes the matrix from it.
    pub fn read(&mut self, file: &Path) -> Outcome<Matrix> {
        let shape = self.ask(&json!({"ask": "read", "path": file}))?;
        let shape: Vec<usize> = ["rows", "cols"]
            .map(|side| shape[side].clone())
            .into_iter()
            .map(serde_json::from_value)
            .collect::<Result<_, _>>()?;
        let path = |name: &str| self.folder.join(name);
        let pointers = raw::read(&path("pointers"), u64::from_ne_bytes)?;
        let columns = raw::read(&path("columns"), u32::from_ne_bytes)?;
        let values = raw::read(&path("values"), f64::from_ne_bytes)?;
        self.clear()?;
        Ok(Matrix::Sparse(Csr::from_parts((shape[0], shape[1]), pointers, columns, values)?))
    }

    /// The matrix is in memory on both sides; the files are large.
    fn clear(&self) -> Outcome<()> {
        for name in ["pointers", "columns", "values"] {
            let path = self.folder.join(name);
            if path.exists() {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// The peers that can solve a problem.
    pub fn peers(&mut self, problem: Problem) -> Outcome<Vec<Peer>> {
        let Problem { center, k } = problem;
        let mut listed = self.ask(&json!({"ask": "peers", "center": center, "k": k}))?;
        let listed: Vec<Listed> = serde_json::from_value(listed["peers"].take())?;
        Ok(listed.into_iter().map(|Listed { name, ladder }| Peer::python(name, ladder)).collect())
    }

    /// Lets a peer solve a problem.
    pub fn solve(&mut self, peer: &str, problem: Problem, parameter: f64) -> Outcome<Answer> {
        let Problem { center, k } = problem;
        let question = json!({
            "ask": "solve", "peer": peer, "center": center, "k": k, "parameter": parameter
        });
        Ok(serde_json::from_value(self.ask(&question)?)?)
    }

    /// max_j ‖AᵀA v_j − s_j² v_j‖ / s_1² of somebody else's answer, by the function that measures
    /// the peers.
    pub fn residual(
        &mut self,
        problem: Problem,
        values: &[f64],
        vectors: &Block<f64>,
    ) -> Outcome<f64> {
        let numbers = (0..vectors.rows()).flat_map(|i| vectors.row(i));
        let file = self.folder.join("vectors");
        raw::write(&file, numbers.map(|v| v.to_ne_bytes()))?;
        let Problem { center, k } = problem;
        let question = json!({"ask": "residual", "center": center, "k": k, "values": values});
        let answer = self.ask(&question)?;
        Ok(answer["residual"].as_f64().unwrap_or(f64::NAN))
    }
}

/// An answer, or the error that it reports.
fn parse(line: &str) -> Outcome<Value> {
    let answer: Value = serde_json::from_str(line)?;
    match answer["error"].as_str() {
        Some(error) => Err(error.into()),
        None => Ok(answer),
    }
}
