//! `least_squares`: linear least squares of a matrix or an operator.

use favard_engine::Record;
use favard_models::LeastSquares;
use favard_models::least_squares::{Method, Sampled, Scaling, Solution};
use favard_operator::{Block, LinearOperator, Scalar, WeightedMoments};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data;
use crate::error::{Failure, check_numbers};
use crate::info::{array, put_info, transposed};
use crate::matrix::Matrix;
use crate::source::{Source, operator};
use crate::talk::{self, Line};

/// What is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem {
    solver: String,
    batch: usize,
    scaling: bool,
    ridge: f64,
    intercept: bool,
    tolerance: f64,
    passes: f64,
    seed: u64,
}

/// How it is solved: by products with the whole, or by rows.
#[derive(Debug)]
enum Way {
    Whole(Method),
    Rows(Sampled),
}

const METHODS: [&str; 8] =
    ["auto", "direct", "cg", "lsmr", "heavy-ball", "chebyshev", "minibatch", "svrg"];

impl Problem {
    fn way(&self) -> PyResult<Way> {
        let method = match self.solver.as_str() {
            "auto" => Method::Auto,
            "direct" => Method::Direct,
            "cg" => Method::Cg,
            "lsmr" => Method::Lsmr,
            "heavy-ball" => Method::HeavyBall { bounds: None },
            "chebyshev" => Method::Chebyshev { bounds: None },
            "minibatch" => return Ok(Way::Rows(Sampled::mini_batch(self.batch))),
            "svrg" => return Ok(Way::Rows(Sampled::svrg(self.batch))),
            other => {
                let text = format!("solver: {other} is none of {}", METHODS.join(", "));
                return Err(PyValueError::new_err(text));
            }
        };
        Ok(Way::Whole(method))
    }

    fn model(&self) -> LeastSquares {
        let scaling = if self.scaling { Scaling::Auto } else { Scaling::Off };
        let model = LeastSquares::new().scaling(scaling).ridge(self.ridge);
        let model = model.intercept(self.intercept).tolerance(self.tolerance);
        model.passes(self.passes).seed(self.seed)
    }

    /// The norms of the weighted columns, exactly, where `Auto` takes the mean weight for all: with
    /// dependent columns the solution depends on them, and whole weights shall be repeated rows.
    fn norms<T: Scalar>(&self, x: &Matrix<'_, T>, weights: &[f64]) -> Result<Scaling, Failure> {
        let moments = x.weighted_moments(weights)?;
        let total = if self.intercept { 0.0 } else { weights.iter().sum::<f64>() };
        // ‖āⱼ‖² = Σ w (a − μ)² + N μ² + λ, the mean's share only without centring
        let square = |(s, m): (&f64, &f64)| s + total * m * m + self.ridge;
        let norms = moments.squares.iter().zip(&moments.mean).map(square).map(f64::sqrt);
        let positive = norms.map(|norm| if norm > 0.0 { norm } else { 1.0 });
        Ok(Scaling::Given(positive.collect()))
    }
}

struct Job<T: Scalar + Element> {
    source: Source<T>,
    problem: Problem,
    way: Way,
    weights: Option<Vec<f64>>,
    rhs: Block<T>,
}

impl<T: Scalar + Element> Job<T> {
    fn run(&self, line: &Line<T>) -> Result<(Solution<T>, Array2<T>), Failure> {
        let mut watch = |record: &Record<T>| line.watch(record);
        // Solution, direction and gradient, and what the columns are divided by.
        let (_, cols) = self.source.shape();
        check_numbers(cols, self.rhs.cols().saturating_mul(3).saturating_add(1))?;
        let mut model = self.problem.model();
        if let Some(weights) = &self.weights {
            model = model.weights(weights.clone());
        }
        let solution = match (&self.source, &self.way) {
            (Source::Matrix(data), Way::Rows(sampled)) => {
                model.solve_rows_watched(&data.open()?, &self.rhs, sampled, &mut watch)?
            }
            (Source::Python(_), Way::Rows(_)) => {
                let solver = &self.problem.solver;
                return Err(Failure::Value(format!(
                    "solver: {solver} needs rows, not an operator"
                )));
            }
            (Source::Python(shape), Way::Whole(method)) => {
                let model = model.method(*method);
                model.solve_watched(&operator(*shape, line), &self.rhs, &mut watch)?
            }
            (Source::Matrix(data), Way::Whole(method)) => {
                model = model.method(*method);
                let x = data.open()?;
                let scaled = self.problem.scaling && x.shape().0 > 0 && x.shape().1 > 0;
                if let Some(weights) = self.weights.as_ref().filter(|_| scaled) {
                    model = model.scaling(self.problem.norms(&x, weights)?);
                }
                model.fit_watched(&x, &self.rhs, &mut watch)?
            }
        };
        let x = transposed(&solution.x);
        Ok((solution, x))
    }
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    problem: Problem,
    weights: Option<Vec<f64>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (source, mut answers) = Source::<T>::new(x, callback)?;
    let (rhs, way) = (data::block::<T>(rhs, "y")?, problem.way()?);
    let job = Job { source, problem, way, weights, rhs };
    let job = move |line: &Line<T>| job.run(line);
    let ((solution, x), raised) = talk::run(py, &mut answers, job)?;
    let dict = PyDict::new(py);
    dict.set_item("x", array(py, x))?;
    dict.set_item("intercept", solution.intercept.clone().into_pyarray(py))?;
    dict.set_item("norm", solution.norm.as_f64())?;
    dict.set_item("sizes", solution.sizes.clone().into_pyarray(py))?;
    dict.set_item("residuals", solution.residuals.clone().into_pyarray(py))?;
    let info = PyDict::new(py);
    put_info(&info, &solution.info)?;
    info.set_item("certified", solution.is_certified())?;
    info.set_item("tolerance", solution.tolerance)?;
    let wide: Vec<f64> = solution.certificates.iter().map(|c| c.as_f64()).collect();
    info.set_item("residuals", wide.into_pyarray(py))?;
    let name = solution.reason.split([':', ' ', ',']).next().unwrap_or("").to_lowercase();
    info.set_item("solver", name)?;
    info.set_item("reason", solution.reason.as_str())?;
    dict.set_item("spectrum", solution.spectrum)?;
    dict.set_item("info", info)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// Least squares of a matrix or operator (see `Source`) and a block of right-hand sides.
#[pyfunction]
#[pyo3(signature = (x, rhs, problem, *, weights=None, callback=None))]
pub fn least_squares(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    problem: Problem,
    weights: Option<&Bound<'_, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let weights = weights.map(|w| data::vector::<f64>(w, "sample_weight")).transpose()?;
    if data::is_single(x) {
        run::<f32>(py, x, rhs, problem, weights, callback)
    } else {
        run::<f64>(py, x, rhs, problem, weights, callback)
    }
}
