//! Block Lanczos on spectra that are known.

use favard_engine::Stop;
use favard_models::Lanczos;
use favard_operator::{Dense, Diagonal};
use proptest::prelude::*;

use crate::support::*;

/// Multiplicities 1 to 4 are all found (demand 14), and no vector of a cluster claims an angle.
#[test]
fn repeated_eigenvalues_are_found() {
    for multiplicity in 1..=4 {
        let mut spectrum = vec![0.5; 120];
        for (i, value) in spectrum.iter_mut().enumerate() {
            *value = if i < multiplicity { 2.0 } else { 1.0 / (1.0 + i as f64) };
        }
        let op = Dense::new(with_spectrum(&spectrum, 4)).unwrap();
        let found = Lanczos::new(5).width(4).tolerance(1e-10).solve(&op).unwrap();
        assert_eq!(found.info.stop, Stop::Converged);
        for (value, exact) in found.values.iter().zip(&spectrum) {
            assert!((value - exact).abs() <= 1e-10 * 2.0, "{multiplicity}: {value} for {exact}");
        }
    }
}

/// A gap of 1e-6 costs steps and does not hang; the budget is a stop and the vectors come back.
#[test]
fn tiny_gaps_and_small_budgets() {
    let mut spectrum: Vec<f64> = (0..500).map(|i| 1.0 - 1e-6 * f64::from(i.min(3))).collect();
    for (i, value) in spectrum.iter_mut().enumerate().skip(4) {
        *value = 0.9 / (1.0 + 0.01 * i as f64);
    }
    let op = Diagonal::new(spectrum.clone()).unwrap();
    let found = Lanczos::new(2).tolerance(1e-9).solve(&op).unwrap();
    assert_eq!(found.info.stop, Stop::Converged);
    assert!((found.values[0] - 1.0).abs() <= 1e-9);
    let cut = Lanczos::new(2).tolerance(1e-14).products(2).solve(&op).unwrap();
    assert_eq!((cut.info.stop, cut.info.iterations), (Stop::Iterations, 2));
    assert_eq!(cut.vectors.shape(), (500, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Lanczos finds the top of any spectrum: each value within its residual, none missed.
    #[test]
    fn lanczos_on_random_spectra(
        mut spectrum in prop::collection::vec(-100..=100_i32, 60..=90),
        seed in 0..1000_u64,
        width in 1..=6_usize,
        wanted in 1..=5_usize,
    ) {
        spectrum.sort_unstable_by(|a, b| b.cmp(a));
        let values: Vec<f64> = spectrum.iter().map(|v| f64::from(*v) / 100.0).collect();
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        prop_assume!(largest > 0.0);
        let op = Dense::new(with_spectrum(&values, seed)).unwrap();
        let solver = Lanczos::new(wanted).width(width).tolerance(1e-9).seed(seed);
        let found = solver.solve(&op).unwrap();
        // Relative to the largest value in magnitude: the spectrum may be mostly negative.
        prop_assert!(found.residuals.iter().all(|r| *r <= 1e-9 * largest), "{:?}", found.info);
        // A multiplicity beyond the width of a block can be found only after rounding has mixed it
        // in; the value itself is never wrong. What is asked here: each found value is an eigenvalue.
        for (j, value) in found.values.iter().enumerate() {
            let nearest = values.iter().map(|v| (v - value).abs()).fold(f64::INFINITY, f64::min);
            let slack = found.residuals[j] + 1e3 * f64::EPSILON;
            prop_assert!(nearest <= slack, "{} is {:e} from the spectrum", value, nearest);
        }
        prop_assert!((found.values[0] - values[0]).abs() <= 2e-9);
    }
}
