//! Same seed, same bits: every solver at 1, 2 and 4 threads.

use favard_engine::recurrence::Legendre;
use favard_models::Eigen;
use favard_models::solvers::{
    AdaOja, BestHeavyBall, DynamicMomentum, Eigensolver, Inhomogeneous, Method, MiniBatchMomentum,
    Oja, OjaMomentum, Power, PowerMomentum, ShiftedChebyshev, VrMomentum, VrPca,
};
use favard_operator::{Block, Dense, Gram};
use ndarray::Array2;

type Op<'a> = Gram<Dense<'a, f64>>;

fn assert_same<'a, M>(name: &str, op: &Op<'a>, method: M)
where
    M: Method<f64, Op<'a>> + Sync,
{
    let run = |threads: usize| -> Eigen<f64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let solver = Eigensolver::new(&method, 2).tolerance(1e-2).passes(8.0);
        pool.install(|| solver.solve(op).expect("a run"))
    };
    let one = run(1);
    for threads in [2, 4] {
        assert!(one == run(threads), "{name} differs at {threads} threads");
    }
}

#[test]
fn every_solver() {
    // Wide enough for many chunks of rows, and for blocks of several of them.
    let mut rows: Array2<f64> = Block::gaussian(6000, 300, 3).view().to_owned();
    for (j, mut column) in rows.columns_mut().into_iter().enumerate() {
        column *= 1.0 / (1.0 + 0.1 * j as f64);
    }
    let op = Gram::new(Dense::new(rows.view()).expect("finite"));
    assert_same("power", &op, Power);
    assert_same("momentum", &op, PowerMomentum::default());
    assert_same("given momentum", &op, PowerMomentum::default().beta(0.1));
    assert_same("dynamic", &op, DynamicMomentum);
    assert_same("shifted", &op, ShiftedChebyshev::default());
    assert_same("best heavy ball", &op, BestHeavyBall);
    assert_same("inhomogeneous", &op, Inhomogeneous::new(Legendre, 1.1));
    assert_same("Oja", &op, Oja::default().step(1e-2).batch(10).steps(40));
    assert_same(
        "Oja with momentum",
        &op,
        OjaMomentum::default().step(1e-3).beta(0.25).batch(10).steps(40),
    );
    assert_same("AdaOja", &op, AdaOja::default().steps(40));
    assert_same("mini-batch", &op, MiniBatchMomentum::default().beta(0.1).batch(2000));
    assert_same("planned mini-batch", &op, MiniBatchMomentum::default().batch(2000));
    assert_same("VR-PCA", &op, VrPca::default().step(0.1).epoch(20));
    assert_same("VR momentum", &op, VrMomentum::default().batch(1500).epoch(4));
}
