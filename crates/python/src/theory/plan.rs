//! Planners, and the estimates of data that they take.

use favard_models::{Effort, Estimate};
use favard_operator::{Centered, Constant, Gram, LinearOperator, Scalar, Scaled};
use favard_theory::planner::{self, Estimates, Pair, Pessimism, Quantity, Recipe, Target};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{failed, functions, work};
use crate::data::{self, Data};
use crate::error::{Failure, check_numbers, to_python};
use crate::source;
use crate::talk::{self, Line};

functions!(plan, estimates_of_spectrum, estimate);

/// What is known of a problem.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Known {
    lambda1: f64,
    lambda2: f64,
    lower: Option<f64>,
    dim: usize,
    sigma_norm: f64,
    s_op: f64,
    kappa: f64,
    terms: Option<usize>,
    cos2: f64,
}

fn to_dict<'py>(py: Python<'py>, known: &Estimates) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("lambda1", known.lambda1)?;
    dict.set_item("lambda2", known.lambda2)?;
    dict.set_item("lower", known.lower)?;
    dict.set_item("dim", known.dim)?;
    dict.set_item("sigma_norm", known.sigma_norm)?;
    dict.set_item("s_op", known.s_op)?;
    dict.set_item("kappa", known.kappa)?;
    dict.set_item("terms", known.terms)?;
    dict.set_item("cos2", known.cos2)?;
    Ok(dict)
}

/// (value, formula, source, pessimism, how many times the practical number).
type Told = (f64, &'static str, &'static str, String, Option<f64>);

fn told(quantity: &Quantity) -> Told {
    let Quantity { value, formula, source, pessimism } = *quantity;
    let times = if let Pessimism::Times(factor) = pessimism { Some(factor) } else { None };
    (value, formula, source, pessimism.to_string(), times)
}

fn recipe<'py>(py: Python<'py>, recipe: &Recipe) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("beta", told(&recipe.beta))?;
    dict.set_item("iterations", told(&recipe.iterations))?;
    dict.set_item("batch", told(&recipe.batch))?;
    dict.set_item("epochs", told(&recipe.epochs))?;
    dict.set_item("passes", recipe.passes.as_ref().map(told))?;
    dict.set_item("noise_ball", told(&recipe.noise_ball))?;
    Ok(dict)
}

fn pair<'py>(py: Python<'py>, pair: &Pair) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("practical", recipe(py, &pair.practical)?)?;
    let (guaranteed, why_not) = match &pair.guaranteed {
        Ok(guaranteed) => (Some(recipe(py, guaranteed)?), None),
        Err(error) => (None, Some(error.to_string())),
    };
    dict.set_item("guaranteed", guaranteed)?;
    dict.set_item("why_not", why_not)?;
    Ok(dict)
}

/// Practical and guaranteed, side by side.
#[pyfunction]
fn plan(
    py: Python<'_>,
    known: Known,
    epsilon: f64,
    delta: f64,
    largest_batch: Option<usize>,
) -> PyResult<Bound<'_, PyDict>> {
    let Known { lambda1, lambda2, lower, dim, sigma_norm, s_op, kappa, terms, cos2 } = known;
    let estimates =
        Estimates { lambda1, lambda2, lower, dim, sigma_norm, s_op, kappa, terms, cos2 };
    let target = Target { epsilon, delta, largest_batch };
    let found = work(py, move || planner::plan(&estimates, &target))?;
    let dict = PyDict::new(py);
    dict.set_item("mini_batch", pair(py, &found.mini_batch)?)?;
    let reduced = found.variance_reduced.as_ref().map(|reduced| pair(py, reduced)).transpose()?;
    dict.set_item("variance_reduced", reduced)?;
    let shift = found.shift.map(|shift| {
        let growth = shift.growth();
        (shift.shift(), (growth.lambda1(), growth.lambda2(), growth.beta()))
    });
    dict.set_item("shift", shift)?;
    dict.set_item("breaking_variance", told(&found.breaking_variance))?;
    Ok(dict)
}

#[pyfunction]
fn estimates_of_spectrum(py: Python<'_>, spectrum: Vec<f64>) -> PyResult<Bound<'_, PyDict>> {
    to_dict(py, &Estimates::from_spectrum(&spectrum).map_err(failed)?)
}

/// The covariance of the rows, centred and scaled as asked for.
fn look<T: Scalar + Element>(
    data: &Data<T>,
    center: bool,
    scale: bool,
    effort: &Effort,
) -> Result<Estimate, Failure> {
    let matrix = data.open()?.by_rows();
    let (rows, cols) = matrix.shape();
    // The sums of each column, its mean and its deviation.
    check_numbers(cols, 4)?;
    let centred = if center {
        Centered::by_mean(matrix)?
    } else {
        Centered::new(matrix, vec![T::zero(); cols])?
    };
    let standard = if scale {
        Scaled::by_deviation(centred, 1, Constant::KeepScale)?
    } else {
        Scaled::new(centred, vec![T::one(); cols])?
    };
    let gram = Gram::new(standard).with_scale(1.0 / (rows.max(2) as f64 - 1.0))?;
    Ok(favard_models::estimate(&gram, effort)?)
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    steps: (bool, bool),
    effort: Effort,
) -> PyResult<Estimate> {
    let data = Data::<T>::new(x)?;
    let job = move |_: &Line<T>| look(&data, steps.0, steps.1, &effort);
    let (found, raised) = talk::run(py, &mut source::Python::default(), job)?;
    raised.map_or(Ok(found), Err)
}

/// The top of the spectrum of the covariance of a matrix (see `Data`), and the noise of its rows.
#[pyfunction]
#[pyo3(signature = (x, *, center, scale, products, samples, seed))]
fn estimate<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    center: bool,
    scale: bool,
    products: u64,
    samples: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    check_numbers(samples, 4).map_err(to_python)?;
    let (steps, effort) = ((center, scale), Effort { products, samples, seed });
    let found = if data::is_single(x) {
        run::<f32>(py, x, steps, effort)?
    } else {
        run::<f64>(py, x, steps, effort)?
    };
    let dict = PyDict::new(py);
    dict.set_item("estimates", to_dict(py, &found.estimates)?)?;
    dict.set_item("residuals", found.residuals)?;
    dict.set_item("sigma_range", found.sigma_range)?;
    dict.set_item("sigma2", found.sigma2)?;
    dict.set_item("products", found.products)?;
    dict.set_item("passes", found.passes)?;
    Ok(dict)
}
