//! A run that was interrupted and taken up gives the same bits as an unbroken one.

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_models::least_squares::{Method, Scaling, Solution};
use favard_models::{Checkpoints, ErrorKind, LeastSquares};
use favard_operator::{Block, Csr, Scalar};
use proptest::prelude::*;

use crate::support::*;

/// A watcher that stops a run at its n-th record.
fn stop_at<T: Scalar>(n: usize) -> impl FnMut(&Record<T>) -> ControlFlow<Stop> {
    let mut seen = 0;
    move |_| {
        seen += 1;
        if seen > n { ControlFlow::Break(Stop::Cancelled) } else { ControlFlow::Continue(()) }
    }
}

fn on<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

const METHODS: [Method; 5] = [
    Method::Auto,
    Method::Cg,
    Method::Lsmr,
    Method::HeavyBall { bounds: None },
    Method::Chebyshev { bounds: None },
];

/// Unbroken, and stopped at two places, each part on another number of threads.
fn check<T: Scalar>(plan: &LeastSquares, a: &Csr<'_, T>, b: &Block<T>, stops: [f64; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let go_on = || stop_at::<T>(usize::MAX);
    let unbroken = on(1, || plan.fit_watched(a, b, &mut go_on())).unwrap();
    let records = unbroken.info.history.len();
    let mut saved = Checkpoints::new().save(&path);
    let mut last: Option<Solution<T>> = None;
    for (part, share) in stops.into_iter().enumerate() {
        // ⌊share · records⌋
        let before = |i: &usize| *i as f64 <= share * records as f64;
        let stop = (1..=records).take_while(before).count();
        // What is there when a run is stopped may be good enough, and the run not over.
        let (mut stopped, mut watch) = (false, stop_at(stop));
        let run = || {
            plan.fit_saved(a, b, &saved, &mut |record| {
                let flow = watch(record);
                stopped |= flow.is_break();
                flow
            })
        };
        let found = on(1 + part % 2, run).unwrap();
        // A run that is over at the very step at which it is stopped has nothing to save.
        if !stopped || !path.exists() {
            last = Some(found);
            break;
        }
        saved = saved.resume(&path);
    }
    let last = last.map_or_else(|| on(2, || plan.fit_saved(a, b, &saved, &mut go_on())), Ok);
    assert!(last.unwrap() == unbroken, "{plan:?}, stopped at {stops:?} of {records}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Solutions, certificates, history and counts, for every iterative method, tall and wide, with
    /// ridge, intercept and weights, in both precisions.
    #[test]
    fn taken_up_to_the_bit(
        method in prop::sample::select(METHODS.to_vec()),
        (wide, single, ridge, terms) in any::<(bool, bool, bool, bool)>(),
        stops in [0.0..1.0_f64, 0.0..1.0_f64],
        columns in 1..4_usize,
    ) {
        // More unknowns than `Auto` forms a Gram matrix for.
        let (rows, cols) = if wide { (260, 300) } else { (500, 270) };
        let x = uneven(rows, cols, 3);
        let mut plan = LeastSquares::new().method(method).passes(150.0);
        if ridge {
            plan = plan.ridge(0.5);
        }
        if terms {
            plan = plan.intercept(true).weights((0..rows).map(|i| 1.0 + (i % 3) as f64).collect());
        }
        if single {
            let b = Block::<f32>::gaussian(rows, columns, 4);
            check::<f32>(&plan.tolerance(1e-4), &csr(&x), &b, stops);
        } else {
            check::<f64>(&plan, &csr(&x), &Block::gaussian(rows, columns, 4), stops);
        }
    }
}

/// `Auto` on a matrix that is too hard for the normal equations: the run goes on with LSMR, and is
/// taken up in either part.
#[test]
fn both_parts_of_auto() {
    let mut sigma = geometric(150, 10.0);
    for (i, value) in sigma.iter_mut().enumerate().skip(147) {
        *value = 1e-9 * (i - 146) as f64;
    }
    let x = with_singular_values(500, &sigma, 3);
    let image = x.dot(&Block::<f64>::gaussian(150, 1, 4).view());
    let noise = Block::<f64>::gaussian(500, 1, 5);
    let b = Block::from_fn(500, 1, |i, _| image[[i, 0]] + 1e-9 * noise.row(i)[0]);
    let a = csr::<f64>(&x);
    let plan = LeastSquares::new().scaling(Scaling::Off).tolerance(1e-12);
    let unbroken = plan.fit(&a, &b).unwrap();
    assert!(unbroken.reason.contains("Lsmr from there"), "{}", unbroken.reason);
    for stop in [0.0, 0.1, 0.3, 0.5, 0.8, 0.99] {
        check(&plan, &a, &b, [stop, 0.2]);
    }
}

/// The save of any step, and that of a budget that ran out: taken up with the same it is over, with
/// a larger one it goes on.
#[test]
fn any_saved_step_and_budgets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (a, b) = (csr::<f64>(&uneven(400, 150, 3)), Block::gaussian(400, 2, 4));
    for method in METHODS {
        let plan = LeastSquares::new().method(method).passes(150.0);
        let go_on = || stop_at::<f64>(usize::MAX);
        let unbroken = plan.fit(&a, &b).unwrap();
        for steps in [2, 7, 17] {
            let saved = Checkpoints::new().save(&path).every_steps(steps);
            assert!(plan.fit_saved(&a, &b, &saved, &mut go_on()).unwrap() == unbroken);
            let saved = Checkpoints::new().resume(&path);
            let resumed = plan.fit_saved(&a, &b, &saved, &mut go_on()).unwrap();
            assert!(resumed == unbroken, "{method:?}, every {steps} steps");
        }
        // The descents estimate their bounds first, in 40 passes.
        let descent = !matches!(method, Method::Auto | Method::Cg | Method::Lsmr);
        let small = plan.clone().passes(if descent { 60.0 } else { 10.0 });
        let saved = Checkpoints::new().save(&path);
        let cut = small.fit_saved(&a, &b, &saved, &mut go_on()).unwrap();
        assert_eq!(cut.info.stop, Stop::Passes, "{method:?}");
        let saved = Checkpoints::new().resume(&path);
        assert!(small.fit_saved(&a, &b, &saved, &mut go_on()).unwrap() == cut, "{method:?}");
        let longer = plan.fit_saved(&a, &b, &saved, &mut go_on()).unwrap();
        assert!(longer == unbroken, "{method:?}");
    }
}

