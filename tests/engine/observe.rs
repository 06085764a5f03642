//! Observers stop a run for the reason they name, and nothing is lost.

use std::time::Duration;

use favard_engine::gauge::Norm;
use favard_engine::map::{Exact, MiniBatch};
use favard_engine::observe::{
    Cancel, Deadline, MaxPasses, Observer, Stagnation, Step, Tolerance, Unwatched,
};
use favard_engine::recurrence::{Momentum, Power, Start};
use favard_engine::{Advance, Engine, Stop};
use favard_operator::{Block, Diagonal, LinearOperator, Sampler};

use crate::support::{gram, rows};

fn engine() -> Engine<f64, Exact<Diagonal<f64>>, Power, Norm> {
    let op = Diagonal::new(vec![1.0, 0.9, 0.5, 0.1]).unwrap();
    let start = Block::column(&[0.5; 4]);
    Engine::new(Exact::new(op).unwrap(), Power, start).unwrap().with_gauge(Norm)
}

/// The residual in the report is ‖Aw − θw‖ of the block one step before, and it met the tolerance.
#[test]
fn tolerance_is_met_by_the_residual_itself() {
    let mut engine = engine();
    let info = engine.run(1000, &mut Tolerance::new(1e-6, 1).unwrap()).unwrap();
    assert_eq!(info.stop, Stop::Converged);
    let before = engine.previous(); // in the gauge of the next block: direction only
    let op = Diagonal::new(vec![1.0, 0.9, 0.5, 0.1]).unwrap();
    let image = op.multiply(before.as_ref()).unwrap();
    let (w, aw) = (before.view(), image.view());
    let length = w.iter().map(|v| v * v).sum::<f64>();
    let theta = w.iter().zip(aw.iter()).map(|(a, b)| a * b).sum::<f64>() / length;
    let rest = w.iter().zip(aw.iter()).map(|(a, b)| (b - theta * a).powi(2)).sum::<f64>();
    let residual = (rest / length).sqrt();
    assert!((residual - info.residuals[0]).abs() <= 8.0 * f64::EPSILON, "{residual:e}");
    assert!(residual <= 1e-6);
    // One product a step, also when every step is measured.
    assert_eq!(info.applications, info.iterations);
    assert_eq!(info.history.len() as u64, info.iterations);
}

/// Measuring only every tenth step changes no bit of the iterates that matters: the two paths
/// compute a Φ + b F − c F₋₁ in another order, so they agree to rounding.
#[test]
fn measuring_does_not_change_the_run() {
    let run = |every| {
        let map = Exact::new(gram(&rows())).unwrap();
        let recurrence = Momentum::new(0.02, Start::U).unwrap();
        let start = Block::gaussian(6, 1, 2);
        let mut engine = Engine::new(map, recurrence, start).unwrap().with_gauge(Norm);
        let mut observer = Tolerance::new(0.0, 1).unwrap().every(every);
        engine.run(30, &mut observer).unwrap();
        engine.block().clone()
    };
    let (often, seldom) = (run(1), run(10));
    for i in 0..6 {
        // 30 contracting steps of products of 46 terms.
        let allowed = 30.0 * 46.0 * f64::EPSILON;
        assert!((often.row(i)[0] - seldom.row(i)[0]).abs() <= allowed);
    }
}

#[test]
fn each_rule_stops_for_its_reason() {
    let stop = |observer: &mut dyn Observer<f64>| engine().run(100_000, observer).unwrap().stop;
    assert_eq!(stop(&mut MaxPasses(7.0)), Stop::Passes);
    assert_eq!(stop(&mut Deadline::after(Duration::ZERO)), Stop::Deadline);
    assert_eq!(stop(&mut Stagnation::after(30).unwrap()), Stop::Stagnated);
    let cancel = Cancel::default();
    cancel.cancel();
    assert_eq!(stop(&mut cancel.clone()), Stop::Cancelled);
    // In a tuple the first that breaks gives the reason, and every member sees every step.
    let mut seen = 0;
    let count = |_: &Step<'_, f64>| {
        seen += 1;
        std::ops::ControlFlow::Continue(())
    };
    assert_eq!(stop(&mut (MaxPasses(5.0), cancel, count)), Stop::Cancelled);
    assert_eq!(seen, 1);
    let info = engine().run(12, &mut Unwatched).unwrap();
    assert_eq!((info.stop, info.iterations), (Stop::Iterations, 12));
}

/// Another thread stops a run that would otherwise take for ever.
#[test]
fn cancellation_from_another_thread() {
    let cancel = Cancel::default();
    let remote = cancel.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        remote.cancel();
    });
    let info = engine().run(u64::MAX, &mut cancel.clone()).unwrap();
    thread.join().unwrap();
    assert_eq!(info.stop, Stop::Cancelled);
    assert!(info.iterations > 0);
}

/// A batch of s of N terms counts s/N of a pass.
#[test]
fn passes_count_terms() {
    let sampler = Sampler::uniform(40, 8, 4).unwrap();
    let map = MiniBatch::new(gram(&rows()), sampler).unwrap();
    let mut engine = Engine::new(map, Power, Block::gaussian(6, 1, 2)).unwrap().with_gauge(Norm);
    let info = engine.run(1000, &mut MaxPasses(10.0)).unwrap();
    assert_eq!((info.iterations, info.seed), (50, Some(4)));
}

/// A start in the null space is a breakdown, not noise.
#[test]
fn zero_iterates_are_a_breakdown() {
    let op = Diagonal::new(vec![1.0, 0.0]).unwrap();
    let map = Exact::new(op).unwrap();
    let mut engine = Engine::new(map, Power, Block::column(&[0.0, 1.0])).unwrap().with_gauge(Norm);
    let mut steps = 0;
    while engine.advance().unwrap() == Advance::Moved {
        steps += 1;
        assert!(steps < 5);
    }
    assert_eq!(engine.info(Stop::Breakdown).iterations, 2);
}
