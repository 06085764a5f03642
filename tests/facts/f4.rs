//! F4: Oja with momentum on single rows is not faster than Oja at the same noise ball.
//!
//! At the steps of the table's first line both balls are .0905 to leading order in η, and .084 and
//! .085 as measured there: 7 % of that is the next order. The mean over a run of n ticks has the
//! relative variance 2/9 · τ/n, with τ ≈ 1/(2ηΔ) = 2240 ticks for v² of Oja's AR(1) process and
//! less with momentum: 4.1 % for 300,000 ticks. The table's mean is met within five deviations,
//! 21 %, but for a probability of 6e−7.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_engine::observe::Step;
use favard_models::solvers::{Eigensolver, Method, Oja, OjaMomentum};
use favard_operator::{Dense, Gram};

use crate::cases::data::{gram, paper_rows};
use crate::cases::problems::{sin2, start};

/// Full size: 1e6 rows, 40 runs, also the two smaller steps.
const ROWS: usize = 10_000;
const TICKS: u64 = 300_000;
const BURN_IN: u64 = 30_000;

/// The mean of sin² after the burn-in, and the first tick at which it is twice the ball .0905.
fn ball<'a, M: Method<f64, Gram<Dense<'a, f64>>>>(
    method: M,
    op: &Gram<Dense<'a, f64>>,
) -> (f64, u64) {
    let (mut sum, mut first) = (0.0, None);
    let mut watch = |step: &Step<'_, f64>| {
        let error = sin2(step.block);
        if error <= 2.0 * 0.0905 {
            first.get_or_insert(step.tick);
        }
        if step.tick > BURN_IN {
            sum += error;
        }
        ControlFlow::<Stop>::Continue(())
    };
    Eigensolver::new(method, 1)
        .tolerance(0.0)
        .passes(f64::INFINITY)
        .solve_observed(op, Some(&start(10, 3)), &mut watch)
        .expect("a run");
    (sum / TICKS as f64, first.expect("it gets there"))
}

#[test]
fn momentum_on_single_rows_gains_nothing() {
    let rows = paper_rows(ROWS, 10, 2);
    let (op, steps) = (gram(&rows), BURN_IN + TICKS);
    let (plain, reached) = ball(Oja::default().step(2.24e-3).steps(steps), &op);
    let eta = 1e-6;
    let beta = (1.0 + eta * 0.9_f64).powi(2) / 4.0;
    let (with, reached_with) = ball(OjaMomentum::default().step(eta).beta(beta).steps(steps), &op);
    for (name, found, table) in [("Oja", plain, 0.0836), ("Oja+M", with, 0.0854)] {
        assert!((found / table - 1.0).abs() <= 0.21, "{name}: {found}, the table has {table}");
    }
    // The table: 11.5k and 11.5k ticks in the median. A single pair of runs scatters by the time in
    // which the noise forgets, 2240 ticks, a few times over; √D/β-fold acceleration would be 21-fold.
    let ratio = reached as f64 / reached_with as f64;
    assert!(ratio > 0.2 && ratio < 5.0, "{reached} and {reached_with}");
}
