//! What the tests share: the golden file, tolerances, and generators that shrink to readable numbers.

use favard_theory::second_moment::Finite;
use ndarray::Array2;
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde_json::Value;

/// The relative tolerance the golden README states for covariances and thresholds.
pub const GOLDEN: f64 = 1e-12;

/// The default number of cases (256, or `PROPTEST_CASES`), and where counterexamples are kept.
pub fn config(file: &'static str) -> ProptestConfig {
    let persistence = FileFailurePersistence::Direct(file);
    ProptestConfig { failure_persistence: Some(Box::new(persistence)), ..ProptestConfig::default() }
}

/// The golden file.
pub fn golden() -> Value {
    serde_json::from_str(include_str!("../golden.json")).expect("golden.json is JSON")
}

/// A number given as a JSON number or as an exact decimal string.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a decimal"),
        other => other.as_f64().expect("a number"),
    }
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

/// A JSON list.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// A count.
pub fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a count")).expect("fits")
}

/// Fails unless the two agree to a relative tolerance.
#[track_caller]
pub fn close(what: &str, found: f64, wanted: f64, relative: f64) {
    assert!(
        (found - wanted).abs() <= relative * wanted.abs(),
        "{what}: found {found:e}, wanted {wanted:e}, relative {:e}",
        (found - wanted).abs() / wanted.abs()
    );
}

/// Rounding allowed to a quantity computed in `steps` steps of about ten operations each.
///
/// A bound that holds in exact arithmetic is tested as `truth <= bound * (1 + slack(steps))`; one per
/// cent, the size of a mutation that must be seen, is far above it.
pub fn slack(steps: usize) -> f64 {
    256.0 * (steps + 8) as f64 * f64::EPSILON
}

/// A small decimal: an integer in the range, divided by `scale`. Shrinks towards zero.
pub fn decimal(range: std::ops::RangeInclusive<i32>, scale: f64) -> impl Strategy<Value = f64> {
    range.prop_map(move |k| f64::from(k) / scale)
}

/// A square matrix of tenths between −1 and 1.
pub fn matrix(dim: usize) -> impl Strategy<Value = Array2<f64>> {
    proptest::collection::vec(decimal(-10..=10, 10.0), dim * dim)
        .prop_map(move |v| Array2::from_shape_vec((dim, dim), v).expect("sized"))
}

/// A unit vector whose direction has small integer coordinates.
pub fn direction(dim: usize) -> impl Strategy<Value = ndarray::Array1<f64>> {
    proptest::collection::vec(-5..=5_i32, dim)
        .prop_filter("not zero", |v| v.iter().any(|&x| x != 0))
        .prop_map(|v| {
            let v: ndarray::Array1<f64> = v.into_iter().map(f64::from).collect();
            let norm = v.dot(&v).sqrt();
            v / norm
        })
}

/// A random problem: a finite distribution with symmetric mean, its spectral radius, and β.
#[derive(Debug, Clone)]
pub struct Problem {
    pub noise: Finite,
    /// Eigenvalues of the mean, the largest modulus first.
    pub spectrum: Vec<f64>,
    pub beta: f64,
}

/// Distributions of 2–3 points in dimension 1–4 with a symmetric mean, and β anywhere below
/// `beta_limit` times λ₁²/4, so on both sides of λ₂²/4.
pub fn problem(beta_limit: i32) -> impl Strategy<Value = Problem> {
    (1..=4_usize)
        .prop_flat_map(move |dim| {
            (
                matrix(dim),
                proptest::collection::vec(matrix(dim), 1..=2),
                proptest::collection::vec(1..=4_i32, 3),
                1..=10_i32,
                0..=beta_limit,
            )
        })
        .prop_filter_map("a mean that is not zero", |(mean, noise, weights, size, momentum)| {
            let mean = (&mean + &mean.t()) * 0.5;
            // Balanced points: the last one makes the weighted deviations sum to zero.
            let total: f64 = weights[..noise.len()].iter().map(|&w| f64::from(w)).sum();
            let last = f64::from(weights[2]);
            let scale = f64::from(size) / 20.0;
            let mut points = Vec::new();
            let mut probabilities = Vec::new();
            let mut sum = Array2::<f64>::zeros(mean.raw_dim());
            for (n, &w) in noise.iter().zip(&weights) {
                let n = n * scale;
                sum = sum + &n * f64::from(w);
                points.push(&mean + &n);
                probabilities.push(f64::from(w) / (total + last));
            }
            points.push(&mean - &(sum / last));
            probabilities.push(last / (total + last));
            let noise = Finite::new(points, probabilities).ok()?;
            // The mean of the rounded points is symmetric to rounding; take its eigenvalues.
            let spectrum = spectrum(&mean);
            let radius = spectrum[0].abs();
            if radius < 0.05 {
                return None;
            }
            let beta = radius * radius / 4.0 * f64::from(momentum) / 20.0;
            Some(Problem { noise, spectrum, beta })
        })
}

/// The eigenvalues of a symmetric matrix of at most 4 × 4, largest modulus first, by Jacobi rotations:
/// an oracle of its own.
pub fn spectrum(matrix: &Array2<f64>) -> Vec<f64> {
    let n = matrix.nrows();
    let mut a = matrix.clone();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[[p, q]] == 0.0 {
                    continue;
                }
                let theta = 0.5 * (2.0 * a[[p, q]]).atan2(a[[q, q]] - a[[p, p]]);
                let (s, c) = theta.sin_cos();
                let mut rotation = Array2::eye(n);
                rotation[[p, p]] = c;
                rotation[[q, q]] = c;
                rotation[[p, q]] = s;
                rotation[[q, p]] = -s;
                a = rotation.t().dot(&a).dot(&rotation);
            }
        }
    }
    let mut values: Vec<f64> = a.diag().to_vec();
    values.sort_by(|x, y| y.abs().total_cmp(&x.abs()));
    values
}
