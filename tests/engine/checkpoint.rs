//! A resumed run gives the same bits as an unbroken one, for every axis with a memory.

use favard_engine::gauge::{AugmentedQr, Gauge, GaugeFits, NoGauge, Norm, PeriodicQr};
use favard_engine::map::{Affine, Exact, MiniBatch, StepMap, Stream, Svrg, VarianceReduced};
use favard_engine::observe::{Checkpointer, Unwatched};
use favard_engine::readout::{Average, Expansion, Last, Optimal, Readout, ReadoutFits};
use favard_engine::recurrence::{
    BestHeavyBall, Chebyshev, Dynamic, HeavyBall, Legendre, Momentum, Normalized, Oja, Orthogonal,
    Power, Recurrence, Start,
};
use favard_engine::{Checkpoint, Engine, ErrorKind};
use favard_operator::{Block, Error, Gram, Sampler, Scalar};

use crate::support::{gram, rows};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs 37 steps unbroken, and again broken by a file after 1, 4, 10, 11 and 25 steps.
fn survives<T, M, R, G, O>(make: impl Fn() -> (M, R, G, O, Block<T>))
where
    T: Scalar,
    M: StepMap<T>,
    R: Recurrence<T>,
    G: Gauge<T> + GaugeFits<M>,
    O: Readout<T> + ReadoutFits<G>,
{
    let engine = || {
        let (map, recurrence, gauge, readout, start) = make();
        let engine = Engine::new(map, recurrence, start).unwrap();
        engine.with_gauge(gauge).with_readout(readout).unwrap()
    };
    let mut unbroken = engine();
    let whole = unbroken.run(37, &mut Unwatched).unwrap();
    let folder = folder();
    let path = folder.path().join("state");
    let mut broken = engine();
    for stop in [1, 4, 10, 11, 25, 37] {
        let left = stop - broken.tick();
        let info = broken.run(left, &mut Checkpointer::new(&path, stop).unwrap()).unwrap();
        broken = engine();
        broken.resume(Checkpoint::load(&path).unwrap()).unwrap();
        assert_eq!(broken.tick(), stop);
        if stop == 37 {
            assert_eq!(info, whole, "the report is that of the unbroken run");
        }
    }
    assert_eq!(broken.block(), unbroken.block());
    assert_eq!(broken.previous(), unbroken.previous());
    assert_eq!(broken.answer(), unbroken.answer());
}

fn sampler() -> Sampler<f64> {
    Sampler::uniform(40, 8, 4).unwrap()
}

fn momentum() -> Momentum<f64> {
    Momentum::new(0.02, Start::T).unwrap()
}

fn exact() -> Exact<Gram<favard_operator::Dense<'static, f64>>> {
    Exact::new(gram(&rows())).unwrap()
}

fn start() -> Block<f64> {
    Block::gaussian(6, 2, 7)
}

#[test]
fn exact_maps() {
    survives(|| (exact(), momentum(), AugmentedQr::new(2), Last, start()));
    survives(|| (exact(), Dynamic::default(), AugmentedQr::new(2), Last, start()));
    survives(|| (exact(), momentum(), PeriodicQr::new(2, 3).unwrap(), Last, start()));
    survives(|| (exact(), BestHeavyBall::default(), Norm, Last, Block::gaussian(6, 1, 7)));
    let family = || Orthogonal::new(Chebyshev::new(0.0, 3.0).unwrap());
    survives(|| (exact(), family(), Norm, Last, start()));
}

#[test]
fn sampled_maps() {
    let mini = || MiniBatch::new(gram(&rows()), sampler()).unwrap();
    survives(|| (mini(), momentum(), AugmentedQr::new(2), Last, start()));
    survives(|| (mini(), Oja::new(0.1, 0.0).unwrap(), Norm, Last, start()));
    // Epochs of ten ticks: the anchor is in the file.
    let reduced = || VarianceReduced::new(gram(&rows()), sampler(), 10).unwrap();
    survives(|| (reduced(), momentum(), AugmentedQr::new(2), Last, start()));
}

#[test]
fn affine_maps() {
    let ball = || HeavyBall::new(0.05, 0.3).unwrap();
    let affine = || Affine::new(exact(), start()).unwrap();
    survives(|| (affine(), ball(), NoGauge, Average::new(3), Block::zeros(6, 2)));
    let svrg = || Svrg::new(gram(&rows()), start(), sampler(), 10).unwrap();
    survives(|| (svrg(), ball(), NoGauge, Last, Block::zeros(6, 2)));
}

#[test]
fn readouts() {
    let normalized = || Normalized::new(Legendre, 1.5).unwrap();
    let optimal = || Optimal::new(Legendre, 1.5).unwrap();
    survives(|| (exact(), normalized(), NoGauge, optimal(), start()));
    let family = || Orthogonal::new(Chebyshev::new(0.0, 3.0).unwrap());
    let exp = || Expansion::of_function(f64::exp, 0.0, 3.0, 40).unwrap();
    survives(|| (exact(), family(), NoGauge, exp(), start()));
}

#[test]
fn streams() {
    let grams = || (0..37).map(|i| Ok::<_, Error>(gram(&(rows() * (1.0 + 0.1 * f64::from(i))))));
    survives(|| (Stream::new(6, grams()), momentum(), AugmentedQr::new(2), Last, start()));
}

#[test]
fn single_precision() {
    let op = || {
        let rows = rows().mapv(f32::of);
        Exact::new(Gram::new(favard_operator::Dense::new(rows).unwrap())).unwrap()
    };
    survives(|| (op(), Power, AugmentedQr::new(2), Last, Block::<f32>::gaussian(6, 2, 7)));
}

