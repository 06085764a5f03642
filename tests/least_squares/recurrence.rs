//! The affine engine equals the plain recurrence, written out.

use favard_engine::map::{Affine, Exact, StepMap, Svrg};
use favard_engine::observe::Unwatched;
use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, Stop};
use favard_models::BlockProjection;
use favard_models::least_squares::RowGradient;
use favard_operator::{Batch, Block, Dense, Gram, Sampler};
use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;

use crate::support::{array, exact};

/// x₊ = x − η Φ(x) + γ (x − x₋), from x₋ = x₀ = 0.
fn plain(
    steps: u64,
    shape: (usize, usize),
    (eta, gamma): (f64, f64),
    mut phi: impl FnMut(u64, ArrayView2<'_, f64>) -> Array2<f64>,
) -> Array2<f64> {
    let (mut x, mut old) = (Array2::<f64>::zeros(shape), Array2::<f64>::zeros(shape));
    for tick in 0..steps {
        let next = &x - &(phi(tick, x.view()) * eta) + &(&x - &old) * gamma;
        old = std::mem::replace(&mut x, next);
    }
    x
}

fn run(map: impl StepMap<f64>, cols: usize, steps: u64, (eta, gamma): (f64, f64)) -> Array2<f64> {
    let start = Block::zeros(map.dim(), cols);
    let mut engine = Engine::new(map, HeavyBall::new(eta, gamma).unwrap(), start).unwrap();
    for _ in 0..steps {
        engine.advance().unwrap();
    }
    array(engine.block())
}

/// Both sums run over the same numbers in another order: a few ε a step of the largest iterate.
fn assert_near(a: &Array2<f64>, b: &Array2<f64>, steps: u64) {
    let size = b.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e3 * f64::EPSILON * (steps + 1) as f64 * size, "{a} {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// The exact gradient, mini-batches, norm-weighted rows (Kaczmarz), SVRG and block projections
    /// with heavy ball, against five lines of ndarray.
    #[test]
    fn engine_is_the_plain_recurrence(
        rows in 6..30_usize,
        dim in 3..6_usize,
        cols in 1..3_usize,
        batch in 1..6_usize,
        steps in 1..25_u64,
        seed in 0..1000_u64,
        step in 1..10_i32,
        gamma in 0..6_i32,
    ) {
        let a = Block::<f64>::gaussian(rows, dim, seed);
        let b = Block::<f64>::gaussian(rows, cols, seed + 1);
        let op = Dense::new(a.view()).unwrap();
        let (a, rhs) = (array(&a), array(&b));
        let total: f64 = a.iter().map(|v| v * v).sum();
        let size = total / rows as f64;
        let rule = (f64::from(step) * 0.04 / size, f64::from(gamma) * 0.1);
        let shape = (dim, cols);
        let m = rows as f64;

        // Exact
        let image = Block::from_array((a.t().dot(&rhs) / m).view());
        let map = Affine::new(Exact::new(Gram::new(&op)).unwrap(), image.clone()).unwrap();
        let wanted = plain(steps, shape, rule, |_, x| a.t().dot(&(a.dot(&x) - &rhs)) / m);
        assert_near(&run(map, cols, steps, rule), &wanted, steps);

        // Mini-batches, with a ridge
        let draw = |sampler: &Sampler<f64>, tick: u64| {
            let mut batch = Batch::default();
            sampler.draw(tick, &mut batch);
            batch
        };
        let rows_of = |batch: &Batch<f64>, x: ArrayView2<'_, f64>| {
            let mut sum = Array2::<f64>::zeros(shape);
            for (&row, &weight) in batch.terms.iter().zip(&batch.weights) {
                let line = a.row(row);
                for j in 0..cols {
                    let residual = line.dot(&x.column(j)) - rhs[[row, j]];
                    sum.column_mut(j).scaled_add(weight * residual, &line);
                }
            }
            sum
        };
        let uniform = Sampler::uniform(rows, batch, seed).unwrap();
        let map = RowGradient::new(&op, &b, 1.0 / m, 0.1, uniform.clone()).unwrap();
        let wanted = plain(steps, shape, rule, |tick, x| {
            rows_of(&draw(&uniform, tick), x) / m + &x * 0.1
        });
        assert_near(&run(map, cols, steps, rule), &wanted, steps);

        // Kaczmarz: the averaged projections of norm-weighted rows
        let weighted = Sampler::by_norm(&Gram::new(&op), batch, seed).unwrap();
        let relaxed = (rule.0 * size, rule.1);
        let map = RowGradient::new(&op, &b, 1.0 / total, 0.0, weighted.clone()).unwrap();
        let wanted = plain(steps, shape, relaxed, |tick, x| {
            let mut sum = Array2::<f64>::zeros(shape);
            let drawn = draw(&weighted, tick);
            for &row in &drawn.terms {
                let line = a.row(row);
                let share = 1.0 / (line.dot(&line) * drawn.len() as f64);
                for j in 0..cols {
                    let residual = line.dot(&x.column(j)) - rhs[[row, j]];
                    sum.column_mut(j).scaled_add(share * residual, &line);
                }
            }
            sum
        });
        assert_near(&run(map, cols, steps, relaxed), &wanted, steps);

        // SVRG, epochs of four
        let map = Svrg::new(Gram::new(&op), image, uniform.clone(), 4).unwrap();
        let mut anchor = Array2::<f64>::zeros(shape);
        let mut full = Array2::<f64>::zeros(shape);
        let wanted = plain(steps, shape, rule, |tick, x| {
            if tick % 4 == 0 {
                anchor = x.to_owned();
                full = a.t().dot(&(a.dot(&x) - &rhs)) / m;
            }
            let drawn = draw(&uniform, tick);
            // The right-hand side cancels: ∇f_S(x) − ∇f_S(x̃) + ∇f(x̃)
            (rows_of(&drawn, x) - rows_of(&drawn, anchor.view())) / m + &full
        });
        assert_near(&run(map, cols, steps, rule), &wanted, steps);

        // Block projections, by the singular value decomposition of each block
        let blocks = rows.div_ceil(batch);
        let picks = Sampler::<f64>::uniform(blocks, 1, seed).unwrap();
        let map = BlockProjection::new(&op, &b, batch, seed).unwrap();
        let wanted = plain(steps, shape, (1.0, rule.1), |tick, x| {
            let block = draw(&picks, tick).terms[0];
            let lines: Vec<usize> = (block..rows).step_by(blocks).collect();
            let part = Array2::from_shape_fn((lines.len(), dim), |(i, j)| a[[lines[i], j]]);
            let residual = part.dot(&x)
                - Array2::from_shape_fn((lines.len(), cols), |(i, j)| rhs[[lines[i], j]]);
            exact(&part, &residual, 1e-6).x
        });
        let found = run(map, cols, steps, (1.0, rule.1));
        // Pseudo-inverses of nearly dependent rows lose the square of their condition.
        let size = wanted.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        for (found, wanted) in found.iter().zip(&wanted) {
            prop_assert!((found - wanted).abs() <= 1e-6 * size, "{found} {wanted}");
        }
    }
}

