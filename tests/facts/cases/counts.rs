//! How many steps until an error is reached.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_engine::observe::Step;
use favard_models::Lanczos;
use favard_models::solvers::{Eigensolver, Method};
use favard_operator::{Block, LinearOperator};

use super::problems::sin2;

/// Ticks of a single column until sin² ≤ `epsilon`, looked at every `every` ticks from `first` on;
/// `None` when `limit` ticks are not enough.
pub fn ticks_until<A, M>(
    method: M,
    op: &A,
    start: &Block<f64>,
    epsilon: f64,
    (first, every, limit): (u64, u64, u64),
) -> Option<u64>
where
    A: LinearOperator<f64> + ?Sized,
    M: Method<f64, A>,
{
    let mut reached = None;
    let mut watch = |step: &Step<'_, f64>| {
        let looked_at = step.tick >= first && (step.tick - first).is_multiple_of(every);
        if looked_at && sin2(step.block) <= epsilon {
            reached = Some(step.tick);
            return ControlFlow::Break(Stop::Requested);
        }
        if step.tick < limit {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Stop::Iterations)
        }
    };
    Eigensolver::new(method, 1)
        .guard(0)
        .tolerance(0.0)
        .passes(f64::INFINITY)
        .seed(seed_of(start))
        .solve_observed(op, Some(start), &mut watch)
        .expect("a run");
    reached
}

/// A seed for the samples of a run, from its start: runs from different starts draw differently.
fn seed_of(start: &Block<f64>) -> u64 {
    start.row(0)[0].to_bits()
}

/// Products of an exact method until sin² ≤ `epsilon`.
pub fn products<A, M>(method: M, op: &A, start: &Block<f64>, epsilon: f64) -> f64
where
    A: LinearOperator<f64> + ?Sized,
    M: Method<f64, A>,
{
    ticks_until(method, op, start, epsilon, (1, 1, 2_000_000)).expect("it converges") as f64
}

/// Products of Lanczos, one column and no restart, until sin² ≤ `epsilon`: by bisection over runs of
/// so many products, `limit` at most, the error of the Ritz vector falling with them.
pub fn lanczos_products<A>(op: &A, start: &Block<f64>, epsilon: f64, limit: u64) -> f64
where
    A: LinearOperator<f64> + ?Sized,
{
    let room = usize::try_from(limit).expect("a basis that fits") + 1;
    let reached = |products: u64| {
        // A tolerance that no run meets.
        let plan = Lanczos::new(1).width(1).basis(room).tolerance(1e-300).products(products);
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let found = plan.solve_watched(op, Some(start), go_on).expect("a run");
        sin2(&found.vectors) <= epsilon
    };
    let (mut short, mut enough) = (0, limit);
    while enough - short > 1 {
        let middle = short.midpoint(enough);
        if reached(middle) { enough = middle } else { short = middle }
    }
    assert!(enough < limit, "{limit} products may not be enough");
    enough as f64
}
