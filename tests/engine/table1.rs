//! Each row of the design's Table 1: the engine's trace equals a short plain loop to rounding. Every
//! step is compared from the same block, so that the tolerance is the rounding of one step and not
//! what later steps make of it. (Lanczos, the seventh row of the paper's table, is not a recurrence with given coefficients.)

use favard_engine::Engine;
use favard_engine::gauge::Norm;
use favard_engine::map::{Exact, MiniBatch, StepMap, VarianceReduced};
use favard_engine::recurrence::{Momentum, Oja, Power, Recurrence, Start};
use favard_operator::{Batch, Block, Sampler};
use ndarray::{Array1, Array2};

use crate::support::{bound, column, distance, gram, matrix, norm, rounding, rows};

const STEPS: usize = 40;

/// The longest chain of additions in a step: 40 rows, 6 columns.
const TERMS: usize = 46;

fn start() -> Array1<f64> {
    let w = Array1::from(vec![0.5, -0.3, 0.4, 0.2, -0.6, 0.3]);
    let length = norm(&w);
    w / length
}

/// Runs the engine beside a plain loop that is given by the step's matrix M_t, at each tick.
fn compare<M, R>(
    map: M,
    recurrence: R,
    (b, c): (f64, f64),
    mut product: impl FnMut(usize, &mut Array1<f64>, &mut Array1<f64>) -> (Array1<f64>, f64),
) where
    M: StepMap<f64> + favard_engine::map::Homogeneous,
    R: Recurrence<f64>,
{
    let begin = Block::column(start().as_slice().unwrap());
    let mut engine = Engine::new(map, recurrence, begin).unwrap().with_gauge(Norm);
    for t in 0..STEPS {
        let (mut w, mut v) = (column(engine.block()), column(engine.previous()));
        // w' = a Φ(w) + b w − c v, then both divided by ‖w'‖
        let (image, size) = product(t, &mut w, &mut v);
        let next = image + b * &w - c * &v;
        let length = norm(&next);
        engine.advance().unwrap();
        let allowed = rounding(TERMS, size + b.abs() + c, length);
        let gap = distance(engine.block(), &(next / length));
        assert!(gap <= allowed, "tick {t}: {gap:e} apart, at most {allowed:e}");
        // The older block is divided by the same length as the newer one.
        let gap = distance(engine.previous(), &(w / length));
        assert!(gap <= allowed / length, "older block, tick {t}: {gap:e} apart");
    }
    assert_eq!(engine.tick(), STEPS as u64);
}

fn batch_matrix(rows: &Array2<f64>, sampler: &Sampler<f64>, tick: u64) -> Array2<f64> {
    let mut batch = Batch::default();
    sampler.draw(tick, &mut batch);
    let mut a = Array2::zeros((6, 6));
    for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
        let row = rows.row(term).to_owned().insert_axis(ndarray::Axis(0));
        a = a + row.t().dot(&row) * (weight / rows.nrows() as f64);
    }
    a
}

#[test]
fn power() {
    let a = matrix(&rows());
    let map = Exact::new(gram(&rows())).unwrap();
    compare(map, Power, (0.0, 0.0), |_, w, _| (a.dot(w), bound(&a)));
}

#[test]
fn power_with_momentum_u() {
    let a = matrix(&rows());
    let map = Exact::new(gram(&rows())).unwrap();
    let recurrence = Momentum::new(0.05, Start::U).unwrap();
    compare(map, recurrence, (0.0, 0.05), |_, w, _| (a.dot(w), bound(&a)));
}

#[test]
fn power_with_momentum_t() {
    let a = matrix(&rows());
    let map = Exact::new(gram(&rows())).unwrap();
    let recurrence = Momentum::new(0.05, Start::T).unwrap();
    // Erratum 1: the T start halves the first product.
    compare(map, recurrence, (0.0, 0.05), |t, w, _| {
        (a.dot(w) * if t == 0 { 0.5 } else { 1.0 }, bound(&a))
    });
}

#[test]
fn oja() {
    let sampler = Sampler::uniform(40, 1, 3).unwrap();
    let map = MiniBatch::new(gram(&rows()), sampler.clone()).unwrap();
    compare(map, Oja::new(0.1, 0.0).unwrap(), (1.0, 0.0), |t, w, _| {
        let a = batch_matrix(&rows(), &sampler, t as u64) * 0.1;
        (a.dot(w), bound(&a))
    });
}

