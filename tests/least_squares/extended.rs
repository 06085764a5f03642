//! The extended Kaczmarz method: exact least-squares solutions, the printed algorithm, its rate, and
//! bad input.

use std::ops::ControlFlow;

use favard_engine::map::StepMap;
use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, Stop};
use favard_models::least_squares::Momentum;
use favard_models::{ErrorKind, ExtendedProjection, Kaczmarz};
use favard_operator::{Block, Csr, Dense, Scalar};
use ndarray::{Array1, Array2, Axis, s};

use crate::support::{Exact, array, assert_exact, csr, exact, geometric, with_singular_values};

/// Tall, wide and rank-deficient (a right-hand side outside of the range each time but for the wide
/// one, where none is): the minimum-norm least-squares solution, by rows and columns one at a time,
/// in batches, with and without momentum, dense and sparse.
#[test]
fn exact_solutions() {
    let tall = with_singular_values(60, &geometric(8, 2.0), 3);
    let wide = with_singular_values(40, &geometric(6, 2.0), 5).t().to_owned();
    let mut sigma = geometric(12, 2.0);
    sigma[7..].fill(0.0);
    let deficient = with_singular_values(50, &sigma, 7);
    for (name, a, cut) in [("tall", tall, 0.0), ("wide", wide, 0.0), ("rank 7", deficient, 1e-10)] {
        let b = Block::<f64>::gaussian(a.nrows(), 2, 4);
        let wanted = exact(&a, &array(&b), cut);
        let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
        let sparse = csr::<f64>(&a);
        for plan in [
            Kaczmarz::new(),
            Kaczmarz::new().momentum(Momentum::Off),
            Kaczmarz::new().batch(4),
            Kaczmarz::new().batch(30),
        ] {
            let plan = plan.passes(1e5);
            let found = plan.solve_extended(&rows, &columns, &b).unwrap();
            assert_exact(&found, &wanted, &format!("{name}, {}", found.reason));
            let found = plan.solve_extended(&sparse, &sparse.transposed(), &b).unwrap();
            assert_exact(&found, &wanted, &format!("{name}, sparse"));
        }
    }
}

/// Single precision, sparse.
#[test]
fn single_precision() {
    let a = with_singular_values(60, &geometric(8, 2.0), 3);
    let op = csr::<f32>(&a);
    let b = Block::<f32>::gaussian(60, 1, 4);
    let narrow = a.mapv(|v| f32::of(v).as_f64());
    let wanted: Exact = exact(&narrow, &b.view().mapv(f64::from), 0.0);
    let plan = Kaczmarz::new().batch(4).tolerance(1e-5);
    assert_exact(&plan.solve_extended(&op, &op.transposed(), &b).unwrap(), &wanted, "f32");
}

/// More right-hand sides than unknowns are solved in parts.
#[test]
fn many_right_hand_sides() {
    let a = with_singular_values(20, &geometric(3, 2.0), 3);
    let b = Block::<f64>::gaussian(20, 8, 4);
    let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let found = Kaczmarz::new().batch(2).solve_extended(&rows, &columns, &b).unwrap();
    assert_exact(&found, &exact(&a, &array(&b), 0.0), "eight right-hand sides");
}

/// 12 × 4, and the parts of a right-hand side inside and outside of the range.
struct Small {
    a: Array2<f64>,
    b: Block<f64>,
    solution: Array1<f64>,
    inside: Array1<f64>,
    total: f64,
    condition: (f64, f64),
}

fn small() -> Small {
    let a = with_singular_values(12, &geometric(4, 3.0), 1);
    let b = Block::<f64>::gaussian(12, 1, 2);
    let Exact { x, largest, smallest } = exact(&a, &array(&b), 0.0);
    let solution = x.column(0).to_owned();
    let (inside, total) = (a.dot(&solution), a.iter().map(|v| v * v).sum());
    Small { a, b, solution, inside, total, condition: (largest, smallest) }
}

