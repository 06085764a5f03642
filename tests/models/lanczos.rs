//! Block Lanczos on spectra that are known.

use favard_engine::Stop;
use favard_models::{Lanczos, Pca, Solver};
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

/// An eigenvalue that is repeated more often than a panel has columns is found as often as it is
/// there: four columns see four copies, which is a doubt, and wider panels decide. Other spectra pay
/// nothing for that.
#[test]
fn eigenvalues_beyond_the_width_of_a_panel_are_found() {
    for multiplicity in 3..=9 {
        let mut variances: Vec<f64> = (0..300).map(|i| 1.0 / (1.0 + 0.2 * f64::from(i))).collect();
        variances[0] = 4.0;
        variances[1..=multiplicity].fill(3.0);
        let x = Dense::new(with_variances(400, &variances, 5)).unwrap();
        for tolerance in [1e-3, 1e-6, 1e-10] {
            let fit = Pca::new(10).tolerance(tolerance).fit(&x).unwrap();
            assert_eq!(fit.method().0, Solver::Lanczos);
            assert!(fit.is_certified());
            for (j, value) in fit.explained_variance().iter().enumerate() {
                // |λ − θ| ≤ r ≤ tol λ₁
                let error = (value - variances[j]).abs();
                assert!(error <= tolerance * 4.0, "{multiplicity}, {tolerance}: {j} is {value}");
            }
            let cluster = &fit.certificate().clusters()[0];
            assert_eq!(cluster.range, 1..multiplicity + 1);
        }
        let op = Dense::new(with_spectrum(&variances, 6)).unwrap();
        let found = Lanczos::new(10).width(4).solve(&op).unwrap();
        let ticks: Vec<u64> = found.info.history.iter().map(|record| record.tick).collect();
        assert!(ticks.windows(2).all(|pair| pair[1] == pair[0] + 1), "{ticks:?}");
        // One product for each step, and one for the residuals; steps after the first run, to
        // 1e-8 of the largest value, for a doubt only.
        assert_eq!(found.info.applications, found.info.iterations + 1);
        let first = found.info.history.iter().position(|r| r.residual <= 4e-8).unwrap() + 1;
        let goes_on = found.info.history.len() > first;
        assert_eq!(goes_on, multiplicity >= 4, "{multiplicity}: {first} of {ticks:?}");
    }
}

/// Values that are merely close, as many as a panel has columns, are a doubt that one more pair
/// settles: the pairs stay those of the first run, and a second one would have cost more.
#[test]
fn a_doubt_without_reason_costs_less_than_a_run() {
    let close = |i: i32| 2.0 - 1e-5 * f64::from(i);
    let spectrum: Vec<f64> = (0..400)
        .map(|i| if i < 5 { close(i) } else { 1.0 / (1.0 + 0.02 * f64::from(i)) })
        .collect();
    let op = Dense::new(with_spectrum(&spectrum, 6)).unwrap();
    let found = Lanczos::new(12).width(4).solve(&op).unwrap();
    assert_eq!(found.info.stop, Stop::Converged);
    for (value, exact) in found.values.iter().zip(&spectrum) {
        assert!((value - exact).abs() <= 1e-8 * 2.0, "{value} for {exact}");
    }
    let first = found.info.history.iter().position(|r| r.residual <= 2e-8).unwrap() as u64 + 1;
    let iterations = found.info.iterations;
    assert!(first < iterations && iterations < 2 * first, "{first} of {iterations}");
}

/// A budget that ends while a doubt is looked into is a budget: what had converged comes back.
#[test]
fn a_doubt_has_the_budget_of_the_run() {
    let mut spectrum: Vec<f64> = (0..300).map(|i| 1.0 / (1.0 + 0.2 * f64::from(i))).collect();
    spectrum[..6].fill(2.0);
    let op = Dense::new(with_spectrum(&spectrum, 6)).unwrap();
    let whole = Lanczos::new(10).width(4).solve(&op).unwrap();
    let first = whole.info.history.iter().position(|record| record.residual <= 2e-8).unwrap() + 1;
    for more in [0, 2] {
        let products = first as u64 + more;
        let cut = Lanczos::new(10).width(4).products(products).solve(&op).unwrap();
        assert_eq!((cut.info.stop, cut.info.iterations), (Stop::Iterations, products));
        assert!(cut.residuals.iter().all(|r| *r <= 2e-8));
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
    /// Lanczos finds the top of any spectrum, repeated values as often as they are there: each value
    /// within its residual, none missed. A panel of one column finds distinct values only.
    #[test]
    fn lanczos_on_random_spectra(
        mut spectrum in prop::collection::vec(-40..=40_i32, 90..=140),
        seed in 0..1000_u64,
        width in 1..=6_usize,
        wanted in 1..=12_usize,
    ) {
        spectrum.sort_unstable_by(|a, b| b.cmp(a));
        let values: Vec<f64> = spectrum.iter().map(|v| f64::from(*v) / 40.0).collect();
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        prop_assume!(largest > 0.0);
        let op = Dense::new(with_spectrum(&values, seed)).unwrap();
        let solver = Lanczos::new(wanted).width(width).tolerance(1e-9).seed(seed);
        let found = solver.solve(&op).unwrap();
        // Relative to the largest value in magnitude: the spectrum may be mostly negative.
        prop_assert!(found.residuals.iter().all(|r| *r <= 1e-9 * largest), "{:?}", found.info);
        for (j, value) in found.values.iter().enumerate() {
            let nearest = values.iter().map(|v| (v - value).abs()).fold(f64::INFINITY, f64::min);
            let slack = found.residuals[j] + 1e3 * f64::EPSILON;
            prop_assert!(nearest <= slack, "{} is {:e} from the spectrum", value, nearest);
            let missed = (value - values[j]).abs() > slack;
            prop_assert!(width == 1 || !missed, "{}: {} for {}", j, value, values[j]);
        }
        prop_assert!((found.values[0] - values[0]).abs() <= 2e-9);
    }
}

/// Residuals whose squares are below the smallest number: data with variances of 1e-25 in f32 takes
/// the steps of the same data at 1, and is certified.
#[test]
fn small_numbers_converge_as_others_do() {
    let run = |size: f32| {
        let spectrum = (0..300_u16).map(|i| size / (1.0 + f32::from(i))).collect();
        Lanczos::new(3).tolerance(1e-4).solve(&Diagonal::new(spectrum).unwrap()).unwrap()
    };
    let (plain, small) = (run(1.0), run(2.0_f32.powi(-83)));
    assert_eq!((small.info.stop, small.info.iterations), (Stop::Converged, plain.info.iterations));
    assert!(plain.info.iterations > 1 && small.info.certificate.is_certified());
}
