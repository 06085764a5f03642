//! Lanczos as in a textbook, without reorthogonalisation: the figure shows what is wrong with it,
//! so no solver of the library is like it.

use favard_models::exact_eigen;
use favard_operator::{Block, Dense, LinearOperator};
use ndarray::Array2;

use crate::error::{Error, Result};
use crate::watch::interrupted;

/// Steps between two looks at the Ritz values.
const EVERY: usize = 5;

/// Steps done and the three largest Ritz values, every five steps.
pub fn estimates(
    op: &Dense<'_, f64>,
    start: &Block<f64>,
    steps: usize,
) -> Result<Vec<(usize, [f64; 3])>> {
    let dim = start.rows();
    let dot = |a: &Block<f64>, b: &Block<f64>| -> f64 {
        (0..dim).map(|i| a.row(i)[0] * b.row(i)[0]).sum()
    };
    let (mut alpha, mut beta) = (Vec::<f64>::new(), Vec::<f64>::new());
    let (mut before, mut v) = (Block::zeros(dim, 1), start.clone());
    let mut course = Vec::new();
    for step in 1..=steps {
        if interrupted() {
            break;
        }
        let image = op.multiply(v.as_ref()).map_err(Error::of("stability"))?;
        let (a, b) = (dot(&v, &image), beta.last().copied().unwrap_or(0.0));
        // w ← A v − α v − β v₋, v₊ = w/‖w‖
        let entry = |i: usize| image.row(i)[0] - a * v.row(i)[0] - b * before.row(i)[0];
        let w = Block::from_fn(dim, 1, |i, _| entry(i));
        let length = dot(&w, &w).sqrt();
        alpha.push(a);
        beta.push(length);
        before = v;
        v = Block::from_fn(dim, 1, |i, _| w.row(i)[0] / length);
        if step >= 3 && step.is_multiple_of(EVERY) {
            course.push((step, ritz(&alpha, &beta)?));
        }
    }
    Ok(course)
}

/// The three largest eigenvalues of the tridiagonal matrix.
fn ritz(alpha: &[f64], beta: &[f64]) -> Result<[f64; 3]> {
    let of = || Error::of::<favard_models::Error>("stability");
    let count = alpha.len();
    let entry = |(i, j): (usize, usize)| match i.abs_diff(j) {
        0 => alpha[i],
        1 => beta[i.min(j)],
        _ => 0.0,
    };
    let t =
        Dense::new(Array2::from_shape_fn((count, count), entry)).map_err(Error::of("stability"))?;
    let found = exact_eigen(&t, 3).map_err(of())?;
    let value = |j: usize| found.values.get(j).copied().unwrap_or(f64::NAN);
    Ok([value(0), value(1), value(2)])
}