/// With one row, one column and plain steps of length one the engine's map is the printed algorithm,
/// z ← z − A_j A_jᵀz/‖A_j‖² and x ← x + a_i (b_i − z_i − a_iᵀx)/‖a_i‖², for the rows and columns
/// that it draws, to a few roundings a step.
#[test]
fn one_at_a_time_is_the_printed_algorithm() {
    let Small { a, b, .. } = small();
    let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let map = ExtendedProjection::new(&rows, &columns, &b, (1, 1), 5).unwrap();
    let start = map.start();
    let mut engine = Engine::new(map, HeavyBall::new(1.0, 0.0).unwrap(), start).unwrap();
    let mut z = b.view().column(0).to_owned();
    let mut x = Array1::<f64>::zeros(4);
    let size = z.dot(&z).sqrt();
    for tick in 0..100 {
        engine.advance().unwrap();
        let (row, column) = engine.map().drawn();
        let (i, j) = (row[0], column[0]);
        let (a_i, a_j) = (a.row(i), a.column(j));
        let step = (b.row(i)[0] - z[i] - a_i.dot(&x)) / a_i.dot(&a_i);
        x.scaled_add(step, &a_i);
        let step = a_j.dot(&z) / a_j.dot(&a_j);
        z.scaled_add(-step, &a_j);
        let block = engine.block().view().column(0).to_owned();
        let gap = |part: &Array1<f64>, from: usize| {
            let rest = part - &block.slice(s![from..from + part.len()]);
            rest.dot(&rest).sqrt()
        };
        // Steps along rows of length ‖a‖ ≤ 1 and ≥ 0.05 here amplify a rounding by 1/‖a‖ at most.
        let allowed = f64::from(tick + 1) * 400.0 * f64::EPSILON * size;
        assert!(gap(&z, 0) <= allowed && gap(&x, 12) <= allowed, "tick {tick}");
    }
}

/// E u uᵀ after one step from E u uᵀ = P, u = (z − b⊥; x − x*): the average over all pairs of a
/// row and a column.
fn second_moment(a: &Array2<f64>, total: f64, p: &Array2<f64>) -> Array2<f64> {
    let (m, n) = a.dim();
    let mut next = Array2::zeros(p.raw_dim());
    for i in 0..m {
        for j in 0..n {
            let (row, column) = (a.row(i).to_owned(), a.column(j).to_owned());
            let (along, across) = (row.dot(&row), column.dot(&column));
            let mut step = Array2::<f64>::eye(m + n);
            let outer =
                |u: &Array1<f64>| u.view().insert_axis(Axis(1)).dot(&u.view().insert_axis(Axis(0)));
            let mut part = step.slice_mut(s![..m, ..m]);
            part.scaled_add(-1.0 / across, &outer(&column));
            let mut part = step.slice_mut(s![m.., m..]);
            part.scaled_add(-1.0 / along, &outer(&row));
            step.slice_mut(s![m.., i]).scaled_add(-1.0 / along, &row);
            let share = along * across / (total * total);
            next.scaled_add(share, &step.dot(p).dot(&step.t()));
        }
    }
    next
}

