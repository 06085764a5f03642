//! F9: stability. A dense basis, d = 300, λ = (1, .98, .96, then equally spaced up to .9): in the
//! eigenbasis round-off never mixes columns, and the collapse would not be seen.

use std::ops::ControlFlow;

use favard_engine::gauge::{AugmentedQr, Gauge, GaugeFits, Norm};
use favard_engine::map::Exact;
use favard_engine::observe::Step;
use favard_engine::recurrence::{Momentum, Start};
use favard_engine::{Engine, Stop};
use favard_models::Lanczos;
use favard_models::solvers::{Eigensolver, PowerMomentum};
use favard_operator::{Block, BlockRef, Dense, LinearOperator};
use favard_theory::block::distance;
use ndarray::s;

use crate::dense::{basis, dense};

const DIM: usize = 300;
const BETA: f64 = 0.2025;

fn spectrum() -> Vec<f64> {
    let tail = (0..DIM - 3).map(|i| 0.9 - 0.9 * i as f64 / (DIM - 4) as f64);
    [1.0, 0.98, 0.96].into_iter().chain(tail).collect()
}

/// Rounding of the matrix and of a product, d ε, turns the eigenvectors by that over the gap .06;
/// as much again for the recurrence.
fn rounding() -> f64 {
    2.0 * DIM as f64 * f64::EPSILON / 0.06
}

/// The distance of the block's span to that of the first three eigenvectors after 600 steps.
fn after<'a, G>(op: &'a Dense<'a, f64>, q: &Block<f64>, ticks: u64, gauge: G) -> f64
where
    G: Gauge<f64> + GaugeFits<Exact<&'a Dense<'a, f64>>>,
{
    let recurrence = Momentum::new(BETA, Start::U).expect("β");
    let start = Block::gaussian(DIM, 3, 5);
    let mut engine = Engine::new(Exact::new(op).expect("square"), recurrence, start)
        .expect("a start")
        .with_gauge(gauge);
    while engine.tick() < ticks {
        engine.advance().expect("a step");
    }
    distance(engine.block().view(), q.view().slice(s![.., 0..3])).expect("full rank")
}

#[test]
fn augmented_qr_is_stable_and_scaling_collapses() {
    for seed in 0..2 {
        let q = basis(DIM, DIM, seed);
        let op = Dense::new(dense(&spectrum(), &q)).expect("finite");
        let stable = after(&op, &q, 600, AugmentedQr::new(3));
        assert!(stable <= rounding(), "(A''): {stable:e}");
        // Scaling alone: 2.5e−11 at t = 100, then the columns fall into each other: .96 to 1 at 600.
        let early = after(&op, &q, 100, Norm);
        let late = after(&op, &q, 600, Norm);
        assert!(early < 1e-8 && late > 0.9, "scaling: {early:e} at 100, {late} at 600");
    }
}