/// Another problem is refused by the name of what differs; a damaged file too.
#[test]
fn other_problems_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (a, b) = (csr::<f64>(&uneven(400, 150, 3)), Block::gaussian(400, 1, 4));
    let plan = LeastSquares::new().method(Method::Cg);
    let saved = Checkpoints::new().save(&path);
    plan.solve_saved(&a, &b, &saved, &mut stop_at(3)).unwrap();
    let from = Checkpoints::new().resume(&path);
    let refused = |plan: &LeastSquares, a: &Csr<'_, f64>, b: &Block<f64>| {
        let error = plan.solve_saved(a, b, &from, &mut stop_at(3)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
        error.to_string()
    };
    for (plan, text) in [
        (plan.clone().method(Method::Lsmr), "method is Cg in the file and Lsmr here"),
        (plan.clone().ridge(2.0), "ridge is 0 in the file and 2 here"),
        (plan.clone().intercept(true), "intercept is false in the file and true here"),
        (plan.clone().seed(2), "seed is 1 in the file and 2 here"),
    ] {
        assert_eq!(refused(&plan, &a, &b), format!("checkpoint: {text}"));
    }
    let text = refused(&plan, &a, &Block::gaussian(400, 1, 5));
    assert!(text.starts_with("checkpoint: right-hand sides is 400 × 1, "), "{text}");
    let text = refused(&plan, &csr(&uneven(400, 150, 7)), &b);
    assert!(text.starts_with("checkpoint: work of a product is "), "{text}");
    let twice = csr(&(uneven(400, 150, 3) * 2.0));
    let text = refused(&plan, &twice, &b);
    assert!(text.starts_with("checkpoint: column scales is "), "{text}");

    let good = std::fs::read(&path).unwrap();
    for position in (0..good.len()).step_by(101) {
        let mut bad = good.clone();
        bad[position] ^= 4;
        std::fs::write(&path, &bad).unwrap();
        assert!(plan.solve_saved(&a, &b, &from, &mut stop_at(3)).is_err(), "{position}");
        std::fs::write(&path, &good[..position]).unwrap();
        assert!(plan.solve_saved(&a, &b, &from, &mut stop_at(3)).is_err(), "{position}");
    }
}
