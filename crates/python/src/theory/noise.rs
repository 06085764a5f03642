//! With noise, in norms: variance bounds, the noise ball, the contraction regime.

use favard_theory::{Covariance, HeavyBall, Spread};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Regime, failed, functions, regime, work};
use crate::error::{check_numbers, to_python};

functions!(
    covariance_at,
    covariance_lemma_sums,
    covariance_breaking_time,
    covariance_breaking_variance,
    ball_coefficient,
    noise_ball,
    excess,
    contraction_breaking_variance,
    contraction_rate,
    heavy_ball,
    heavy_ball_batch,
    anchor_factor,
    epoch_covariance,
    epoch_factor_bound
);

/// λ₁, β and the strength of the noise.
type Scalar = (f64, f64, f64);

fn covariance((lambda1, beta, noise): Scalar) -> PyResult<Covariance> {
    Covariance::new(lambda1, beta, noise).map_err(failed)
}

/// A bound by its name, at a tick; `None` where it does not hold.
#[pyfunction]
fn covariance_at(py: Python<'_>, of: Scalar, name: String, tick: usize) -> PyResult<Option<f64>> {
    let bound = covariance(of)?;
    let known = [
        "lemma_sum",
        "relative",
        "sharp_binomial",
        "sharp_exponential",
        "sharp_linear",
        "paper_binomial",
        "paper_exponential",
        "paper_linear",
    ];
    if !known.contains(&name.as_str()) {
        return Err(PyValueError::new_err(format!("{name} is none of {}", known.join(", "))));
    }
    work(py, move || match name.as_str() {
        "lemma_sum" => bound.lemma_sum(tick).map(Some),
        "relative" => bound.relative(tick).map(Some),
        "sharp_binomial" => bound.sharp_binomial(tick).map(Some),
        "sharp_exponential" => bound.sharp_exponential(tick).map(Some),
        "sharp_linear" => bound.sharp_linear(tick),
        "paper_binomial" => bound.paper_binomial(tick).map(Some),
        "paper_exponential" => bound.paper_exponential(tick).map(Some),
        _ => bound.paper_linear(tick),
    })
}

#[pyfunction]
fn covariance_lemma_sums(
    py: Python<'_>,
    of: Scalar,
    ticks: usize,
) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let bound = covariance(of)?;
    check_numbers(ticks, 2).map_err(to_python)?;
    Ok(work(py, move || bound.lemma_sums(ticks))?.into_pyarray(py))
}

#[pyfunction]
fn covariance_breaking_time(py: Python<'_>, of: Scalar, limit: usize) -> PyResult<Option<usize>> {
    let bound = covariance(of)?;
    work(py, move || bound.breaking_time(limit))
}

#[pyfunction]
fn covariance_breaking_variance(py: Python<'_>, of: Scalar, tick: usize) -> PyResult<f64> {
    let bound = covariance(of)?;
    work(py, move || bound.breaking_variance(tick))
}

#[pyfunction]
fn ball_coefficient(of: Regime, eigenvalue: f64) -> PyResult<f64> {
    favard_theory::ball_coefficient(&regime(of)?, eigenvalue).map_err(failed)
}

#[pyfunction]
fn noise_ball(of: Regime, others: Vec<(f64, f64)>, batch: usize) -> PyResult<f64> {
    favard_theory::noise_ball(&regime(of)?, &others, batch).map_err(failed)
}

#[pyfunction]
fn excess(lambda: f64, beta: f64, noise: f64) -> PyResult<f64> {
    favard_theory::excess(lambda, beta, noise).map_err(failed)
}

#[pyfunction]
fn contraction_breaking_variance(lambda: f64, beta: f64) -> PyResult<f64> {
    favard_theory::contraction_breaking_variance(lambda, beta).map_err(failed)
}

#[pyfunction]
fn contraction_rate(lambda: f64, beta: f64, noise: f64) -> PyResult<f64> {
    favard_theory::contraction_rate(lambda, beta, noise).map_err(failed)
}

/// Polyak's step and momentum.
#[pyfunction]
fn heavy_ball(h_min: f64, h_max: f64) -> PyResult<(f64, f64)> {
    let ball = HeavyBall::polyak(h_min, h_max).map_err(failed)?;
    Ok((ball.step, ball.gamma))
}

#[pyfunction]
fn heavy_ball_batch(step: f64, gamma: f64, sigma: f64) -> PyResult<usize> {
    HeavyBall { step, gamma }.batch(sigma).map_err(failed)
}

#[pyfunction]
fn anchor_factor(theta: f64) -> PyResult<f64> {
    favard_theory::anchor_factor(theta).map_err(failed)
}

#[pyfunction]
fn epoch_covariance(py: Python<'_>, of: Scalar, theta: f64, tick: usize) -> PyResult<f64> {
    let bound = covariance(of)?;
    work(py, move || favard_theory::epoch_covariance(&bound, theta, tick))
}

#[pyfunction]
fn epoch_factor_bound(
    py: Python<'_>,
    of: Regime,
    s_op: f64,
    ticks: usize,
    flat: bool,
) -> PyResult<f64> {
    let (growth, spread) = (regime(of)?, if flat { Spread::Flat } else { Spread::Any });
    work(py, move || favard_theory::epoch_factor_bound(&growth, s_op, ticks, spread))
}