/// The rate: with ρ = 1 − σ_min²/‖A‖_F² the exact second moment obeys
///
/// E‖x_k − x*‖² ≤ ρᵏ‖x*‖² + k ρᵏ⁻¹ ‖Ax*‖²/‖A‖_F²
///
/// (the row step adds (z − b⊥)_i²/‖a_i‖² orthogonally to what it leaves, and E‖z_k − b⊥‖² ≤
/// ρᵏ‖Ax*‖²), hence Zouzias and Freris' (1 + 2κ²) ρ^⌊k/2⌋ ‖x*‖². And the engine has that second
/// moment: the mean over 2000 seeds is within six standard errors of it, which for a mean of so many
/// is wrong with probability 2e-9.
#[test]
fn the_rate_is_that_of_the_theory() {
    let Small { a, b, solution, inside, total, condition: (largest, smallest) } = small();
    let rho = 1.0 - smallest * smallest / total;
    let size = solution.dot(&solution);
    let start: Array1<f64> = inside.iter().copied().chain(solution.iter().map(|v| -v)).collect();
    let mut p = start.view().insert_axis(Axis(1)).dot(&start.view().insert_axis(Axis(0)));
    let mut errors = vec![];
    for k in 0..=60_i32 {
        let error: f64 = p.diag().slice(s![12..]).sum();
        let count = f64::from(k);
        let driven = count * rho.powi(k - 1) * inside.dot(&inside) / total;
        let slack = 1.0 + 1e3 * f64::EPSILON;
        assert!(error <= (rho.powi(k) * size + driven) * slack, "tick {k}: {error}");
        let printed = (1.0 + 2.0 * (largest / smallest).powi(2)) * rho.powi(k / 2) * size;
        assert!(error <= printed * slack, "tick {k}: {error} {printed}");
        errors.push(error);
        p = second_moment(&a, total, &p);
    }
    let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let runs = 2000;
    let mut found = [vec![], vec![]];
    for seed in 0..runs {
        let map = ExtendedProjection::new(&rows, &columns, &b, (1, 1), seed).unwrap();
        let start = map.start();
        let mut engine = Engine::new(map, HeavyBall::new(1.0, 0.0).unwrap(), start).unwrap();
        for (ticks, found) in [10, 50].into_iter().zip(&mut found) {
            while engine.tick() < ticks {
                engine.advance().unwrap();
            }
            let gap = |i: usize| (engine.block().row(12 + i)[0] - solution[i]).powi(2);
            found.push((0..4).map(gap).sum::<f64>());
        }
    }
    for (ticks, found) in [10, 50].into_iter().zip(found) {
        let count = runs as f64;
        let mean = found.iter().sum::<f64>() / count;
        let spread = found.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let off = (mean - errors[ticks]).abs() / (spread / count).sqrt();
        assert!(off <= 6.0, "tick {ticks}: {mean:e} {:e}, {off} standard errors", errors[ticks]);
    }
}

/// Both parts have the spectrum of AᵀA/‖A‖_F², so momentum pays as it does for Kaczmarz: with large
/// batches and κ = 30 fewer steps than without (3 times fewer at s = 64 by exact second moments).
#[test]
fn momentum_pays_with_large_batches() {
    let a = with_singular_values(400, &geometric(80, 5.5), 3);
    let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let b = Block::<f64>::gaussian(400, 1, 4);
    let steps = |momentum: Momentum| {
        let plan = Kaczmarz::new().batch(64).momentum(momentum).tolerance(1e-6).passes(1e5);
        let found = plan.solve_extended(&rows, &columns, &b).unwrap();
        assert!(found.is_certified(), "{}", found.reason);
        found.info.iterations
    };
    let (plain, ball) = (steps(Momentum::Off), steps(Momentum::Auto));
    assert!(ball < plain, "{ball} steps with momentum, {plain} without");
}

/// Same seed, same bits, at 1, 2 and 4 threads; 20,000 × 2,000, so that every kernel is cut.
#[test]
fn same_bits_on_any_number_of_threads() {
    let (count, cols) = (20_000_usize, 2000_usize);
    let noise = Block::<f64>::gaussian(count, 2, 5);
    let columns = (0..count).flat_map(|i| [(i * 7) % 1000, 1000 + (i * 11) % 1000]);
    let columns: Vec<u32> = columns.map(|c| u32::try_from(c).unwrap()).collect();
    let values: Vec<f64> = (0..count).flat_map(|i| noise.row(i).to_vec()).collect();
    let pointers: Vec<usize> = (0..=count).map(|i| 2 * i).collect();
    let a = Csr::new((count, cols), pointers, columns, values).unwrap();
    let (transposed, b) = (a.transposed(), Block::<f64>::gaussian(count, 2, 1));
    let plan = Kaczmarz::new().batch(300).passes(20.0).bounds(1e-4, 2e-3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| plan.solve_extended(&a, &transposed, &b).unwrap())
    };
    let one = on(1);
    assert!(one.info.iterations > 0);
    for threads in [2, 4] {
        assert!(one == on(threads), "{threads} threads");
    }
}

