//! β from the guard columns: close to the best β without knowing it.

use favard_engine::Stop;
use favard_models::solvers::{Eigensolver, Method, PowerMomentum, ShiftedChebyshev};
use favard_operator::Diagonal;

use crate::cases::problems::spaced;

fn products<M: Method<f64, Diagonal<f64>>>(method: M, gap: f64, k: usize, guard: usize) -> f64 {
    let op = Diagonal::new(spaced(1000, gap)).expect("finite");
    let solver = Eigensolver::new(method, k).guard(guard).tolerance(1e-8).seed(3);
    let found = solver.solve(&op).expect("a run");
    assert_eq!(found.info.stop, Stop::Converged);
    found.info.passes
}

/// With one guard column the block is k + 1 wide, and the best β is that of λ_{k+2}, which no Ritz
/// value of the block can tell. The one of λ_{k+1} is told, and is what the given β has here. The
/// guard column's own Ritz value has to converge first, which costs at most as much as the run
/// itself; on a positive operator the interval from 0 needs fewer products than that around 0.
#[test]
fn the_guard_column_tells_the_momentum() {
    for (gap, k) in [(0.1, 1), (0.01, 1), (0.01, 3)] {
        let edge = spaced(1000, gap)[k];
        let best = products(PowerMomentum::default().beta(edge * edge / 4.0), gap, k, 1);
        let own = products(PowerMomentum::default(), gap, k, 1);
        assert!(own <= 2.0 * best, "Δ = {gap}, k = {k}: {own} products, {best} with the best β");
        let given = products(ShiftedChebyshev::default().upper(edge), gap, k, 1);
        let shifted = products(ShiftedChebyshev::default(), gap, k, 1);
        assert!(shifted < own && given < best, "Δ = {gap}, k = {k}: {shifted} of {own}, {given}");
    }
}
