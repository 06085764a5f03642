//! F1: iterations to sin² ≤ 1e−10 at Δ = 0.1, on the same starts.

use favard_engine::recurrence::Start;
use favard_models::solvers::{Power, PowerMomentum, ShiftedChebyshev};
use favard_operator::Diagonal;
use favard_theory::Start as Family;

use crate::agrees;
use crate::cases::counts::{lanczos_products, products};
use crate::cases::problems::{flat, spaced, spread, start};

const SEEDS: usize = 20;
const EPSILON: f64 = 1e-10;

struct Counts {
    power: Vec<f64>,
    u: Vec<f64>,
    t: Vec<f64>,
    shifted: [Vec<f64>; 2],
}

fn count(spectrum: &[f64]) -> Counts {
    let op = Diagonal::new(spectrum.to_vec()).expect("finite");
    let second = spectrum[1];
    let momentum = |start| PowerMomentum::default().beta(second * second / 4.0).start(start);
    // Facts' "shifted by λ₂/2": the interval [0, λ₂].
    let shifted = |start| ShiftedChebyshev::default().upper(second).start(start);
    let starts: Vec<_> = (0..SEEDS as u64).map(|seed| start(spectrum.len(), seed)).collect();
    Counts {
        power: starts.iter().map(|w| products(Power, &op, w, EPSILON)).collect(),
        u: starts.iter().map(|w| products(momentum(Start::U), &op, w, EPSILON)).collect(),
        t: starts.iter().map(|w| products(momentum(Start::T), &op, w, EPSILON)).collect(),
        shifted: [Start::U, Start::T].map(|start| {
            starts.iter().map(|w| products(shifted(start), &op, w, EPSILON)).collect()
        }),
    }
}

/// Every run stops at the step that the closed form of the polynomials predicts; the last digits of
/// a few hundred steps are left to rounding.
fn assert_predicted(spectrum: &[f64], found: &Counts) {
    let beta = spectrum[1] * spectrum[1] / 4.0;
    for seed in 0..SEEDS {
        let squares: Vec<f64> =
            start(spectrum.len(), seed as u64).view().iter().map(|v| v * v).collect();
        for (name, count, family, beta) in [
            ("power", found.power[seed], Family::U, 0.0),
            ("U", found.u[seed], Family::U, beta),
            ("T", found.t[seed], Family::T, beta),
        ] {
            let exact = |tick: f64| {
                // A count of steps, as a float.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let tick = tick as usize;
                favard_theory::sin2(family, tick, spectrum, &squares, beta).expect("in range")
            };
            let slack = 1e4 * f64::EPSILON;
            let (before, after) = (exact(count - 1.0), exact(count));
            assert!(before > EPSILON * (1.0 - slack), "{name}, {seed}: {count} is too late");
            assert!(after <= EPSILON * (1.0 + slack), "{name}, {seed}: {count} is too early");
        }
    }
}

/// power / U on the same start: far less spread than the counts themselves.
fn assert_ratio(found: &Counts, table: (f64, f64)) {
    let ratios: Vec<f64> = found.power.iter().zip(&found.u).map(|(p, u)| p / u).collect();
    let (mean, _) = spread(&ratios);
    let error = table.1 * (2.0 / SEEDS as f64).sqrt();
    assert!((mean - table.0).abs() <= 5.0 * error, "{mean}, the table has {table:?}");
    assert!(ratios.iter().all(|r| (r - table.0).abs() <= 5.0 * table.1), "{ratios:?}");
}

/// The mean over the starts for Lanczos with full reorthogonalisation.
fn lanczos(spectrum: &[f64], limit: u64) -> f64 {
    let op = Diagonal::new(spectrum.to_vec()).expect("finite");
    let starts = (0..SEEDS as u64).map(|seed| start(spectrum.len(), seed));
    spread(&starts.map(|w| lanczos_products(&op, &w, EPSILON, limit)).collect::<Vec<_>>()).0
}

#[test]
fn the_papers_data() {
    let found = count(&flat(10, 0.1));
    assert_predicted(&flat(10, 0.1), &found);
    agrees("power", spread(&found.power).0, SEEDS, (124.0, 8.0), 20);
    agrees("U", spread(&found.u).0, SEEDS, (34.8, 1.9), 20);
    agrees("T", spread(&found.t).0, SEEDS, (29.8, 1.8), 20);
    // Two different eigenvalues.
    agrees("Lanczos", lanczos(&flat(10, 0.1), 4), SEEDS, (2.0, 0.0), 20);
}

#[test]
fn a_spaced_tail() {
    let found = count(&spaced(1000, 0.1));
    assert_predicted(&spaced(1000, 0.1), &found);
    agrees("power", spread(&found.power).0, SEEDS, (126.8, 16.0), 20);
    agrees("U", spread(&found.u).0, SEEDS, (35.2, 3.8), 20);
    agrees("T", spread(&found.t).0, SEEDS, (35.5, 4.0), 20);
    agrees("shifted U", spread(&found.shifted[0]).0, SEEDS, (25.6, 2.8), 20);
    agrees("shifted T", spread(&found.shifted[1]).0, SEEDS, (25.4, 2.8), 20);
    assert_ratio(&found, (3.60, 0.07));
    agrees("Lanczos", lanczos(&spaced(1000, 0.1), 60), SEEDS, (26.0, 2.7), 20);
}

#[test]
fn a_flat_tail() {
    let found = count(&flat(1000, 0.1));
    assert_predicted(&flat(1000, 0.1), &found);
    agrees("power", spread(&found.power).0, SEEDS, (152.6, 18.0), 20);
    agrees("U", spread(&found.u).0, SEEDS, (41.7, 4.3), 20);
    agrees("T", spread(&found.t).0, SEEDS, (36.3, 4.0), 20);
    agrees("shifted U", spread(&found.shifted[0]).0, SEEDS, (29.7, 3.1), 20);
    agrees("shifted T", spread(&found.shifted[1]).0, SEEDS, (26.1, 3.0), 20);
    assert_ratio(&found, (3.66, 0.05));
    agrees("Lanczos", lanczos(&flat(1000, 0.1), 4), SEEDS, (2.0, 0.0), 20);
}
