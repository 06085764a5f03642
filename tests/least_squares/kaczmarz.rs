//! Kaczmarz against exact solutions.

use favard_engine::Engine;
use favard_engine::recurrence::HeavyBall;
use favard_models::least_squares::{Momentum, Sampled};
use favard_models::{ExtendedProjection, Kaczmarz, LeastSquares};
use favard_operator::{Block, Dense, LinearOperator, Scalar};
use ndarray::Array2;

use crate::support::{array, assert_exact, csr, exact, geometric, uneven, with_singular_values};

/// Rows of very different lengths, several right-hand sides: single rows, batches, blocks, with and
/// without momentum.
#[test]
fn consistent_systems() {
    let mut a = with_singular_values(3000, &geometric(10, 4.0), 3);
    for (i, mut row) in a.rows_mut().into_iter().enumerate() {
        row *= 1.0 + (i % 10) as f64;
    }
    let op = Dense::new(a.view()).unwrap();
    let truth = Block::<f64>::gaussian(10, 3, 4);
    let b = op.multiply(truth.as_ref()).unwrap();
    let smallest = exact(&a, &array(&b), 0.0).smallest;
    let plans = [
        Kaczmarz::new(),
        Kaczmarz::new().momentum(Momentum::Off),
        Kaczmarz::new().batch(30),
        Kaczmarz::new().batch(300),
        Kaczmarz::new().batch(30).momentum(Momentum::Off),
        Kaczmarz::new().blocks(5),
        Kaczmarz::new().blocks(5).momentum(Momentum::Given { step: 1.0, gamma: 0.2 }),
        Kaczmarz::new().blocks(20),
    ];
    for plan in plans {
        let found = plan.tolerance(1e-10).solve(&op, &b).unwrap();
        assert!(found.is_certified(), "{} {:?}", found.reason, found.info.stop);
        for j in 0..3 {
            // ‖x − x*‖ ≤ ‖r‖ / σ_d
            let gap = (0..10).map(|i| (found.x.row(i)[j] - truth.row(i)[j]).powi(2)).sum::<f64>();
            let allowed = found.residuals[j] / smallest + 1e3 * f64::EPSILON;
            assert!(gap.sqrt() <= allowed, "{}: {:e} {allowed:e}", found.reason, gap.sqrt());
        }
    }
}

/// More unknowns than equations: from zero the iterates stay in the range of Aᵀ, and the solution of
/// smallest norm comes out.
#[test]
fn wide_systems_give_the_minimum_norm() {
    let a = with_singular_values(40, &geometric(12, 3.0), 3).t().to_owned();
    let op = Dense::new(a.view()).unwrap();
    let b = Block::<f64>::gaussian(12, 1, 4);
    let wanted = exact(&a, &array(&b), 0.0);
    for plan in [Kaczmarz::new(), Kaczmarz::new().batch(6), Kaczmarz::new().blocks(4)] {
        let found = plan.tolerance(1e-10).passes(1e5).solve(&op, &b).unwrap();
        assert!(found.is_certified(), "{}", found.reason);
        let gap = (0..40).map(|i| (found.x.row(i)[0] - wanted.x[[i, 0]]).powi(2)).sum::<f64>();
        let allowed = found.residuals[0] / wanted.smallest + 1e3 * f64::EPSILON;
        assert!(gap.sqrt() <= allowed, "{:e} {allowed:e}", gap.sqrt());
    }
}

/// Inconsistent systems by SVRG over the same rows: the least-squares solution.
#[test]
fn inconsistent_systems() {
    let a = with_singular_values(2000, &geometric(10, 4.0), 3);
    let op = Dense::new(a.view()).unwrap();
    let b = Block::<f64>::gaussian(2000, 2, 4);
    let wanted = exact(&a, &array(&b), 0.0);
    for batch in [10, 100] {
        let found = Kaczmarz::new().batch(batch).inconsistent(true).solve(&op, &b).unwrap();
        assert_exact(&found, &wanted, &format!("{batch}"));
    }
}

