//! Dense data of low rank, with noise and a mean.

use favard_operator::{Dense, Result};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Row i is μ + Σ_r 3/√r z_ir w_r + 0.5 noise, with μ, z, w and the noise standard normal and w_r of
/// unit length in the mean.
pub fn matrix(rows: usize, cols: usize, rank: usize) -> Result<Dense<'static, f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut normals =
        |count: usize| -> Vec<f64> { StandardNormal.sample_iter(&mut rng).take(count).collect() };
    let mean = normals(cols);
    let factors: Vec<Vec<f64>> = (1..=rank)
        .map(|r| {
            let scale = 3.0 / (r as f64).sqrt() / (cols as f64).sqrt();
            normals(cols).into_iter().map(|w| scale * w).collect()
        })
        .collect();
    let mut x = Array2::zeros((rows, cols));
    x.outer_iter_mut().into_par_iter().enumerate().for_each(|(i, mut row)| {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000 + i as u64);
        for (value, mean) in row.iter_mut().zip(&mean) {
            let noise: f64 = StandardNormal.sample(&mut rng);
            *value = mean + 0.5 * noise;
        }
        for factor in &factors {
            let score: f64 = StandardNormal.sample(&mut rng);
            row.iter_mut().zip(factor).for_each(|(value, w)| *value += score * w);
        }
    });
    Dense::new(x)
}