/// Eigenvalues to 1e−8 in 28 to 34 steps with momentum and 110 to 144 without (five seeds), their
/// space to dist² ≤ 1e−10 in 38 to 46 and 164 to 200, and no loss in 600 steps: at most d ε.
#[test]
fn steps_to_the_eigenvalues() {
    // The table's range is that of five seeds; a tenth on either side for other ones.
    let within = |steps: u64, (few, many): (u64, u64)| {
        assert!(steps * 10 >= few * 9 && steps * 10 <= many * 11, "{steps} steps, {few} to {many}");
    };
    for (beta, to_values, to_space) in [(BETA, (28, 34), (38, 46)), (0.0, (110, 144), (164, 200))] {
        for seed in 0..3 {
            let q = basis(DIM, DIM, seed);
            let op = Dense::new(dense(&spectrum(), &q)).expect("finite");
            let (mut values, mut space) = (None, None);
            let mut watch = |step: &Step<'_, f64>| {
                let mut ritz = favard_engine::RayleighRitz::new(3);
                let image = op.multiply(step.block.as_ref()).expect("a product");
                let mut ws = favard_operator::Workspace::new();
                ritz.compute(step.block.as_ref(), image.as_ref(), 0, &mut ws).expect("pairs");
                let pairs = ritz.measure().ritz.iter().zip([1.0, 0.98, 0.96]);
                if values.is_none() && pairs.clone().all(|(v, exact)| (v - exact).abs() <= 1e-8) {
                    values = Some(step.tick);
                }
                let exact = q.view();
                let sine = distance(step.block.view(), exact.slice(s![.., 0..3])).expect("a rank");
                if sine * sine <= 1e-10 {
                    space = Some(step.tick);
                    return ControlFlow::Break(Stop::Requested);
                }
                ControlFlow::Continue(())
            };
            Eigensolver::new(PowerMomentum::default().beta(beta), 3)
                .guard(0)
                .tolerance(0.0)
                .seed(seed)
                .solve_observed(&op, None, &mut watch)
                .expect("a run");
            within(values.expect("it gets there"), to_values);
            within(space.expect("it gets there"), to_space);
        }
    }
    let q = basis(DIM, DIM, 0);
    let op = Dense::new(dense(&spectrum(), &q)).expect("finite");
    let found = Eigensolver::new(PowerMomentum::default().beta(BETA), 3)
        .guard(0)
        .tolerance(0.0)
        .passes(601.0)
        .solve(&op)
        .expect("a run");
    assert_eq!((found.info.stop, found.info.iterations), (Stop::Passes, 600));
    for (value, exact) in found.values.iter().zip(spectrum()) {
        assert!((value - exact).abs() <= DIM as f64 * f64::EPSILON, "{value}");
    }
}

/// What Lanczos without reorthogonalisation does here: the second Ritz value becomes a ghost of λ₁
/// between 40 and 120 steps (85 to 90 in the table), which ours does not show.
#[test]
fn plain_lanczos_has_ghosts() {
    let q = basis(DIM, DIM, 1);
    let op = Dense::new(dense(&spectrum(), &q)).expect("finite");
    let (mut alpha, mut beta) = (Vec::new(), Vec::new());
    let mut v = crate::cases::problems::start(DIM, 1);
    let mut before = Block::<f64>::zeros(DIM, 1);
    let dot = |a: &Block<f64>, b: &Block<f64>| -> f64 {
        (0..DIM).map(|i| a.row(i)[0] * b.row(i)[0]).sum()
    };
    for _ in 0..120 {
        let w = op.multiply(BlockRef::column(&column(&v))).expect("a product");
        let a = dot(&v, &w);
        let b: f64 = beta.last().copied().unwrap_or(0.0);
        // w ← A v − α v − β v₋, v₊ = w/‖w‖
        let w = Block::from_fn(DIM, 1, |i, _| w.row(i)[0] - a * v.row(i)[0] - b * before.row(i)[0]);
        let length = dot(&w, &w).sqrt();
        alpha.push(a);
        beta.push(length);
        before = v;
        v = Block::from_fn(DIM, 1, |i, _| w.row(i)[0] / length);
    }
    let second = |steps: usize| {
        let t = faer::Mat::from_fn(steps, steps, |i, j| match i.abs_diff(j) {
            0 => alpha[i],
            1 => beta[i.min(j)],
            _ => 0.0,
        });
        let values: Vec<f64> = t.self_adjoint_eigenvalues(faer::Side::Lower).expect("pairs");
        values[steps - 2]
    };
    assert!((second(40) - 0.98).abs() < 1e-6, "right at first: {}", second(40));
    assert!((second(120) - 1.0).abs() < 1e-6, "then a ghost: {}", second(120));
    let start = crate::cases::problems::start(DIM, 1);
    for steps in [40, 120, 160] {
        let plan = Lanczos::new(4).width(1).basis(200).tolerance(0.0).products(steps);
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let found = plan.solve_watched(&op, Some(&start), go_on).expect("a run");
        for (value, exact) in found.values.iter().zip([1.0, 0.98, 0.96]) {
            assert!((value - exact).abs() < 1e-6, "{steps}: {value} for {exact}");
        }
        // No Ritz value is above its eigenvalue (Cauchy), a ghost would be.
        assert!(found.values[3] <= 0.9 + rounding(), "{steps}: {}", found.values[3]);
    }
}

fn column(block: &Block<f64>) -> Vec<f64> {
    (0..block.rows()).map(|i| block.row(i)[0]).collect()
}