/// Equations whose right-hand sides are zero leave a start at zero where it is; those that are drawn
/// later do not. A run of the engine therefore goes on, and a block of another width is refused at once.
#[test]
fn a_start_that_stays_at_zero_is_no_breakdown() {
    let a = Dense::new(Block::<f64>::gaussian(40, 3, 1).view().to_owned()).unwrap();
    // The one row with a right-hand side is the last to be drawn.
    let sampler = Sampler::uniform(40, 1, 3).unwrap();
    let mut order = Vec::new();
    for tick in 0..1000 {
        let mut batch = Batch::<f64>::default();
        sampler.draw(tick, &mut batch);
        if !order.contains(&batch.terms[0]) {
            order.push(batch.terms[0]);
        }
    }
    let last = order[order.len() - 1];
    let b = Block::from_fn(40, 1, |i, _| if i == last { 1.0 } else { 0.0 });
    let ball = HeavyBall::new(0.1, 0.5).unwrap();
    let map = RowGradient::new(&a, &b, 0.025, 0.0, sampler).unwrap();
    let mut engine = Engine::new(map, ball, Block::zeros(3, 1)).unwrap();
    let info = engine.run(1000, &mut Unwatched).unwrap();
    assert_eq!((info.stop, info.iterations), (Stop::Iterations, 1000));
    assert!(engine.block().row(0)[0] != 0.0);
    let wide = RowGradient::new(&a, &b, 0.025, 0.0, Sampler::uniform(40, 1, 3).unwrap()).unwrap();
    let error = Engine::new(wide, ball, Block::zeros(3, 2)).unwrap_err().to_string();
    assert_eq!(error, "columns of the start block: expected 1, found 2");
}
