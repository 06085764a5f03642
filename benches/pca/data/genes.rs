//! Counts of genes in cells: more columns than rows, and a tenth of the entries are there.

use favard_operator::{Csr, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

const TYPES: usize = 25;

/// ln(1 + count). The count of gene j in cell i is Poisson with mean `size_i · rate_j`, the rates
/// log-normal and multiplied by e^(2 N(0,1)) for one gene in twenty of each cell type; about
/// `filled` of the entries are not zero.
pub fn matrix(rows: usize, cols: usize, filled: f64) -> Result<Csr<'static, f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let rates: Vec<f64> = (0..cols).map(|_| (1.5 * normal()).exp()).collect();
    let mut of_type = vec![rates; TYPES];
    for rates in &mut of_type {
        for rate in rates {
            let (is_marker, effect) = (normal() > 1.645, normal());
            *rate *= if is_marker { (2.0 * effect).exp() } else { 1.0 };
        }
    }
    let scale = scale(&of_type, filled);
    let lines: Vec<Vec<(u32, f64)>> = (0_u64..rows as u64)
        .into_par_iter()
        .map(|i| {
            let mut rng = ChaCha8Rng::seed_from_u64(1_000 + i);
            let size: f64 = StandardNormal.sample(&mut rng);
            let size = scale * (0.4 * size).exp();
            let rates = &of_type[super::part(rng.random::<f64>().powi(2), TYPES)];
            let counts =
                (0_u32..).zip(rates).map(|(j, rate)| (j, poisson(size * rate, rng.random())));
            counts.filter(|&(_, count)| count > 0.0).map(|(j, count)| (j, count.ln_1p())).collect()
        })
        .collect();
    let ends = lines.iter().scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let pointers: Vec<usize> = [0].into_iter().chain(ends).collect();
    let (columns, values): (Vec<u32>, Vec<f64>) = lines.into_iter().flatten().unzip();
    Csr::new((rows, cols), pointers, columns, values)
}

/// The c with mean(1 − exp(−c · rate)) = filled, by bisection of ln c.
fn scale(of_type: &[Vec<f64>], filled: f64) -> f64 {
    let rates: Vec<f64> = of_type.iter().flatten().copied().collect();
    let share = |c: f64| {
        rates.par_iter().map(|rate| -(-c * rate).exp_m1()).sum::<f64>() / rates.len() as f64
    };
    let (mut low, mut high) = (-20.0_f64, 20.0_f64);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if share(middle.exp()) < filled { low = middle } else { high = middle }
    }
    low.exp()
}

/// The Poisson quantile of a uniform draw: the smallest count with P(X ≤ count) > draw, or 1000.
fn poisson(mean: f64, draw: f64) -> f64 {
    let mut term = (-mean).exp();
    let (mut sum, mut count) = (term, 0.0);
    while draw >= sum && count < 1000.0 {
        count += 1.0;
        term *= mean / count;
        sum += term;
    }
    count
}
