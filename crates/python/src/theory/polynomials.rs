//! Chebyshev's polynomials and those of the recurrence, at many points.

use favard_theory::{LogSign, Result, chebyshev, momentum};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::{failed, functions, start};
use crate::error::{check_numbers, to_python};

functions!(
    chebyshev_t,
    chebyshev_u,
    chebyshev_ln_t,
    chebyshev_ln_u,
    momentum_value,
    momentum_ln_value,
    momentum_sequence
);

type Numbers<'py> = Bound<'py, PyArray1<f64>>;

fn each<'py>(
    py: Python<'py>,
    points: &[f64],
    f: impl Fn(f64) -> Result<f64>,
) -> PyResult<Numbers<'py>> {
    let values: Result<Vec<f64>> = points.iter().map(|&x| f(x)).collect();
    Ok(values.map_err(failed)?.into_pyarray(py))
}

/// Logarithms of moduli, and signs.
fn each_ln<'py>(
    py: Python<'py>,
    points: &[f64],
    f: impl Fn(f64) -> Result<LogSign>,
) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
    let values: Result<Vec<LogSign>> = points.iter().map(|&x| f(x)).collect();
    let values = values.map_err(failed)?;
    let logs: Vec<f64> = values.iter().map(|value| value.ln_abs).collect();
    let signs: Vec<f64> = values.iter().map(|value| f64::from(value.sign)).collect();
    Ok((logs.into_pyarray(py), signs.into_pyarray(py)))
}

#[pyfunction]
fn chebyshev_t(py: Python<'_>, degree: usize, points: Vec<f64>) -> PyResult<Numbers<'_>> {
    each(py, &points, |x| chebyshev::t(degree, x))
}

#[pyfunction]
fn chebyshev_u(py: Python<'_>, degree: usize, points: Vec<f64>) -> PyResult<Numbers<'_>> {
    each(py, &points, |x| chebyshev::u(degree, x))
}

#[pyfunction]
fn chebyshev_ln_t(
    py: Python<'_>,
    degree: usize,
    points: Vec<f64>,
) -> PyResult<(Numbers<'_>, Numbers<'_>)> {
    each_ln(py, &points, |x| chebyshev::ln_t(degree, x))
}

#[pyfunction]
fn chebyshev_ln_u(
    py: Python<'_>,
    degree: usize,
    points: Vec<f64>,
) -> PyResult<(Numbers<'_>, Numbers<'_>)> {
    each_ln(py, &points, |x| chebyshev::ln_u(degree, x))
}

#[pyfunction]
fn momentum_value<'py>(
    py: Python<'py>,
    from: &str,
    tick: usize,
    points: Vec<f64>,
    beta: f64,
) -> PyResult<Numbers<'py>> {
    let from = start(from)?;
    each(py, &points, |x| momentum::value(from, tick, x, beta))
}

#[pyfunction]
fn momentum_ln_value<'py>(
    py: Python<'py>,
    from: &str,
    tick: usize,
    points: Vec<f64>,
    beta: f64,
) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
    let from = start(from)?;
    each_ln(py, &points, |x| momentum::ln_value(from, tick, x, beta))
}

#[pyfunction]
fn momentum_sequence<'py>(
    py: Python<'py>,
    from: &str,
    ticks: usize,
    x: f64,
    beta: f64,
) -> PyResult<Numbers<'py>> {
    check_numbers(ticks, 2).map_err(to_python)?;
    let values = momentum::sequence(start(from)?, ticks, x, beta).map_err(failed)?;
    Ok(values.into_pyarray(py))
}
