//! Products are counted where they happen, in the operator: momentum needs what the theory says, and
//! variance reduction passes over the data less often than the exact method.

use std::sync::atomic::{AtomicU64, Ordering};

use favard_models::solvers::{Eigensolver, Power, PowerMomentum, VrMomentum};
use favard_operator::{
    Batch, BlockMut, BlockRef, FnOperator, LinearOperator, StochasticFn, StochasticOperator,
    Workspace,
};
use favard_theory::{Growth, Start, tan2};
use ndarray::Array2;

use crate::cases::counts::ticks_until;
use crate::cases::data::{gram, paper_rows};
use crate::cases::problems::{spaced, start};

#[test]
fn momentum_takes_the_products_that_the_theory_predicts() {
    for gap in [0.1, 1e-2, 1e-3] {
        let spectrum = spaced(200, gap);
        let count = AtomicU64::new(0);
        let op = FnOperator::new((200, 200), |x: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
            count.fetch_add(1, Ordering::Relaxed);
            for (i, lambda) in spectrum.iter().enumerate() {
                y.row_mut(i)[0] = lambda * x.row(i)[0];
            }
        });
        let (w, second) = (start(200, 3), 1.0 - gap);
        let method = PowerMomentum::default().beta(second * second / 4.0);
        let ticks = ticks_until(method, &op, &w, 1e-10, (1, 1, 10_000)).expect("it converges");
        // One product a tick, and one that proves the answer.
        assert_eq!(count.load(Ordering::Relaxed), ticks + 1);
        let tan2 = tan2(w.row(0)[0].powi(2)).expect("a share of u₁");
        let bound = Growth::optimal(1.0, second)
            .and_then(|growth| growth.iterations(Start::U, tan2, 1e-10))
            .expect("in range");
        assert!(ticks <= bound as u64, "Δ = {gap}: {ticks} products, at most {bound}");
        // The closed form of the polynomials on this spectrum crosses the error at this very step.
        let squares: Vec<f64> = w.view().iter().map(|v| v * v).collect();
        let [before, after] = [ticks - 1, ticks].map(|tick| {
            let tick = usize::try_from(tick).expect("small");
            let beta = second * second / 4.0;
            favard_theory::sin2(Start::U, tick, &spectrum, &squares, beta).expect("in range")
        });
        let slack = 1e4 * f64::EPSILON;
        assert!(before > 1e-10 * (1.0 - slack) && after <= 1e-10 * (1.0 + slack), "Δ = {gap}");
    }
}

/// XᵀX/n that counts the rows it touches.
fn counting<'a>(rows: &'a Array2<f64>, count: &'a AtomicU64) -> impl StochasticOperator<f64> + 'a {
    let (terms, dim) = rows.dim();
    let product = move |batch: &Batch<f64>, x: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
        count.fetch_add(batch.len() as u64, Ordering::Relaxed);
        for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
            let row = rows.row(term);
            for j in 0..x.cols() {
                let dot: f64 = (0..dim).map(|i| row[i] * x.row(i)[j]).sum();
                let share = dot * weight / terms as f64;
                (0..dim).for_each(|i| y.row_mut(i)[j] += share * row[i]);
            }
        }
        Ok(())
    };
    StochasticFn::new((dim, dim), terms, product)
}

