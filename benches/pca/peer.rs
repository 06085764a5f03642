//! [`Peer`]: somebody else's solver, and [`Bench`], which asks it.

use favard_benches::Outcome;
use serde::Deserialize;

use crate::data::Matrix;
use crate::python::Python;
use crate::svdlib::{Method, Svdlib};

/// What is to be solved, of the matrix at hand.
#[derive(Debug, Clone, Copy)]
pub struct Problem {
    /// Whether the mean is subtracted.
    pub center: bool,
    /// Number of components.
    pub k: usize,
}

/// What came back.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    /// Of the solver alone.
    pub seconds: f64,
    /// Singular values, descending.
    pub values: Vec<f64>,
    /// max_j ‖AᵀA v_j − s_j² v_j‖ / s_1².
    pub residual: f64,
}

#[derive(Debug, Clone, Copy)]
enum Home {
    Python,
    Svdlib(Method),
}

/// A solver with the parameters it may be given, the loosest first.
#[derive(Debug, Clone)]
pub struct Peer {
    /// What it is called.
    pub name: String,
    /// Tolerances or numbers of iterations.
    pub ladder: Vec<f64>,
    home: Home,
}

impl Peer {
    /// One of the Python process.
    pub fn python(name: String, ladder: Vec<f64>) -> Self {
        Self { name, ladder, home: Home::Python }
    }

    fn svdlib(name: &str, method: Method) -> Self {
        Self { name: name.to_owned(), ladder: method.ladder(), home: Home::Svdlib(method) }
    }
}

/// A matrix, held by everybody.
#[derive(Debug)]
pub struct Bench<'a> {
    /// Also measures the residuals of all.
    pub python: &'a mut Python,
    svdlib: Option<Svdlib>,
}

impl<'a> Bench<'a> {
    /// For a matrix that the Python process has already.
    pub fn new(python: &'a mut Python, x: &Matrix) -> Self {
        let svdlib = match x {
            Matrix::Sparse(x) => Some(Svdlib::new(x)),
            Matrix::Dense(_) => None,
        };
        Self { python, svdlib }
    }

    /// All that can solve a problem.
    pub fn peers(&mut self, problem: Problem) -> Outcome<Vec<Peer>> {
        let mut peers = self.python.peers(problem)?;
        if self.svdlib.is_some() {
            peers.push(Peer::svdlib("svdlib irlba k+7", Method::Irlba(7)));
            peers.push(Peer::svdlib("svdlib irlba k+30", Method::Irlba(30)));
            peers.push(Peer::svdlib("svdlib randomized", Method::Power));
            peers.push(Peer::svdlib("svdlib krylov", Method::Krylov));
        }
        Ok(peers)
    }

    /// Lets a peer solve a problem, and measures the residual of its answer.
    pub fn solve(&mut self, peer: &Peer, problem: Problem, parameter: f64) -> Outcome<Answer> {
        match (peer.home, &self.svdlib) {
            (Home::Svdlib(method), Some(svdlib)) => {
                let (seconds, values, vectors) = svdlib.solve(method, problem, parameter)?;
                let residual = self.python.residual(problem, &values, &vectors)?;
                Ok(Answer { seconds, values, residual })
            }
            _ => self.python.solve(&peer.name, problem, parameter),
        }
    }
}
