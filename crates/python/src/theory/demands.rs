//! What the theorems demand of a run and of an epoch.

use favard_theory::{MiniBatch, VarianceReduced};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Regime, failed, functions, regime};

functions!(
    mini_batch,
    mini_batch_sigma_max,
    mini_batch_batch,
    variance_reduced,
    variance_reduced_sigma_max,
    variance_reduced_batch,
    variance_reduced_epochs,
    variance_reduced_success
);

/// δ and ε, or δ and c.
type Pair = (f64, f64);

fn demand(of: Regime, (delta, epsilon): Pair) -> PyResult<MiniBatch> {
    MiniBatch::new(&regime(of)?, delta, epsilon).map_err(failed)
}

fn epoch(of: Regime, (delta, c): Pair) -> PyResult<VarianceReduced> {
    VarianceReduced::new(&regime(of)?, delta, c).map_err(failed)
}

#[pyfunction]
fn mini_batch(py: Python<'_>, of: Regime, target: Pair) -> PyResult<Bound<'_, PyDict>> {
    let demand = demand(of, target)?;
    let dict = PyDict::new(py);
    dict.set_item("iterations", demand.iterations())?;
    dict.set_item("closed_form", demand.closed_form())?;
    dict.set_item("s_op_max", demand.s_op_max())?;
    Ok(dict)
}

/// The sharp one and the paper's.
#[pyfunction]
fn mini_batch_sigma_max(of: Regime, target: Pair, dim: usize) -> PyResult<(f64, f64)> {
    let demand = demand(of, target)?;
    let paper = demand.sigma_max_paper(dim).map_err(failed)?;
    Ok((demand.sigma_max(dim).map_err(failed)?, paper))
}

#[pyfunction]
fn mini_batch_batch(of: Regime, target: Pair, s_op: f64) -> PyResult<usize> {
    demand(of, target)?.batch(s_op).map_err(failed)
}

#[pyfunction]
fn variance_reduced(py: Python<'_>, of: Regime, target: Pair) -> PyResult<Bound<'_, PyDict>> {
    let epoch = epoch(of, target)?;
    let dict = PyDict::new(py);
    dict.set_item("iterations", epoch.iterations())?;
    dict.set_item("closed_form", epoch.closed_form())?;
    dict.set_item("s_op_max", epoch.s_op_max())?;
    dict.set_item("contraction", epoch.contraction())?;
    Ok(dict)
}

/// The paper's.
#[pyfunction]
fn variance_reduced_sigma_max(of: Regime, target: Pair, dim: usize) -> PyResult<f64> {
    epoch(of, target)?.sigma_max_paper(dim).map_err(failed)
}

#[pyfunction]
fn variance_reduced_batch(of: Regime, target: Pair, s_op: f64) -> PyResult<usize> {
    epoch(of, target)?.batch(s_op).map_err(failed)
}

#[pyfunction]
fn variance_reduced_epochs(of: Regime, target: Pair, theta0: f64, epsilon: f64) -> PyResult<usize> {
    epoch(of, target)?.epochs(theta0, epsilon).map_err(failed)
}

#[pyfunction]
fn variance_reduced_success(of: Regime, target: Pair, epochs: usize) -> PyResult<f64> {
    Ok(epoch(of, target)?.success(epochs))
}
