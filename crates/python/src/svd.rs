//! `svd`: the leading singular triplets of a matrix as it is.

use favard_engine::Record;
use favard_models::SvdFit;
use favard_operator::{LinearOperator, Scalar};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{self, Data};
use crate::error::{Failure, check_decomposition, to_python};
use crate::info::{array, put_certificate, put_info, transposed};
use crate::source;
use crate::talk::{self, Line};
use crate::task::Task;

fn fit<T: Scalar + Element>(
    data: &Data<T>,
    task: &Task,
    weights: Option<&[f64]>,
    line: &Line<T>,
) -> Result<(SvdFit<T>, Array2<T>), Failure> {
    let matrix = data.open()?;
    let matrix = if task.method()?.is_sampled() { matrix.by_rows() } else { matrix };
    check_decomposition::<T>(matrix.shape(), task.components)?;
    let svd = task.svd()?;
    let mut watch = |record: &Record<T>| line.watch(record);
    let fitting = svd.on(&matrix).watch(&mut watch);
    let fit = match weights {
        None => fitting.run()?,
        Some(weights) => fitting.weights(weights)?.run()?,
    };
    let components = transposed(fit.components());
    Ok((fit, components))
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    task: Task,
    weights: Option<Vec<f64>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let data = Data::<T>::new(x)?;
    let mut answers = source::Python::callback(callback);
    let job = move |line: &Line<T>| fit(&data, &task, weights.as_deref(), line);
    let ((fit, components), raised) = talk::run(py, &mut answers, job)?;
    let dict = PyDict::new(py);
    dict.set_item("components", array(py, components))?;
    dict.set_item("explained_variance", fit.explained_variance().to_vec().into_pyarray(py))?;
    dict.set_item("explained_variance_ratio", fit.explained_variance_ratio().into_pyarray(py))?;
    dict.set_item("singular_values", fit.singular_values().into_pyarray(py))?;
    dict.set_item("energy_ratio", fit.energy_ratio().into_pyarray(py))?;
    let info = PyDict::new(py);
    put_info(&info, fit.info())?;
    put_certificate(&info, fit.certificate())?;
    let (method, reason) = fit.method();
    info.set_item("solver", method.name())?;
    info.set_item("reason", reason)?;
    dict.set_item("info", info)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// Singular triplets of a matrix (see `Data`), as a dictionary.
#[pyfunction]
#[pyo3(signature = (x, task, *, weights=None, callback=None))]
pub fn svd(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    task: Task,
    weights: Option<&Bound<'_, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let weights = weights.map(|w| data::vector::<f64>(w, "sample_weight")).transpose()?;
    task.method().map_err(|e| to_python(e.into()))?;
    if data::is_single(x) {
        run::<f32>(py, x, task, weights, callback)
    } else {
        run::<f64>(py, x, task, weights, callback)
    }
}
