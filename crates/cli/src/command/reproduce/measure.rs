//! Spectra, starts, errors and counts: what the experiments have in common.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_engine::observe::Step;
use favard_models::solvers::{Eigensolver, Method};
use favard_operator::{
    Block, Dense, Diagonal, Gram, LinearOperator, Orthonormalizer, StochasticOperator, Workspace,
};
use ndarray::Array2;

use crate::error::{Error, Result};
use crate::watch::interrupted;

/// An operator as a whole. (Its type is left open: the solvers are compiled once.)
pub type Exact = dyn LinearOperator<f64>;

/// An operator that is a sum of terms.
pub type Sampled<'a> = dyn StochasticOperator<f64> + 'a;

/// $\lambda_1 = 1$ and a tail of d − 1 times $1 - \Delta$.
pub fn flat(dim: usize, gap: f64) -> Vec<f64> {
    std::iter::once(1.0).chain(std::iter::repeat_n(1.0 - gap, dim - 1)).collect()
}

/// $\lambda_1 = 1$ and a tail equally spaced from $1 - \Delta$ to 0.
pub fn spaced(dim: usize, gap: f64) -> Vec<f64> {
    let step = (1.0 - gap) / (dim - 2) as f64;
    std::iter::once(1.0).chain((0..dim - 1).map(|i| 1.0 - gap - step * i as f64)).collect()
}

/// The operator with this spectrum, in its eigenbasis.
pub fn diagonal(spectrum: &[f64]) -> Result<Box<Exact>> {
    Ok(Box::new(Diagonal::new(spectrum.to_vec()).map_err(Error::of("spectrum"))?))
}

/// Orthonormal columns in general position.
pub fn basis(dim: usize, cols: usize, seed: u64) -> Result<Block<f64>> {
    go_on()?;
    let mut q = Block::gaussian(dim, cols, seed);
    Orthonormalizer::new(cols)
        .orthonormalize(&mut [&mut q], &mut Workspace::new())
        .map_err(Error::of("random basis"))?;
    Ok(q)
}

/// The paper's data, n × d with $X^T X / n = \mathrm{diag}(1, 1 - \Delta, \dots)$ up to rounding:
/// $\sqrt n\, U \Sigma V^T$ with V = I. The methods do not see the basis, and the error is an angle
/// to the first axis.
pub fn paper_rows(rows: usize, dim: usize, gap: f64, seed: u64) -> Result<Array2<f64>> {
    let q = basis(rows, dim, seed)?;
    let root = (rows as f64).sqrt();
    let size = |j: usize| root * if j == 0 { 1.0 } else { (1.0 - gap).sqrt() };
    Ok(Array2::from_shape_fn((rows, dim), |(i, j)| q.row(i)[j] * size(j)))
}

/// $X^T X / n$, whose terms are the rows.
pub fn gram(rows: &Array2<f64>) -> Result<Box<Sampled<'_>>> {
    Ok(Box::new(Gram::new(Dense::new(rows.view()).map_err(Error::of("paper's data"))?)))
}

/// $\kappa_i = \mathbb E (u_i^T N u_1)^2$ for i ≥ 2 and single rows: the mean of $(x_i x_1)^2$.
pub fn kappas(rows: &Array2<f64>) -> Vec<f64> {
    let count = rows.nrows() as f64;
    (1..rows.ncols())
        .map(|i| rows.outer_iter().map(|x| (x[i] * x[0]).powi(2)).sum::<f64>() / count)
        .collect()
}

/// sin² of the angle between the first column and the first axis, without cancellation.
pub fn sin2(block: &Block<f64>) -> f64 {
    let square = |i: usize| block.row(i)[0] * block.row(i)[0];
    let rest: f64 = (1..block.rows()).map(square).sum();
    rest / (rest + square(0))
}

/// An error once Ctrl-C was pressed: what is still to come need not be begun.
fn go_on() -> Result<()> {
    if interrupted() { Err(Error::System("interrupted".to_string())) } else { Ok(()) }
}

/// When a run ends.
#[derive(Debug, Clone, Copy)]
pub struct Until {
    /// sin² at most; 0 for never.
    pub error: f64,
    /// Ticks at most.
    pub ticks: u64,
    /// The error is looked at every so many ticks.
    pub every: u64,
}

