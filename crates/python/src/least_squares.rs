//! `least_squares`: linear least squares of a matrix or an operator.

use favard_engine::Record;
use favard_models::LeastSquares;
use favard_models::least_squares::{Method, Scaling, Solution};
use favard_operator::{Block, Scalar};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data;
use crate::error::Failure;
use crate::info::{array, put_info, transposed};
use crate::source::{Source, operator};
use crate::talk::{self, Line};

/// What is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem {
    solver: String,
    scaling: bool,
    ridge: f64,
    intercept: bool,
    tolerance: f64,
    passes: f64,
    seed: u64,
}

impl Problem {
    fn model(&self, weights: Option<Vec<f64>>) -> PyResult<LeastSquares> {
        let known = ["auto", "direct", "cg", "lsmr", "heavy-ball", "chebyshev"];
        let method = match self.solver.as_str() {
            "auto" => Method::Auto,
            "direct" => Method::Direct,
            "cg" => Method::Cg,
            "lsmr" => Method::Lsmr,
            "heavy-ball" => Method::HeavyBall { bounds: None },
            "chebyshev" => Method::Chebyshev { bounds: None },
            other => {
                let text = format!("solver: {other} is none of {}", known.join(", "));
                return Err(PyValueError::new_err(text));
            }
        };
        let scaling = if self.scaling { Scaling::Auto } else { Scaling::Off };
        let model = LeastSquares::new().method(method).scaling(scaling).ridge(self.ridge);
        let model = model.intercept(self.intercept).tolerance(self.tolerance);
        let model = model.passes(self.passes).seed(self.seed);
        Ok(match weights {
            None => model,
            Some(weights) => model.weights(weights),
        })
    }
}

fn solve<T: Scalar + Element>(
    source: &Source<T>,
    model: &LeastSquares,
    rhs: &Block<T>,
    line: &Line<T>,
) -> Result<(Solution<T>, Array2<T>), Failure> {
    let mut watch = |record: &Record<T>| line.watch(record);
    let solution = match source {
        Source::Matrix(data) => model.fit_watched(&data.open()?, rhs, &mut watch)?,
        Source::Python(shape) => model.solve_watched(&operator(*shape, line), rhs, &mut watch)?,
    };
    let x = transposed(&solution.x);
    Ok((solution, x))
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    model: LeastSquares,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (source, mut answers) = Source::<T>::new(x, callback)?;
    let rhs = data::block::<T>(rhs, "y")?;
    let job = move |line: &Line<T>| solve(&source, &model, &rhs, line);
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
    info.set_item("solver", solution.reason.split([':', ' ']).next().unwrap_or("").to_lowercase())?;
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
    let model = problem.model(weights)?;
    if data::is_single(x) {
        run::<f32>(py, x, rhs, model, callback)
    } else {
        run::<f64>(py, x, rhs, model, callback)
    }
}