#[test]
fn mini_batch_power_with_momentum() {
    let sampler = Sampler::uniform(40, 8, 4).unwrap();
    let map = MiniBatch::new(gram(&rows()), sampler.clone()).unwrap();
    let recurrence = Momentum::new(0.05, Start::U).unwrap();
    compare(map, recurrence, (0.0, 0.05), |t, w, _| {
        let a = batch_matrix(&rows(), &sampler, t as u64);
        (a.dot(w), bound(&a))
    });
}

/// Form (vr2): A_t (w − w̃ (w̃ᵀw)) + A w̃ (w̃ᵀw); at the start of an epoch w̃ = w and v = 0.
fn variance_reduced(
    sampler: &Sampler<f64>,
    epoch: usize,
    scale: f64,
) -> impl FnMut(usize, &mut Array1<f64>, &mut Array1<f64>) -> (Array1<f64>, f64) {
    let exact = matrix(&rows());
    let mut anchor = Array1::zeros(6);
    move |t, w, v| {
        if t % epoch == 0 {
            let length = norm(w);
            w.map_inplace(|entry| *entry /= length);
            anchor.clone_from(w);
            v.fill(0.0);
        }
        let a = batch_matrix(&rows(), sampler, t as u64);
        let theta = anchor.dot(w);
        let image = a.dot(&(&*w - &anchor * theta)) + exact.dot(&anchor) * theta;
        (image * scale, (2.0 * bound(&a) + bound(&exact)) * scale)
    }
}

#[test]
fn vr_pca() {
    let sampler = Sampler::uniform(40, 1, 5).unwrap();
    let map = VarianceReduced::new(gram(&rows()), sampler.clone(), 4).unwrap();
    let plain = variance_reduced(&sampler, 4, 0.1);
    compare(map, Oja::new(0.1, 0.0).unwrap(), (1.0, 0.0), plain);
}

#[test]
fn vr_power_with_momentum() {
    let sampler = Sampler::uniform(40, 8, 6).unwrap();
    let map = VarianceReduced::new(gram(&rows()), sampler.clone(), 5).unwrap();
    let recurrence = Momentum::new(0.05, Start::U).unwrap();
    compare(map, recurrence, (0.0, 0.05), variance_reduced(&sampler, 5, 1.0));
}

/// Dynamic momentum (Austin, Pollock, Zhu): β from the last two residuals, as a plain loop. The
/// residual d is known to ‖A‖ε, so β to a share of ε‖A‖(1/d + 1/d₋) of itself.
#[test]
fn dynamic_momentum() {
    let a = matrix(&rows());
    let map = Exact::new(gram(&rows())).unwrap();
    let begin = Block::column(start().as_slice().unwrap());
    let recurrence = favard_engine::recurrence::Dynamic::default();
    let mut engine = Engine::new(map, recurrence, begin).unwrap().with_gauge(Norm);
    let mut before: Option<f64> = None;
    for t in 0..10 {
        let (w, v) = (column(engine.block()), column(engine.previous()));
        let z = a.dot(&w);
        let nu = w.dot(&z) / w.dot(&w);
        let d = norm(&(&z - &(&w * nu))) / norm(&w);
        // ρ = min(d/d₋, 1), r = 2ρ/(1 + ρ²), β = ν²r²/4
        let beta = before.map_or(0.0, |before| {
            let rho = (d / before).min(1.0);
            let r = 2.0 * rho / (1.0 + rho * rho);
            nu * nu * r * r / 4.0
        });
        let next = &z - &(&v * beta);
        let length = norm(&next);
        engine.advance().unwrap();
        let sharp = 1.0 + bound(&a) * (1.0 / d + before.map_or(0.0, f64::recip));
        let allowed = rounding(TERMS, bound(&a) + beta, length) * sharp;
        let gap = distance(engine.block(), &(next / length));
        assert!(gap <= allowed, "tick {t}: {gap:e} apart, at most {allowed:e}");
        assert!(allowed < 1e-6, "the bound says something: {allowed:e}");
        before = Some(d);
    }
    assert!(engine.recurrence().beta() > 0.0);
}
