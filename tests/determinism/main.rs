//! Same seed, same bits: at 1, 2 and 4 threads, for every map and gauge, dense and sparse, f32 and
//! f64. (Equal bits after a resume are in `engine/checkpoint.rs`.)

use favard_engine::gauge::{AugmentedQr, Norm};
use favard_engine::map::{Affine, Exact, MiniBatch, Stream, Svrg, VarianceReduced};
use favard_engine::observe::Tolerance;
use favard_engine::recurrence::{Dynamic, HeavyBall, Momentum, Oja, Start};
use favard_engine::{Engine, Info};
use favard_operator::{Block, Centered, Csr, Dense, Gram, Sampler, Scalar};
use ndarray::Array2;

/// Sparse rows with a power-law of column use, as text has: large enough for many chunks.
fn sparse<T: Scalar>(rows: usize, cols: usize) -> Csr<'static, T> {
    let noise = Block::<f64>::gaussian(rows, 24, 5);
    let mut matrix = sprs::TriMat::new((rows, cols));
    for i in 0..rows {
        for (place, &value) in noise.row(i).iter().enumerate() {
            // Columns 0, 1, 3, 7, … more often than the rest, and all different within a row.
            let spread = (i * 31 + place * place * 7) % (1 + (place * cols) / 24);
            let column = place * cols / 48 + spread / 2;
            matrix.add_triplet(i, column.min(cols - 1), T::of(value));
        }
    }
    Csr::from_sprs(matrix.to_csr::<usize>()).expect("a good matrix")
}

fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(work)
}

/// The bits of a run's block, and its report, must not depend on the number of threads.
fn assert_same<T: Scalar>(name: &str, run: impl Fn() -> (Block<T>, Info<T>) + Sync) {
    let one = on(1, &run);
    for threads in [2, 4] {
        let many = on(threads, &run);
        assert!(one.0 == many.0, "{name}: the block differs at {threads} threads");
        assert!(one.1 == many.1, "{name}: the report differs at {threads} threads");
    }
}

fn block_run<T: Scalar>(cols: usize) -> impl Fn() -> (Block<T>, Info<T>) + Sync {
    let x = sparse::<T>(9000, 3000);
    move || {
        let op = Gram::new(Centered::by_mean(&x).expect("a mean"));
        let start = Block::gaussian(3000, cols, 1);
        let recurrence = Momentum::new(T::of(0.01), Start::U).expect("β");
        let mut engine = Engine::new(Exact::new(op).expect("square"), recurrence, start)
            .expect("a start")
            .with_gauge(AugmentedQr::new(cols));
        let mut observer = Tolerance::new(0.0, 1).expect("a tolerance").every(3);
        let info = engine.run(8, &mut observer).expect("a run");
        (engine.block().clone(), info)
    }
}

#[test]
fn sparse_centred_blocks() {
    for cols in [1, 3, 8, 20] {
        assert_same(&format!("f64, {cols} columns"), block_run::<f64>(cols));
        assert_same(&format!("f32, {cols} columns"), block_run::<f32>(cols));
    }
}

#[test]
fn dense_blocks() {
    for (rows, cols) in [(20_000, 12), (300, 700)] {
        let x: Array2<f64> = Block::gaussian(rows, cols, 3).view().to_owned();
        assert_same(&format!("dense {rows} × {cols}"), || {
            let op = Gram::new(Dense::new(x.view()).expect("finite"));
            let start = Block::gaussian(cols, 5, 1);
            let mut engine =
                Engine::new(Exact::new(op).expect("square"), Dynamic::default(), start)
                    .expect("a start")
                    .with_gauge(AugmentedQr::new(5));
            let observer = &mut Tolerance::new(0.0, 1).expect("a tolerance");
            let info = engine.run(8, observer).expect("a run");
            (engine.block().clone(), info)
        });
    }
}

#[test]
fn sampled_maps() {
    let x = sparse::<f64>(9000, 3000);
    assert_same("mini-batch", || {
        let sampler = Sampler::distinct(9000, 4000, 6).expect("a sampler");
        let map = MiniBatch::new(Gram::new(&x), sampler).expect("square");
        let recurrence = Oja::new(0.1, 0.2).expect("a step");
        let start = Block::gaussian(3000, 1, 1);
        let mut engine = Engine::new(map, recurrence, start).expect("a start").with_gauge(Norm);
        let info = engine.run(10, &mut Tolerance::new(0.0, 1).expect("ε")).expect("a run");
        (engine.block().clone(), info)
    });
    assert_same("variance-reduced", || {
        let sampler = Sampler::by_norm(&Gram::new(&x), 500, 6).expect("a sampler");
        let map = VarianceReduced::new(Gram::new(&x), sampler, 4).expect("square");
        let recurrence = Momentum::new(0.01, Start::T).expect("β");
        let start = Block::gaussian(3000, 3, 1);
        let mut engine =
            Engine::new(map, recurrence, start).expect("a start").with_gauge(AugmentedQr::new(3));
        let info = engine.run(10, &mut Tolerance::new(0.0, 1).expect("ε")).expect("a run");
        (engine.block().clone(), info)
    });
}

#[test]
fn affine_maps_and_streams() {
    let x = sparse::<f64>(9000, 3000);
    let ball = || HeavyBall::new(1e-3, 0.5).expect("a step");
    let rhs = || Block::gaussian(3000, 2, 9);
    assert_same("affine", || {
        let map = Affine::new(Exact::new(Gram::new(&x)).expect("square"), rhs()).expect("rows");
        let mut engine = Engine::new(map, ball(), Block::zeros(3000, 2)).expect("a start");
        let info = engine.run(8, &mut Tolerance::new(0.0, 1).expect("ε")).expect("a run");
        (engine.block().clone(), info)
    });
    assert_same("SVRG", || {
        let sampler = Sampler::uniform(9000, 500, 6).expect("a sampler");
        let map = Svrg::new(Gram::new(&x), rhs(), sampler, 4).expect("square");
        let mut engine = Engine::new(map, ball(), Block::zeros(3000, 2)).expect("a start");
        let info = engine.run(10, &mut Tolerance::new(0.0, 1).expect("ε")).expect("a run");
        (engine.block().clone(), info)
    });
    assert_same("stream", || {
        let grams = (1..=6).map(|i| Gram::new(&x).with_scale(1.0 / f64::from(i)));
        let momentum = Momentum::new(0.01, Start::U).expect("β");
        let mut engine =
            Engine::new(Stream::new(3000, grams), momentum, Block::gaussian(3000, 3, 1))
                .expect("a start")
                .with_gauge(AugmentedQr::new(3));
        let info = engine.run(10, &mut Tolerance::new(0.0, 1).expect("ε")).expect("a run");
        (engine.block().clone(), info)
    });
}
