//! `pca`: principal components of a matrix.

use favard_engine::{Record, Stop};
use favard_models::{Pca, PcaFit};
use favard_operator::{LinearOperator, Scalar};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{self, Data};
use crate::error::{Failure, check_decomposition, to_python};
use crate::info::{array, put_certificate, put_info, transposed};
use crate::matrix::Matrix;
use crate::source;
use crate::talk::{self, Line};
use crate::task::Task;

/// Components that are looked for first when a share of the variance is asked for.
const FIRST: usize = 16;

struct Job<T: Scalar + Element> {
    data: Data<T>,
    task: Task,
    steps: (bool, bool),
    share: Option<f64>,
    weights: Option<Vec<f64>>,
}

impl<T: Scalar + Element> Job<T> {
    fn run(&self, line: &Line<T>) -> Result<PcaFit<T>, Failure> {
        let (method, (center, scale)) = (self.task.method()?, self.steps);
        // Rows without weight are in no moments.
        let matrix = match self.weights {
            None => self.data.open_deferred()?,
            Some(_) => self.data.open()?,
        };
        let matrix = if method.is_sampled() { matrix.by_rows() } else { matrix };
        let side = matrix.shape().0.min(matrix.shape().1);
        let pca = |components| self.task.pca(components, center, scale);
        let Some(share) = self.share.filter(|_| side > 4 * FIRST) else {
            let (count, weights) = (self.task.components, self.weights.as_deref());
            check_decomposition::<T>(matrix.shape(), count)?;
            return fit(&pca(count)?, &matrix, weights, None, line);
        };
        // Twice as many until they explain enough; what is found is kept.
        let mut found: Option<PcaFit<T>> = None;
        let mut components = FIRST;
        loop {
            let last = 2 * components >= side;
            let count = if last { side } else { components };
            check_decomposition::<T>(matrix.shape(), count)?;
            let earlier = found.as_ref().filter(|_| !last && self.weights.is_none());
            let fitted = fit(&pca(count)?, &matrix, self.weights.as_deref(), earlier, line)?;
            let explained: f64 = fitted.explained_variance_ratio().iter().sum();
            let cut = matches!(fitted.info().stop, Stop::Cancelled | Stop::Requested);
            if last || cut || explained > share {
                return Ok(fitted);
            }
            found = Some(fitted);
            components *= 2;
        }
    }
}

fn fit<T: Scalar>(
    pca: &Pca,
    x: &Matrix<'_, T>,
    weights: Option<&[f64]>,
    earlier: Option<&PcaFit<T>>,
    line: &Line<T>,
) -> Result<PcaFit<T>, Failure> {
    let mut watch = |record: &Record<T>| line.watch(record);
    let fitting = pca.on(x).watch(&mut watch);
    let fitting = match earlier {
        None => fitting,
        Some(earlier) => fitting.extend(earlier),
    };
    match weights {
        None => Ok(fitting.run()?),
        Some(weights) => Ok(fitting.weights(weights)?.run()?),
    }
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    job: Job<T>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let mut answers = source::Python::callback(callback);
    let job = move |line: &Line<T>| {
        let fit = job.run(line)?;
        let components = transposed(fit.components());
        Ok((fit, components))
    };
    let ((fit, components), raised) = talk::run(py, &mut answers, job)?;
    let dict = to_dict(py, &fit, components)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// A fit as a dictionary.
pub fn to_dict<'py, T: Scalar + Element>(
    py: Python<'py>,
    fit: &PcaFit<T>,
    components: Array2<T>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("components", array(py, components))?;
    dict.set_item("explained_variance", fit.explained_variance().into_pyarray(py))?;
    dict.set_item("explained_variance_ratio", fit.explained_variance_ratio().into_pyarray(py))?;
    dict.set_item("singular_values", fit.singular_values().into_pyarray(py))?;
    dict.set_item("total_variance", fit.total_variance())?;
    dict.set_item("noise_variance", fit.noise_variance())?;
    dict.set_item("mean", fit.mean().to_vec().into_pyarray(py))?;
    dict.set_item("scale", fit.scale().to_vec().into_pyarray(py))?;
    dict.set_item("weight", fit.weight())?;
    let info = PyDict::new(py);
    put_info(&info, fit.info())?;
    put_certificate(&info, fit.certificate())?;
    let (method, reason) = fit.method();
    info.set_item("solver", method.name())?;
    info.set_item("reason", reason)?;
    dict.set_item("info", info)?;
    Ok(dict)
}

/// Principal components of a matrix (see `Data`), as a dictionary; with `share`, as many as explain
/// that share of the variance, and some more.
#[pyfunction]
#[pyo3(signature = (x, task, *, center, scale, weights=None, share=None, callback=None))]
pub fn pca(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    task: Task,
    center: bool,
    scale: bool,
    weights: Option<&Bound<'_, PyAny>>,
    share: Option<f64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let weights = weights.map(|w| data::vector::<f64>(w, "sample_weight")).transpose()?;
    let steps = (center, scale);
    task.method().map_err(|e| to_python(e.into()))?;
    if data::is_single(x) {
        run::<f32>(py, Job { data: Data::new(x)?, task, steps, share, weights }, callback)
    } else {
        run::<f64>(py, Job { data: Data::new(x)?, task, steps, share, weights }, callback)
    }
}