/// At s = 1000 the epochs of F5 are far fewer passes than the products of the exact method with the
/// best momentum, for the same residual; and the reported passes are the rows that were touched.
#[test]
fn variance_reduction_passes_over_the_data_less_often() {
    let rows = paper_rows(20_000, 10, 1);
    let count = AtomicU64::new(0);
    let op = counting(&rows, &count);
    let method = VrMomentum::default().beta(0.2025).batch(1000).epoch(10);
    let solver = |tolerance| Eigensolver::new(method, 1).tolerance(tolerance);
    let reduced = solver(1e-7).solve(&op).expect("a run");
    let touched = count.swap(0, Ordering::Relaxed) as f64 / 20_000.0;
    // Passes are whole numbers of rows over 20,000: exact up to one rounding.
    assert!((reduced.info.passes - touched).abs() <= 1e-12, "{} {touched}", reduced.info.passes);
    let exact = PowerMomentum::default().beta(0.2025);
    let exact = Eigensolver::new(exact, 1).guard(0).tolerance(1e-7).solve(&op).expect("a run");
    let touched_exactly = count.load(Ordering::Relaxed) as f64 / 20_000.0;
    assert!((exact.info.passes - touched_exactly).abs() <= 1e-12);
    for found in [&reduced, &exact] {
        assert!(found.residuals[0] <= 1e-7 * found.values[0], "{:e}", found.residuals[0]);
    }
    assert!(touched < 0.75 * touched_exactly, "{touched} and {touched_exactly} passes");
}

/// The same when nothing is given: the estimates are made on a sample, and what they touch is counted
/// with the run.
#[test]
fn planned_variance_reduction_passes_over_the_data_less_often() {
    const ROWS: usize = 100_000;
    let rows = paper_rows(ROWS, 10, 1);
    let count = AtomicU64::new(0);
    let op = counting(&rows, &count);
    let reduced = Eigensolver::new(VrMomentum::default(), 1).solve(&op).expect("a run");
    let touched = count.swap(0, Ordering::Relaxed) as f64 / ROWS as f64;
    // Sums of shares of a pass, rounded once a share.
    let gap = (reduced.info.passes - touched).abs();
    assert!(gap <= 1e3 * f64::EPSILON * touched, "{} and {touched}", reduced.info.passes);
    let exact = Eigensolver::new(PowerMomentum::default(), 1).guard(2).solve(&op).expect("a run");
    for found in [&reduced, &exact] {
        assert!(found.residuals[0] <= 1e-8 * found.values[0], "{:e}", found.residuals[0]);
    }
    assert!(reduced.info.passes < 0.75 * exact.info.passes, "{touched}, {}", exact.info.passes);
}

/// A fused product and one through the trait are the same operator.
#[test]
fn the_counting_operator_is_the_gram_operator() {
    let rows = paper_rows(500, 10, 1);
    let count = AtomicU64::new(0);
    let op = counting(&rows, &count);
    let w = start(10, 1);
    let (a, b) =
        (op.multiply(w.as_ref()).expect("y"), gram(&rows).multiply(w.as_ref()).expect("y"));
    for i in 0..10 {
        // Two sums of 500 · 10 terms of size one.
        assert!((a.row(i)[0] - b.row(i)[0]).abs() <= 2.0 * 5000.0 * f64::EPSILON);
    }
    let mut y = w.clone();
    op.apply(1.0, w.as_ref(), 0.0, y.as_mut(), &mut Workspace::new()).expect("a product");
    assert_eq!(count.load(Ordering::Relaxed), 1000);
}

/// Every product is in the report, also that with the block before the last step, which is looked at
/// when the answer does not keep what the iteration promised, and does not keep it either.
#[test]
fn a_second_look_is_counted() {
    let products = |honest: u64| {
        let count = AtomicU64::new(0);
        let op = FnOperator::new((50, 50), |x: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
            let lies = count.fetch_add(1, Ordering::Relaxed) >= honest;
            for i in 0..50 {
                let wrong = if lies { x.row((i + 1) % 50)[0] } else { 0.0 };
                y.row_mut(i)[0] = x.row(i)[0] / (1.0 + i as f64) + wrong;
            }
        });
        let found = Eigensolver::new(Power, 1).guard(0).tolerance(1e-6).solve(&op).expect("a run");
        assert_eq!(found.info.applications, count.load(Ordering::Relaxed));
        (found.info.iterations, count.load(Ordering::Relaxed))
    };
    let (ticks, whole) = products(u64::MAX);
    assert_eq!(whole, ticks + 1);
    assert_eq!(products(ticks), (ticks, ticks + 2));
}
