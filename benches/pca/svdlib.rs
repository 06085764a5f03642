//! The crate single-svdlib, in this process.

use std::time::Instant;

use favard_benches::Outcome;
use favard_operator::{Block, Csr};
use single_svdlib::irlba::{self, IrlbaConfig};
use single_svdlib::randomized::{self, RandomizedConfig};
use single_svdlib::{SparseMatDense, SvdMat, SvdRec};

use crate::peer::Problem;

/// Its solvers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Thick-restarted Lanczos bidiagonalisation with a basis of so many columns beyond k (7 is the
    /// default, 30 is what its documentation found fastest); the parameter is the tolerance.
    Irlba(usize),
    /// Subspace iteration; the parameter is the number of iterations.
    Power,
    /// Block Krylov; the parameter is the number of blocks.
    Krylov,
}

impl Method {
    /// Parameters from the loosest to the strictest. A block of the Krylov basis takes memory like
    /// the answer itself, which bounds its number.
    pub fn ladder(self) -> Vec<f64> {
        match self {
            Self::Irlba(_) => (1..15).map(|j| 10_f64.powi(-j)).collect(),
            Self::Power => vec![2., 3., 4., 6., 8., 11., 15., 20., 30., 40., 60., 80., 120., 160.],
            Self::Krylov => vec![2., 3., 4., 5., 6., 8., 10., 12., 16.],
        }
    }
}

/// The matrix as the crate stores it.
#[derive(Debug)]
pub struct Svdlib(SvdMat<f64>);

/// Seconds, singular values and right singular vectors.
pub type Triplets = (f64, Vec<f64>, Block<f64>);

impl Svdlib {
    /// A copy of the matrix.
    pub fn new(x: &Csr<'_, f64>) -> Self {
        let pointers = x.pointers().iter().map(|&p| p as u64).collect();
        Self(SvdMat::new(x.shape(), pointers, x.columns().to_vec(), x.values().to_vec()))
    }

    /// Solves a problem.
    pub fn solve(&self, method: Method, problem: Problem, parameter: f64) -> Outcome<Triplets> {
        let Problem { center, k } = problem;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = parameter as usize;
        let start = Instant::now();
        let sketch = RandomizedConfig::new(k).mean_center(center).seed(1);
        let SvdRec { s, vt, .. } = match method {
            Method::Irlba(extra) => {
                let work = (k + extra).min(self.0.rows()).min(self.0.cols());
                let plan = IrlbaConfig::new(k).work(work).tol(parameter).mean_center(center);
                let means = center.then(|| self.0.col_means());
                irlba::svd_with(&self.0, &plan.seed(1), means)?
            }
            Method::Power => randomized::svd_with(&self.0, &sketch.power_iterations(count), None)?,
            Method::Krylov => randomized::svd_with(&self.0, &sketch.block_krylov(count), None)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        if s.len() < k {
            return Err(format!("{} values instead of {k}", s.len()).into());
        }
        Ok((seconds, s.to_vec(), Block::from_fn(vt.ncols(), k, |i, j| vt[[j, i]])))
    }
}