/// The parameters of a gauge and of a readout are compared as well: a run with a QR every four steps
/// does not go on with one every step, nor an average from the third step on with another one.
#[test]
fn parameters_of_gauges_and_readouts_are_compared() {
    let periodic = |every| {
        let gauge = PeriodicQr::new(2, every).unwrap();
        Engine::new(exact(), momentum(), start()).unwrap().with_gauge(gauge)
    };
    let mut engine = periodic(4);
    engine.run(6, &mut Unwatched).unwrap();
    let error = periodic(1).resume(engine.checkpoint()).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: counters is [4] in the file and [1] in the engine");
    periodic(4).resume(engine.checkpoint()).unwrap();

    let average = |skip| {
        let engine = Engine::new(exact(), momentum(), start()).unwrap();
        engine.with_readout(Average::new(skip)).unwrap()
    };
    let mut engine = average(3);
    engine.run(6, &mut Unwatched).unwrap();
    let error = average(5).resume(engine.checkpoint()).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: counters is [3] in the file and [5] in the engine");
}

/// A checkpoint of another run is refused with what differs; a damaged file is never parsed.
#[test]
fn foreign_and_damaged_files_are_refused() {
    let folder = folder();
    let path = folder.path().join("state");
    let mut engine = Engine::new(exact(), momentum(), start()).unwrap().with_gauge(Norm);
    engine.run(3, &mut Checkpointer::new(&path, 3).unwrap()).unwrap();

    let load = || Checkpoint::<f64>::load(&path).unwrap();
    let other = Momentum::new(0.03, Start::T).unwrap();
    let mut engine = Engine::new(exact(), other, start()).unwrap().with_gauge(Norm);
    let error = engine.resume(load()).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: parameters is [0.02] in the file and [0.03] in the engine");
    let mut engine = Engine::new(exact(), Power, start()).unwrap().with_gauge(Norm);
    let error = engine.resume(load()).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: kind is momentum in the file and power in the engine");
    let mut engine = Engine::new(exact(), momentum(), Block::gaussian(6, 1, 1)).unwrap();
    let error = engine.resume(load()).unwrap_err().to_string();
    assert!(error.contains("(6, 2) in the file and (6, 1) in the engine"), "{error}");
    let error = Checkpoint::<f32>::load(&path).unwrap_err().to_string();
    assert!(error.contains("is 8 in the file and 4 in the engine"), "{error}");

    let good = std::fs::read(&path).unwrap();
    for cut in [0, 10, 20, good.len() / 2, good.len() - 1] {
        std::fs::write(&path, &good[..cut]).unwrap();
        let error = Checkpoint::<f64>::load(&path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Corrupt { .. }), "{error}");
    }
    for position in 0..good.len() {
        let mut bad = good.clone();
        bad[position] ^= 0x10;
        std::fs::write(&path, &bad).unwrap();
        assert!(Checkpoint::<f64>::load(&path).is_err(), "byte {position} flipped");
    }
    std::fs::remove_file(&path).unwrap();
    let error = Checkpoint::<f64>::load(&path).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
}

/// The batches and the right-hand side are parameters too: a run is not resumed with other ones.
#[test]
fn other_batches_and_right_hand_sides_are_refused() {
    fn refused<M: StepMap<f64>>(name: &str, make: impl Fn(Sampler<f64>, Block<f64>) -> M) {
        let weights: Vec<f64> = (1..=40).map(f64::from).collect();
        let engine = |sampler, rhs| {
            let ball = HeavyBall::new(0.05, 0.3).unwrap();
            Engine::new(make(sampler, rhs), ball, Block::zeros(6, 2)).unwrap()
        };
        let mut first = engine(sampler(), start());
        first.run(3, &mut Unwatched).unwrap();
        let state = || first.checkpoint();
        engine(sampler(), start()).resume(state()).unwrap();
        for (what, other) in [
            ("size", Sampler::uniform(40, 9, 4).unwrap()),
            ("rule", Sampler::distinct(40, 8, 4).unwrap()),
            ("weights", Sampler::weighted(&weights, 8, 4).unwrap()),
            ("seed", Sampler::uniform(40, 8, 5).unwrap()),
        ] {
            let error = engine(other, start()).resume(state()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{name}, {what}: {error}");
        }
        let error = engine(sampler(), Block::gaussian(6, 2, 8)).resume(state());
        assert_eq!(error.is_err(), name != "mini-batch" && name != "reduced", "{name}");
    }
    let op = || gram(&rows());
    refused("mini-batch", |sampler, _| MiniBatch::new(op(), sampler).unwrap());
    refused("reduced", |sampler, _| VarianceReduced::new(op(), sampler, 10).unwrap());
    refused("svrg", |sampler, rhs| Svrg::new(op(), rhs, sampler, 10).unwrap());
    refused("affine", |sampler, rhs| {
        Affine::new(MiniBatch::new(op(), sampler).unwrap(), rhs).unwrap()
    });
}

/// The file is replaced, and no temporary is left behind.
#[test]
fn saving_is_atomic() {
    let folder = folder();
    let path = folder.path().join("state");
    let mut engine = Engine::new(exact(), momentum(), start()).unwrap().with_gauge(Norm);
    engine.run(5, &mut Checkpointer::new(&path, 1).unwrap()).unwrap();
    assert_eq!(Checkpoint::<f64>::load(&path).unwrap().tick(), 5);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("missing").join("state");
    let error = engine.checkpoint().save(&nowhere).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
}