impl Until {
    /// After so many ticks.
    pub fn after(ticks: u64) -> Self {
        Self { error: 0.0, ticks, every: 1 }
    }

    /// At this error, or after so many ticks.
    pub fn error(error: f64, ticks: u64) -> Self {
        Self { error, ticks, every: 1 }
    }
}

/// sin² of the answer after each tick, for one column. Ctrl-C cuts it short.
pub fn course<A, M>(
    method: M,
    op: &A,
    start: &Block<f64>,
    seed: u64,
    until: Until,
) -> Result<Vec<f64>>
where
    A: LinearOperator<f64> + ?Sized,
    M: Method<f64, A>,
{
    go_on()?;
    let mut errors = Vec::new();
    let mut watch = |step: &Step<'_, f64>| {
        let error = sin2(step.answer);
        errors.push(error);
        // Now and then: a look at the flag is not free.
        if step.tick.is_multiple_of(64) && interrupted() {
            ControlFlow::Break(Stop::Cancelled)
        } else if step.tick >= until.ticks
            || error <= until.error && step.tick.is_multiple_of(until.every)
        {
            ControlFlow::Break(Stop::Requested)
        } else {
            ControlFlow::Continue(())
        }
    };
    Eigensolver::new(method, 1)
        .guard(0)
        .tolerance(0.0)
        .passes(f64::INFINITY)
        .seed(seed)
        .solve_observed(op, Some(start), &mut watch)
        .map_err(Error::of("run"))?;
    Ok(errors)
}

/// Ticks until sin² ≤ `error`; infinite when there are not enough of them.
pub fn ticks<A, M>(method: M, op: &A, start: &Block<f64>, seed: u64, until: Until) -> Result<f64>
where
    A: LinearOperator<f64> + ?Sized,
    M: Method<f64, A>,
{
    let errors = course(method, op, start, seed, until)?;
    let reached = errors.last().is_some_and(|last| *last <= until.error);
    Ok(if reached { errors.len() as f64 } else { f64::INFINITY })
}

/// The mean of several courses, tick by tick, as long as the shortest.
pub fn mean_course(courses: &[Vec<f64>]) -> Vec<f64> {
    let ticks = courses.iter().map(Vec::len).min().unwrap_or(0);
    let mean =
        |t: usize| courses.iter().map(|course| course[t]).sum::<f64>() / courses.len() as f64;
    (0..ticks).map(mean).collect()
}

/// The first tick, from 1, at which a course is at most this.
pub fn reaches(course: &[f64], error: f64) -> f64 {
    course.iter().position(|e| *e <= error).map_or(f64::INFINITY, |t| (t + 1) as f64)
}

/// Tick and error, from tick 1.
pub fn points(course: &[f64]) -> Vec<(f64, f64)> {
    (1_u32..).map(f64::from).zip(course.iter().copied()).collect()
}

/// Indices of about `count` ticks at equal distances of the logarithm, the last included.
pub fn log_grid(ticks: usize, count: usize) -> Vec<usize> {
    let mut grid = Vec::new();
    let (mut next, factor) = (1.0_f64, (ticks as f64).powf(1.0 / count as f64));
    for t in 0..ticks {
        if (t + 1) as f64 >= next || t + 1 == ticks {
            grid.push(t);
            next = ((t + 1) as f64 * factor).max((t + 2) as f64);
        }
    }
    grid
}

/// Mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The slope of log y against log x, by least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let x = mean(&points.iter().map(|p| p.0.ln()).collect::<Vec<_>>());
    let y = mean(&points.iter().map(|p| p.1.ln()).collect::<Vec<_>>());
    let over: f64 = points.iter().map(|p| (p.0.ln() - x) * (p.1.ln() - y)).sum();
    over / points.iter().map(|p| (p.0.ln() - x).powi(2)).sum::<f64>()
}

/// The largest; NaN if any is no number.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |most: f64, v: f64| if v.is_nan() || v > most { v } else { most };
    values.into_iter().fold(f64::NEG_INFINITY, larger)
}

/// The least; NaN if any is no number.
pub fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    -largest(values.into_iter().map(|v| -v))
}
