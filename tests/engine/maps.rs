//! Maps beyond Table 1: affine, SVRG, stream.

use favard_engine::gauge::Norm;
use favard_engine::map::{Affine, Exact, Stream, Svrg, VarianceReduced};
use favard_engine::observe::{Tolerance, Unwatched};
use favard_engine::recurrence::{Chebyshev, HeavyBall, Momentum, Normalized, Power, Start};
use favard_engine::{Engine, Stop};
use favard_operator::{Block, Csr, Dense, Error, Gram, LinearOperator, Sampler};
use ndarray::{Array2, s};

use crate::support::{gram, matrix, rows};

/// A x = b for the Gram matrix of the test data, by a plain elimination.
fn solution() -> (Block<f64>, Vec<f64>) {
    let a = matrix(&rows());
    let x: Vec<f64> = (0..6).map(|i| 1.0 - 0.3 * f64::from(i)).collect();
    let b = a.dot(&ndarray::arr1(&x));
    (Block::column(b.as_slice().unwrap()), x)
}

/// The ends of the spectrum of the test data's Gram matrix, from a long power iteration and its
/// shifted twin, widened by a percent.
fn ends() -> (f64, f64) {
    let a = matrix(&rows());
    let top = |m: &Array2<f64>| {
        let mut w = ndarray::Array1::from_elem(6, 0.4);
        w[2] = -0.7;
        for _ in 0..5000 {
            w = m.dot(&w);
            w /= w.dot(&w).sqrt();
        }
        w.dot(&m.dot(&w))
    };
    let high = top(&a);
    let low = high - top(&(Array2::eye(6) * high - &a));
    (low * 0.99, high * 1.01)
}

fn assert_solves(found: &Block<f64>, x: &[f64], allowed: f64) {
    for (i, x) in x.iter().enumerate() {
        let gap = (found.row(i)[0] - x).abs();
        assert!(gap <= allowed, "entry {i}: off by {gap:e} > {allowed:e}");
    }
}

/// Heavy ball and the Chebyshev semi-iteration reach the solution, at the rate √κ promises.
#[test]
fn affine_maps_solve_linear_systems() {
    let ((b, x), (low, high)) = (solution(), ends());
    let rho = ((high / low).sqrt() - 1.0) / ((high / low).sqrt() + 1.0);
    // Chebyshev: ‖e_t‖ ≤ 2ρ^t ‖e_0‖; heavy ball at most (1 + 2t) times that in two norms.
    let steps = (1e-13_f64.ln() / rho.ln()).ceil();
    let rounding = 100.0 * high / low * f64::EPSILON;
    let map = || Affine::new(Exact::new(gram(&rows())).unwrap(), b.clone()).unwrap();

    let semi = Normalized::new(Chebyshev::new(low, high).unwrap(), 0.0).unwrap();
    let mut engine = Engine::new(map(), semi, Block::zeros(6, 1)).unwrap();
    engine.run(steps as u64, &mut Unwatched).unwrap();
    assert_solves(engine.block(), &x, 2.0 * 1e-13 * 3.0 + rounding);

    let polyak = HeavyBall::polyak(low, high).unwrap();
    let mut engine = Engine::new(map(), polyak, Block::zeros(6, 1)).unwrap();
    engine.run(steps as u64, &mut Unwatched).unwrap();
    assert_solves(engine.block(), &x, (1.0 + 2.0 * steps) * 1e-13 * 3.0 + rounding);
}

/// SVRG has no noise ball: sampled steps go on to the solution of the full system.
#[test]
fn svrg_has_no_floor() {
    let ((b, x), (low, high)) = (solution(), ends());
    let sampler = Sampler::uniform(40, 20, 9).unwrap();
    let map = Svrg::new(gram(&rows()), b, sampler, 20).unwrap();
    // A step small enough for the sampled Hessians; the seed is fixed, so this is no statistic.
    let step = HeavyBall::new(0.2 / high, 0.3).unwrap();
    let mut engine = Engine::new(map, step, Block::zeros(6, 1)).unwrap();
    let info = engine.run(20_000, &mut Unwatched).unwrap();
    assert_solves(engine.block(), &x, 1000.0 * high / low * f64::EPSILON);
    // 1000 epochs of 1 + 20·20/40 passes.
    assert_eq!(info.applications, 21_000);
    assert!((info.passes - 11_000.0).abs() < 1e-6, "{}", info.passes);
}

/// Lemma svrgvar in practice: the variance-reduced map converges to rounding, and counts its passes.
#[test]
fn variance_reduction_has_no_floor_for_blocks() {
    let sampler = Sampler::uniform(40, 30, 2).unwrap();
    let map = VarianceReduced::new(gram(&rows()), sampler, 10).unwrap();
    let recurrence = Momentum::new(0.0, Start::U).unwrap();
    let gauge = favard_engine::gauge::AugmentedQr::new(2);
    let mut engine =
        Engine::new(map, recurrence, Block::gaussian(6, 2, 4)).unwrap().with_gauge(gauge);
    let info = engine.run(2_000, &mut Unwatched).unwrap();
    assert!((info.passes - 200.0 * (1.0 + 10.0 * 0.75)).abs() < 1e-6);
    // The residual of the span, from the operator itself.
    let op = gram(&rows());
    let image = op.multiply(engine.map().anchor().as_ref()).unwrap();
    let mut ritz = favard_engine::RayleighRitz::new(2);
    let mut ws = favard_operator::Workspace::new();
    ritz.compute(engine.map().anchor().as_ref(), image.as_ref(), 0, &mut ws).unwrap();
    let worst = ritz.measure().residuals.iter().fold(0.0_f64, |m, &r| m.max(r));
    assert!(worst <= 46.0 * 4.0 * f64::EPSILON * ritz.measure().ritz[0], "{worst:e}");
}

/// A stream of sparse and of dense row batches, one row and many: the run ends with the data.
#[test]
fn streams_end() {
    let data = rows();
    let cuts = [0, 1, 5, 6, 26, 40];
    let batches = cuts.windows(2).map(|cut| data.slice(s![cut[0]..cut[1], ..]).to_owned());
    let grams = batches.map(|rows| {
        let dense = sprs::CsMat::csr_from_dense(rows.view(), 0.0);
        Ok::<_, Error>(Gram::new(Csr::from_sprs(dense)?))
    });
    let start = Block::gaussian(6, 1, 3);
    let mut engine = Engine::new(Stream::new(6, grams), Power, start).unwrap().with_gauge(Norm);
    let info = engine.run(1000, &mut Tolerance::new(0.0, 1).unwrap()).unwrap();
    assert_eq!((info.stop, info.iterations, info.applications), (Stop::Exhausted, 5, 5));
}

/// A batch of another width is an error with both numbers, and the run keeps its state.
#[test]
fn a_stream_of_another_width_is_refused() {
    let widths = [6, 5];
    let grams = widths.iter().map(|&w| Ok(Gram::new(Dense::new(Array2::<f64>::ones((3, w)))?)));
    let start = Block::gaussian(6, 1, 3);
    let mut engine = Engine::new(Stream::new(6, grams), Power, start).unwrap().with_gauge(Norm);
    engine.advance().unwrap();
    let before = engine.block().clone();
    let error = engine.advance().unwrap_err();
    assert_eq!(error.to_string(), "tick 1: rows of a streamed operator: expected 6, found 5");
    assert_eq!((engine.tick(), engine.block()), (1, &before));
}