/// Sparse single precision.
#[test]
fn sparse_single_precision() {
    let dense = uneven(3000, 6, 2).mapv(|v| v.signum() * v.abs().powf(0.1));
    let op = csr::<f32>(&dense);
    let truth = Block::<f32>::gaussian(6, 1, 4);
    let b = op.multiply(truth.as_ref()).unwrap();
    let found = Kaczmarz::new().batch(20).tolerance(1e-5).solve(&op, &b).unwrap();
    assert!(found.is_certified(), "{}", found.reason);
    let narrow: Array2<f64> = dense.mapv(|v| f32::of(v).as_f64());
    let smallest = exact(&narrow, &Array2::zeros((3000, 1)), 0.0).smallest;
    for i in 0..6 {
        let gap = (found.x.row(i)[0] - truth.row(i)[0]).abs().as_f64();
        assert!(gap <= found.residuals[0].as_f64() / smallest + 1e-5, "{gap:e}");
    }
}

/// A tall consistent system is solved before its rows have all been read once: what a pass-by-pass
/// method cannot do.
#[test]
fn reads_less_than_full_passes() {
    let op = Dense::new(Block::<f64>::gaussian(50_000, 20, 1).view().to_owned()).unwrap();
    let b = op.multiply(Block::<f64>::gaussian(20, 1, 4).as_ref()).unwrap();
    let found = Kaczmarz::new().batch(16).solve(&op, &b).unwrap();
    assert!(found.is_certified(), "{}", found.reason);
    // One pass for the norms of the rows, two for the certificate, and less than one for the rest.
    assert!(found.info.passes < 4.0, "{}", found.info.passes);
    let iterated = found.info.iterations * 16;
    assert!(iterated < 50_000, "{iterated} rows");
}

/// A batch larger than the matrix has rows is all of them, for every variant: the same solution to
/// the bit, and no memory for more.
#[test]
fn batches_larger_than_the_matrix() {
    let a = with_singular_values(40, &geometric(5, 2.0), 3);
    let (op, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let inside = op.multiply(Block::<f64>::gaussian(5, 1, 4).as_ref()).unwrap();
    let outside = Block::<f64>::gaussian(40, 1, 5);
    let (all, more) = (Kaczmarz::new().batch(40), Kaczmarz::new().batch(usize::MAX));
    assert_eq!(all.solve(&op, &inside).unwrap(), more.solve(&op, &inside).unwrap());
    let extended = |plan: &Kaczmarz| plan.solve_extended(&op, &columns, &outside).unwrap();
    assert_eq!(extended(&all), extended(&more));
    let (all, more) = (all.inconsistent(true), more.inconsistent(true));
    assert_eq!(all.solve(&op, &outside).unwrap(), more.solve(&op, &outside).unwrap());
    let (all, more) = (Kaczmarz::new().blocks(40), Kaczmarz::new().blocks(usize::MAX));
    let found = more.solve(&op, &inside).unwrap();
    assert!(found.is_certified(), "{}", found.reason);
    assert_eq!(all.solve(&op, &inside).unwrap(), found);
    let map = ExtendedProjection::new(&op, &columns, &inside, (usize::MAX, 2), 1).unwrap();
    let start = map.start();
    let mut engine = Engine::new(map, HeavyBall::new(1.0, 0.0).unwrap(), start).unwrap();
    engine.advance().unwrap();
    assert_eq!(engine.map().drawn().0.len(), 40);
}

/// Right-hand sides of which most are zero: rows with a zero leave the start, zero, where it is, and
/// the run goes on. (It once took the first such row for the end.)
#[test]
fn right_hand_sides_that_are_mostly_zero() {
    let mut a = Array2::<f64>::zeros((60, 6));
    for i in 0..60 {
        a[[i, i % 6]] = 1.0 + i as f64 / 60.0;
    }
    let op = Dense::new(a.view()).unwrap();
    let truth = Block::from_fn(6, 1, |i, _| if i == 4 { 2.0 } else { 0.0 });
    let b = op.multiply(truth.as_ref()).unwrap();
    for plan in [Kaczmarz::new(), Kaczmarz::new().batch(2), Kaczmarz::new().blocks(2)] {
        for seed in 0..8 {
            let found = plan.clone().seed(seed).solve(&op, &b).unwrap();
            assert!(found.is_certified(), "seed {seed}: {:?}", found.info.stop);
        }
    }
    let sampled = Sampled::mini_batch(1);
    let found = LeastSquares::new().solve_rows(&op, &b, &sampled).unwrap();
    assert!(found.is_certified(), "{:?}", found.info.stop);
}
