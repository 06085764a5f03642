//! Exact second moments of noise that is given by rows or by matrices.

use favard_theory::second_moment::{
    Epoch, Finite, GaussianRows, Noise, Propagation, Scaled, critical_batch as search,
    mean_square_rate as rate, stability_gain as gain,
};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{failed, functions, start, work};

functions!(finite, mean_square_rate, stability_gain, epoch_factor, propagate, critical_batch);

/// The noise of one sample.
enum Sample {
    Gaussian(GaussianRows),
    Finite(Finite),
}

impl Noise for Sample {
    fn dim(&self) -> usize {
        match self {
            Self::Gaussian(rows) => rows.dim(),
            Self::Finite(points) => points.dim(),
        }
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        match self {
            Self::Gaussian(rows) => rows.apply(p),
            Self::Finite(points) => points.apply(p),
        }
    }
}

/// Matrices one below the other, and their probabilities.
type Points<'py> = (PyReadonlyArray3<'py, f64>, Vec<f64>);

fn discrete((points, probabilities): &Points<'_>) -> PyResult<Finite> {
    let points = points.as_array();
    let list = points.axis_iter(Axis(0)).map(|point| point.to_owned()).collect();
    Finite::new(list, probabilities.clone()).map_err(failed)
}

/// The covariance of Gaussian rows, or the points of a finite distribution; the second moment times
/// a factor.
#[derive(FromPyObject)]
enum Given<'py> {
    Finite(Points<'py>),
    Gaussian(PyReadonlyArray2<'py, f64>),
}

fn noise(given: &Given<'_>, factor: f64) -> PyResult<Scaled<Sample>> {
    let sample = match given {
        Given::Gaussian(covariance) => {
            Sample::Gaussian(GaussianRows::new(covariance.as_array()).map_err(failed)?)
        }
        Given::Finite(points) => Sample::Finite(discrete(points)?),
    };
    Scaled::new(sample, factor).map_err(failed)
}

/// The mean and the norms of a finite distribution.
#[pyfunction]
fn finite<'py>(py: Python<'py>, points: Points<'py>) -> PyResult<Bound<'py, PyDict>> {
    let known = discrete(&points)?;
    let job = move || {
        let norms = (known.sigma_norm()?, known.s_op()?, known.sigma2()?, known.frobenius());
        Ok((known.mean().clone(), norms))
    };
    let (mean, (sigma_norm, s_op, sigma2, frobenius)) = work(py, job)?;
    let dict = PyDict::new(py);
    dict.set_item("mean", mean.to_pyarray(py))?;
    dict.set_item("sigma_norm", sigma_norm)?;
    dict.set_item("s_op", s_op)?;
    dict.set_item("sigma2", sigma2)?;
    dict.set_item("frobenius", frobenius)?;
    Ok(dict)
}

#[pyfunction]
fn mean_square_rate(
    py: Python<'_>,
    given: Given<'_>,
    factor: f64,
    mean: PyReadonlyArray2<'_, f64>,
    beta: f64,
) -> PyResult<f64> {
    let (noise, mean) = (noise(&given, factor)?, mean.as_array().to_owned());
    work(py, move || rate(&noise, mean.view(), beta))
}

#[pyfunction]
fn stability_gain(
    py: Python<'_>,
    given: Given<'_>,
    factor: f64,
    mean: PyReadonlyArray2<'_, f64>,
    beta: f64,
) -> PyResult<f64> {
    let (noise, mean) = (noise(&given, factor)?, mean.as_array().to_owned());
    work(py, move || gain(&noise, mean.view(), beta))
}

/// The factor of an epoch for an anchor that is off by a multiple of `v`, or the worst one.
#[pyfunction]
fn epoch_factor(
    py: Python<'_>,
    given: Given<'_>,
    factor: f64,
    mean: PyReadonlyArray2<'_, f64>,
    beta: f64,
    from: &str,
    ticks: usize,
    v: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let (noise, mean) = (noise(&given, factor)?, mean.as_array().to_owned());
    let (from, v) = (start(from)?, v.map(|v| v.as_array().to_owned()));
    work(py, move || {
        let epoch = Epoch::new(noise, mean.view(), beta, from, ticks)?;
        match v {
            Some(v) => epoch.factor(v.view()),
            None => epoch.worst(),
        }
    })
}

/// Mean and covariance of the iterate after some ticks.
#[pyfunction]
fn propagate<'py>(
    py: Python<'py>,
    given: Given<'py>,
    factor: f64,
    mean: PyReadonlyArray2<'py, f64>,
    beta: f64,
    from: &str,
    w0: PyReadonlyArray1<'py, f64>,
    ticks: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (noise, mean) = (noise(&given, factor)?, mean.as_array().to_owned());
    let (from, w0) = (start(from)?, w0.as_array().to_owned());
    let job = move || {
        let mut run = Propagation::new(noise, mean.view(), beta, from, w0.view())?;
        run.advance_by(ticks)?;
        let found: (Array1<f64>, Array2<f64>) = (run.mean(), run.covariance().clone());
        Ok((found, run.covariance_norm(), run.total_variance()))
    };
    let ((mean, covariance), norm, total) = work(py, job)?;
    let dict = PyDict::new(py);
    dict.set_item("mean", mean.to_pyarray(py))?;
    dict.set_item("covariance", covariance.to_pyarray(py))?;
    dict.set_item("covariance_norm", norm)?;
    dict.set_item("total_variance", total)?;
    Ok(dict)
}

/// The smallest batch for which `holds(batch)` is true.
#[pyfunction]
fn critical_batch(py: Python<'_>, limit: usize, holds: Py<PyAny>) -> PyResult<usize> {
    let mut raised = None;
    let found = search(limit, |batch| {
        if raised.is_some() {
            return Ok(true);
        }
        let told = py.check_signals().and_then(|()| holds.call1(py, (batch,)));
        match told.and_then(|told| told.bind(py).is_truthy()) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                // The search ends at once when every answer is yes.
                raised = Some(error);
                Ok(true)
            }
        }
    });
    match raised {
        Some(error) => Err(error),
        None => found.map_err(failed),
    }
}
