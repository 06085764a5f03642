//! Without noise: Theorem 1, the shift, blocks.

use favard_theory::{Growth, Shift, block};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Regime, failed, functions, regime, start};

functions!(
    growth,
    growth_from_spectrum,
    growth_ln_envelope,
    growth_ln_factor,
    growth_bound,
    growth_iterations,
    growth_iterations_closed_form,
    shift,
    tan2,
    sin2,
    block_factor,
    block_exact_ratio,
    block_tangent,
    block_distance
);

fn numbers(growth: &Growth) -> Regime {
    (growth.lambda1(), growth.lambda2(), growth.beta())
}

/// Everything of a regime that is one number.
#[pyfunction]
fn growth(py: Python<'_>, of: Regime) -> PyResult<Bound<'_, PyDict>> {
    let growth = regime(of)?;
    let dict = PyDict::new(py);
    dict.set_item("discriminant", growth.discriminant())?;
    dict.set_item("mu", growth.mu())?;
    dict.set_item("ln_rate", growth.ln_rate())?;
    dict.set_item("is_calm", growth.is_calm())?;
    dict.set_item("complexity", growth.complexity())?;
    Ok(dict)
}

#[pyfunction]
fn growth_from_spectrum(spectrum: Vec<f64>, beta: f64) -> PyResult<Regime> {
    Ok(numbers(&Growth::from_spectrum(&spectrum, beta).map_err(failed)?))
}

#[pyfunction]
fn growth_ln_envelope(of: Regime, from: &str, tick: usize) -> PyResult<f64> {
    regime(of)?.ln_envelope(start(from)?, tick).map_err(failed)
}

#[pyfunction]
fn growth_ln_factor(of: Regime, from: &str, tick: usize) -> PyResult<f64> {
    regime(of)?.ln_factor(start(from)?, tick).map_err(failed)
}

#[pyfunction]
fn growth_bound(of: Regime, from: &str, tick: usize, tan2: f64) -> PyResult<f64> {
    regime(of)?.bound(start(from)?, tick, tan2).map_err(failed)
}

#[pyfunction]
fn growth_iterations(of: Regime, from: &str, tan2: f64, epsilon: f64) -> PyResult<usize> {
    regime(of)?.iterations(start(from)?, tan2, epsilon).map_err(failed)
}

#[pyfunction]
fn growth_iterations_closed_form(of: Regime, tan2: f64, epsilon: f64) -> PyResult<usize> {
    regime(of)?.iterations_closed_form(tan2, epsilon).map_err(failed)
}

/// The shift, and the regime of the shifted matrix.
#[pyfunction]
fn shift(lambda1: f64, lower: f64, upper: f64) -> PyResult<(f64, Regime)> {
    let shift = Shift::new(lambda1, lower, upper).map_err(failed)?;
    Ok((shift.shift(), numbers(&shift.growth())))
}

#[pyfunction]
fn tan2(cos2: f64) -> PyResult<f64> {
    favard_theory::tan2(cos2).map_err(failed)
}

#[pyfunction]
fn sin2(
    from: &str,
    tick: usize,
    spectrum: Vec<f64>,
    squares: Vec<f64>,
    beta: f64,
) -> PyResult<f64> {
    favard_theory::sin2(start(from)?, tick, &spectrum, &squares, beta).map_err(failed)
}

#[pyfunction]
fn block_factor(of: Regime, from: &str, tick: usize) -> PyResult<f64> {
    block::factor(&regime(of)?, start(from)?, tick).map_err(failed)
}

#[pyfunction]
fn block_exact_ratio(
    from: &str,
    tick: usize,
    spectrum: Vec<f64>,
    wanted: usize,
    beta: f64,
) -> PyResult<f64> {
    block::exact_ratio(start(from)?, tick, &spectrum, wanted, beta).map_err(failed)
}

#[pyfunction]
fn block_tangent(distance: f64) -> PyResult<f64> {
    block::tangent(distance).map_err(failed)
}

#[pyfunction]
fn block_distance(
    left: PyReadonlyArray2<'_, f64>,
    right: PyReadonlyArray2<'_, f64>,
) -> PyResult<f64> {
    block::distance(left.as_array(), right.as_array()).map_err(failed)
}
