//! Spectra, starts and errors.

use favard_operator::{Block, Orthonormalizer, Workspace};

/// λ₁ = 1 and a tail of d − 1 times 1 − Δ.
pub fn flat(dim: usize, gap: f64) -> Vec<f64> {
    std::iter::once(1.0).chain(std::iter::repeat_n(1.0 - gap, dim - 1)).collect()
}

/// λ₁ = 1 and a tail equally spaced from 1 − Δ to 0.
pub fn spaced(dim: usize, gap: f64) -> Vec<f64> {
    let step = (1.0 - gap) / (dim - 2) as f64;
    std::iter::once(1.0).chain((0..dim - 1).map(|i| 1.0 - gap - step * i as f64)).collect()
}

/// A random unit vector.
pub fn start(dim: usize, seed: u64) -> Block<f64> {
    let mut w = Block::gaussian(dim, 1, seed);
    Orthonormalizer::new(1).orthonormalize(&mut [&mut w], &mut Workspace::new()).expect("a norm");
    w
}

/// sin² of the angle between the first column and the first axis, without cancellation.
pub fn sin2(block: &Block<f64>) -> f64 {
    let square = |i: usize| block.row(i)[0] * block.row(i)[0];
    let rest: f64 = (1..block.rows()).map(square).sum();
    rest / (rest + square(0))
}

/// Mean and standard deviation.
pub fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (square / (count - 1.0).max(1.0)).sqrt())
}

/// The slope of log y against log x, by least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let (x, _) = spread(&points.iter().map(|p| p.0.ln()).collect::<Vec<_>>());
    let (y, _) = spread(&points.iter().map(|p| p.1.ln()).collect::<Vec<_>>());
    let over: f64 = points.iter().map(|p| (p.0.ln() - x) * (p.1.ln() - y)).sum();
    over / points.iter().map(|p| (p.0.ln() - x).powi(2)).sum::<f64>()
}
