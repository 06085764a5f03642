//! F7: β that nobody gives, on four spectra of 1000 eigenvalues; products to sin² ≤ 1e−10.

use favard_engine::recurrence::Start;
use favard_models::solvers::{
    BestHeavyBall, DynamicMomentum, Method, Power, PowerMomentum, ShiftedChebyshev,
};
use favard_operator::Diagonal;

use crate::agrees;
use crate::cases::counts::{lanczos_products, products, ticks_until};
use crate::cases::problems::{flat, spaced, spread, start};

/// Full size: ten seeds for all.
const SEEDS: usize = 6;
/// For the methods that need thousands of products.
const FEW: usize = 2;
const DIM: usize = 1000;
const EPSILON: f64 = 1e-10;

fn mean<M: Method<f64, Diagonal<f64>> + Copy>(spectrum: &[f64], method: M, seeds: usize) -> f64 {
    let op = Diagonal::new(spectrum.to_vec()).expect("finite");
    let counts: Vec<f64> =
        (0..seeds as u64).map(|seed| products(method, &op, &start(DIM, seed), EPSILON)).collect();
    spread(&counts).0
}

/// One line of the table: power, M with U and T start, shifted Chebyshev, dynamic momentum.
fn check(name: &str, spectrum: &[f64], table: [(f64, f64); 5]) {
    let second = spectrum[1];
    let least = spectrum[DIM - 1];
    let momentum = PowerMomentum::default().beta(second * second / 4.0);
    let found = [
        mean(spectrum, Power, FEW),
        mean(spectrum, momentum, SEEDS),
        mean(spectrum, momentum.start(Start::T), SEEDS),
        mean(spectrum, ShiftedChebyshev::default().lower(least).upper(second), SEEDS),
        mean(spectrum, DynamicMomentum, SEEDS),
    ];
    for ((method, found), table) in
        ["power", "U", "T", "shifted", "dynamic"].iter().zip(found).zip(table)
    {
        let seeds = if *method == "power" { FEW } else { SEEDS };
        agrees(&format!("({name}) {method}"), found, seeds, table, 10);
    }
}

#[test]
fn all_one_half() {
    check("a", &flat(DIM, 0.5), [(23.7, 3.1), (14.6, 1.6), (13.3, 1.4), (1.0, 0.0), (13.7, 2.2)]);
}

#[test]
fn up_to_one_half() {
    check("b", &spaced(DIM, 0.5), [(21.1, 2.8), (12.9, 1.5), (12.9, 1.5), (9.7, 1.2), (21.6, 1.1)]);
}

#[test]
fn all_just_below_one() {
    let table = [(16059.0, 2031.0), (441.0, 48.0), (375.0, 45.0), (1.0, 0.0), (400.0, 51.0)];
    check("c", &flat(DIM, 1e-3), table);
}

#[test]
fn up_to_just_below_one() {
    let table = [(12097.0, 1796.0), (349.0, 41.0), (367.0, 46.0), (260.0, 32.0), (347.0, 55.0)];
    check("d", &spaced(DIM, 1e-3), table);
}

#[test]
fn lanczos() {
    for (name, spectrum, table, limit, seeds) in [
        ("a", flat(DIM, 0.5), (2.0, 0.0), 4, SEEDS),
        ("b", spaced(DIM, 0.5), (10.7, 1.2), 30, SEEDS),
        ("c", flat(DIM, 1e-3), (2.0, 0.0), 4, SEEDS),
        ("d", spaced(DIM, 1e-3), (157.5, 13.0), 240, FEW),
    ] {
        let op = Diagonal::new(spectrum).expect("finite");
        let starts = (0..seeds as u64).map(|seed| start(DIM, seed));
        let counts = starts.map(|w| lanczos_products(&op, &w, EPSILON, limit));
        let (mean, _) = spread(&counts.collect::<Vec<_>>());
        agrees(&format!("({name}) Lanczos"), mean, seeds, table, 10);
    }
}

/// Best heavy ball is looked at when a round ends, every 50 products.
#[test]
fn best_heavy_ball() {
    for (name, spectrum, table) in [
        ("a", flat(DIM, 0.5), (101.0, 0.0)),
        ("b", spaced(DIM, 0.5), (106.0, 15.0)),
        ("c", flat(DIM, 1e-3), (1871.0, 195.0)),
        ("d", spaced(DIM, 1e-3), (6811.0, 2333.0)),
    ] {
        let op = Diagonal::new(spectrum).expect("finite");
        let counts: Vec<f64> = (0..FEW as u64)
            .map(|seed| {
                let w = start(DIM, seed);
                let found = ticks_until(BestHeavyBall, &op, &w, EPSILON, (51, 50, 100_000));
                found.expect("it converges") as f64
            })
            .collect();
        agrees(&format!("({name}) best heavy ball"), spread(&counts).0, FEW, table, 10);
    }
}