/// A run broken by a checkpoint goes on to the bit.
#[test]
fn resumes_to_the_bit() {
    let Small { a, b, .. } = small();
    let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let engine = |seed: u64| {
        let map = ExtendedProjection::new(&rows, &columns, &b, (2, 3), seed).unwrap();
        let start = map.start();
        Engine::new(map, HeavyBall::new(0.8, 0.2).unwrap(), start).unwrap()
    };
    let mut unbroken = engine(3);
    let mut first = engine(3);
    for tick in 0..20 {
        unbroken.advance().unwrap();
        if tick < 8 {
            first.advance().unwrap();
        }
    }
    let checkpoint = first.checkpoint();
    let mut second = engine(3);
    second.resume(checkpoint.clone()).unwrap();
    while second.tick() < 20 {
        second.advance().unwrap();
    }
    assert_eq!(second.block(), unbroken.block());
    assert_eq!(second.map().cost(), unbroken.map().cost());
    // Another seed is another run.
    assert!(engine(4).resume(checkpoint).is_err());
}

/// What cannot be right is refused by name; what runs out of its budget comes back.
#[test]
fn bad_input() {
    let a = with_singular_values(30, &geometric(5, 2.0), 3);
    let b = Block::<f64>::gaussian(30, 1, 4);
    let (rows, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let plan = Kaczmarz::new().batch(2);
    let text = |result: Result<_, favard_models::Error>| match result {
        Ok(_) => String::from("no error"),
        Err::<favard_models::least_squares::Solution<f64>, _>(error) => error.to_string(),
    };
    let found = text(plan.solve_extended(&rows, &rows, &b));
    assert_eq!(found, "rows of the transpose: expected 5, found 30");
    let short = Dense::new(a.t().slice(s![.., ..29]).to_owned()).unwrap();
    let found = text(plan.solve_extended(&rows, &short, &b));
    assert_eq!(found, "columns of the transpose: expected 30, found 29");
    let found = text(plan.solve_extended(&rows, &columns, &Block::gaussian(29, 1, 4)));
    assert_eq!(found, "rows of the right-hand side: expected 30, found 29");
    let doubled = Dense::new(a.t().mapv(|v| 2.0 * v)).unwrap();
    let error = plan.solve_extended(&rows, &doubled, &b).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parameter { name: "columns", .. }), "{error}");
    let mut bad = b.clone();
    bad.row_mut(3)[0] = f64::NAN;
    assert!(text(plan.solve_extended(&rows, &columns, &bad)).contains("right-hand side"));
    let error = plan.clone().batch(0).solve_extended(&rows, &columns, &b).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parameter { name: "batch", .. }), "{error}");
    let wild = plan.clone().momentum(Momentum::Given { step: 4.0, gamma: 0.9 });
    let error = wild.solve_extended(&rows, &columns, &b).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Diverges { batch: 2, .. }), "{error}");
    // A budget that runs out, a watcher that stops: the block so far, with its certificate.
    let cut = plan.clone().passes(4.0).solve_extended(&rows, &columns, &b).unwrap();
    assert!(cut.info.stop == Stop::Passes && !cut.is_certified());
    let stopped = plan
        .solve_extended_watched(&rows, &columns, &b, &mut |_| ControlFlow::Break(Stop::Requested))
        .unwrap();
    assert_eq!(stopped.info.stop, Stop::Requested);
    // Nothing but zeros, and a zero row whose right-hand side is not zero.
    let zero = Dense::new(Array2::<f64>::zeros((4, 2))).unwrap();
    let across = Dense::new(Array2::<f64>::zeros((2, 4))).unwrap();
    let found = plan.solve_extended(&zero, &across, &Block::gaussian(4, 1, 1)).unwrap();
    assert!(found.x.row(0)[0] == 0.0 && found.x.row(1)[0] == 0.0 && found.is_certified());
    let mut holed = a.clone();
    holed.row_mut(7).fill(0.0);
    holed.column_mut(2).fill(0.0);
    let (rows, columns) = (Dense::new(holed.view()).unwrap(), Dense::new(holed.t()).unwrap());
    let found = plan.solve_extended(&rows, &columns, &b).unwrap();
    assert_exact(&found, &exact(&holed, &array(&b), 1e-10), "zero row, zero column");
    assert!(found.x.row(2)[0] == 0.0);
}
