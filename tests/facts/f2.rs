//! F2: iterations against the gap: slope −1 without momentum, −1/2 with it.

use favard_engine::recurrence::Start;
use favard_models::solvers::{Power, PowerMomentum, ShiftedChebyshev};
use favard_operator::{Block, Diagonal};

use crate::agrees;
use crate::cases::counts::{lanczos_products, products};
use crate::cases::problems::{flat, slope, spaced, spread, start};

/// Full size: down to 1e−4, five seeds, both tails with 1000 eigenvalues.
const GAPS: [f64; 4] = [1e-2, 3e-3, 1e-3, 3e-4];
const EPSILON: f64 = 1e-10;

/// The four slopes: power, U, T, shifted. One start for all gaps, whose share of u₁ then cancels.
fn slopes(tail: fn(usize, f64) -> Vec<f64>, w: &Block<f64>, gaps: &[f64]) -> [f64; 4] {
    let mut points: [Vec<(f64, f64)>; 4] = Default::default();
    for &gap in gaps {
        let op = Diagonal::new(tail(w.rows(), gap)).expect("finite");
        let second = 1.0 - gap;
        let momentum = PowerMomentum::default().beta(second * second / 4.0);
        let shifted = ShiftedChebyshev::default().upper(second).start(Start::U);
        let counts = [
            products(Power, &op, w, EPSILON),
            products(momentum, &op, w, EPSILON),
            products(momentum.start(Start::T), &op, w, EPSILON),
            products(shifted, &op, w, EPSILON),
        ];
        points.iter_mut().zip(counts).for_each(|(list, count)| list.push((gap, count)));
    }
    points.map(|list| slope(&list))
}

fn assert_slopes(found: [f64; 4]) {
    assert!((found[0] + 1.0).abs() <= 0.02, "power: {found:?}");
    assert!(found[1..].iter().all(|slope| (slope + 0.5).abs() <= 0.02), "momentum: {found:?}");
}

#[test]
fn slopes_on_a_flat_tail() {
    assert_slopes(slopes(flat, &start(200, 1), &GAPS));
}

#[test]
fn slopes_on_a_spaced_tail() {
    assert_slopes(slopes(spaced, &start(1000, 1), &GAPS[..3]));
}

/// Lanczos saturates once the gap is below the spacing of the tail. The table has the means of five
/// starts and no deviations; the spread of log(1/|u₁ᵀw₀|) is a tenth of a count.
#[test]
fn lanczos_saturates() {
    for (gap, table, limit, seeds) in
        [(0.1, 26.7, 60, 3), (0.01, 79.0, 150, 3), (1e-3, 161.0, 260, 1), (1e-4, 193.0, 320, 1)]
    {
        let op = Diagonal::new(spaced(1000, gap)).expect("finite");
        let starts = (0..seeds as u64).map(|seed| start(1000, seed));
        let counts = starts.map(|w| lanczos_products(&op, &w, EPSILON, limit));
        let (mean, _) = spread(&counts.collect::<Vec<_>>());
        agrees(&format!("Lanczos, Δ = {gap}"), mean, seeds, (table, 0.1 * table), 5);
        let op = Diagonal::new(flat(200, gap)).expect("finite");
        let two = lanczos_products(&op, &start(200, 1), EPSILON, 4);
        agrees("Lanczos, flat", two, 1, (2.0, 0.0), 5);
    }
}
