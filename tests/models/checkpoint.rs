//! A fit that was interrupted and taken up gives the same bits as an unbroken one.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use favard_engine::recurrence::Start;
use favard_engine::{Record, Stop};
use favard_models::solvers::{AdaOja, Eigensolver, Inhomogeneous, Power, Rule};
use favard_models::{Checkpoints, ErrorKind, Lanczos, Pca, PcaFit, Solver, TruncatedSvd};
use favard_operator::{Block, Dense, Diagonal, Gram, Scalar};
use proptest::prelude::*;

/// Variances of about 1/j²: every method converges, or reaches its noise, in a few dozen steps.
fn data<T: Scalar>(rows: usize, cols: usize) -> Dense<'static, T> {
    let noise = Block::<f64>::gaussian(rows, cols, 9);
    let entry = |i: usize, j: usize| T::of(noise.row(i)[j] / (1.0 + j as f64) + 0.5);
    Dense::new(Block::from_fn(rows, cols, entry).view().to_owned()).unwrap()
}

fn pca(solver: Solver) -> Pca {
    let pca = Pca::new(2).solver(solver).seed(3);
    // Of the budget up to 62 passes go into a look at the noise, of all rows of so few. It finds a
    // start to five digits, from which the variance-reduced methods go on.
    match solver {
        Solver::Vr | Solver::VrPca => pca.tolerance(1e-9).products(90).batch(16),
        solver if solver.is_sampled() => pca.tolerance(0.05).products(75).batch(16),
        _ => pca.tolerance(1e-5).products(60),
    }
}

/// All methods that have steps.
fn stepping() -> impl Iterator<Item = Solver> {
    Solver::ALL.into_iter().filter(|solver| !matches!(solver, Solver::Auto | Solver::Exact))
}

/// A watcher that stops a fit at its n-th record.
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

/// Runs until the given record, saves, and takes it up; twice over where there are two.
fn broken<T: Scalar>(pca: &Pca, x: &Dense<'_, T>, stops: &[usize], path: &Path) -> PcaFit<T> {
    let mut checkpoints = Checkpoints::new().save(path);
    for (part, &stop) in stops.iter().enumerate() {
        let fit = on(1 + part % 2, || {
            pca.on(x).watch(&mut stop_at(stop)).checkpoints(&checkpoints).run()
        })
        .unwrap();
        if fit.info().stop != Stop::Cancelled {
            return fit;
        }
        checkpoints = checkpoints.resume(path);
    }
    on(1 + stops.len() % 2, || pca.on(x).checkpoints(&checkpoints).run()).unwrap()
}

fn check<T: Scalar>(solver: Solver, shape: (usize, usize), stops: [prop::sample::Index; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let (x, pca) = (data::<T>(shape.0, shape.1), pca(solver));
    let unbroken = on(1, || pca.fit(&x)).unwrap();
    let records = unbroken.info().history.len();
    assert!(records > 1, "{solver}: {:?}", unbroken.info());
    let stops = stops.map(|stop| stop.index(records));
    let found = broken(&pca, &x, &stops, &folder.path().join("state"));
    assert!(found == unbroken, "{solver}, {shape:?}, stopped at {stops:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Components, values, residuals, history and counts, for every name, tall and wide, in both
    /// precisions, stopped at any two records, on one thread and on two.
    #[test]
    fn taken_up_to_the_bit(
        solver in prop::sample::select(stepping().collect::<Vec<_>>()),
        wide: bool,
        single: bool,
        first: prop::sample::Index,
        second: prop::sample::Index,
    ) {
        let shape = if wide { (90, 160) } else { (160, 90) };
        if single {
            check::<f32>(solver, shape, [first, second]);
        } else {
            check::<f64>(solver, shape, [first, second]);
        }
    }
}

/// The save of any step, also of those that nobody watches: a kill leaves one of them.
#[test]
fn any_saved_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let x = data::<f64>(160, 90);
    for solver in stepping() {
        let pca = pca(solver);
        let unbroken = pca.fit(&x).unwrap();
        for steps in [3, 7, 11, 29] {
            let saved = Checkpoints::new().save(&path).every_steps(steps);
            let watched = pca.on(&x).checkpoints(&saved).run().unwrap();
            assert!(watched == unbroken, "{solver}: saving changes nothing");
            if path.exists() {
                let resumed = pca.on(&x).checkpoints(&Checkpoints::new().resume(&path)).run();
                assert!(resumed.unwrap() == unbroken, "{solver}, every {steps} steps");
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}

/// Many restarts, from random columns, from given ones, and from pairs that are known.
#[test]
fn lanczos_with_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let op = Diagonal::new((0..400).map(|i| 1.0 - 0.002 * f64::from(i)).collect()).unwrap();
    let lanczos = Lanczos::new(3).width(2).basis(12).tolerance(1e-5);
    let start = Block::<f64>::gaussian(400, 3, 8);
    for start in [None, Some(&start)] {
        let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
        let unbroken = lanczos.solve_watched(&op, start, go_on).unwrap();
        assert!(unbroken.info.applications > 50, "{:?}", unbroken.info.applications);
        for stop in (0..unbroken.info.history.len() - 1).step_by(3) {
            let saved = Checkpoints::new().save(&path);
            let cut = lanczos.solve_saved(&op, start, &saved, &mut stop_at(stop)).unwrap();
            assert_eq!(cut.info.stop, Stop::Cancelled);
            let saved = Checkpoints::new().resume(&path);
            let resumed = lanczos.solve_saved(&op, start, &saved, go_on).unwrap();
            assert!(resumed == unbroken, "stopped at {stop}");
        }
    }
    let x = data::<f64>(300, 200);
    let few = Pca::new(3).solver(Solver::Lanczos).fit(&x).unwrap();
    let more = Pca::new(6).solver(Solver::Lanczos).tolerance(1e-9);
    let unbroken = more.extend(&x, &few).unwrap();
    let saved = Checkpoints::new().save(&path);
    more.on(&x).extend(&few).watch(&mut stop_at(2)).checkpoints(&saved).run().unwrap();
    let saved = Checkpoints::new().resume(&path);
    assert!(more.on(&x).extend(&few).checkpoints(&saved).run().unwrap() == unbroken);
    let from = more.fit_from(&x, &few).unwrap();
    let saved = Checkpoints::new().save(&path);
    more.on(&x).start(&few).watch(&mut stop_at(1)).checkpoints(&saved).run().unwrap();
    let saved = Checkpoints::new().resume(&path);
    assert!(more.on(&x).start(&few).checkpoints(&saved).run().unwrap() == from);
    let error = more.on(&x).checkpoints(&saved).run().unwrap_err().to_string();
    assert!(error.starts_with("checkpoint: start is 200 × 3, "), "{error}");
    assert!(error.ends_with("in the file and random here"), "{error}");
}

/// Stages of the inhomogeneous recurrence, at a range of tolerances. That a tolerance is halved on the way
/// (the iterate meets it and the combination, usually ahead of it, does not) depends on the last bits:
/// it may or may not occur here.
#[test]
fn stages_of_the_inhomogeneous_recurrence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let op = Diagonal::new((0..60).map(|i| 0.93_f64.powi(i)).collect()).unwrap();
    let family = favard_engine::recurrence::Chebyshev::new(0.0, 0.8).unwrap();
    for (components, tolerance) in [(1, 1e-3), (1, 1e-4), (1, 1e-5), (1, 1e-6), (2, 1e-5)] {
        let method = Inhomogeneous::new(family, 0.9).stage(9);
        let solver = Eigensolver::new(method, components).tolerance(tolerance).passes(400.0);
        let unbroken = solver.solve_watched(&op, None, &mut stop_at(usize::MAX)).unwrap();
        let records = unbroken.info.history.len();
        assert!(records > 20, "{records} records: not even two stages");
        for stop in 0..records - 1 {
            let saved = Checkpoints::new().save(&path);
            solver.solve_saved(&op, None, &saved, &mut stop_at(stop)).unwrap();
            let saved = Checkpoints::new().resume(&path);
            let go_on = &mut stop_at(usize::MAX);
            let resumed = solver.solve_saved(&op, None, &saved, go_on).unwrap();
            assert!(resumed == unbroken, "{components}, stopped at {stop} of {records}");
        }
    }
}

/// A budget that ran out may be raised: the longer run is that of the larger budget from the start.
/// Taken up with the same budget it is over, and the same.
#[test]
fn a_larger_budget_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let x = data::<f64>(160, 90);
    for solver in stepping().filter(|solver| !solver.is_sampled()) {
        let pca = pca(solver).tolerance(1e-9);
        let saved = Checkpoints::new().save(&path);
        let cut = pca.clone().products(4).on(&x).checkpoints(&saved).run().unwrap();
        assert!(!cut.is_certified(), "{solver}");
        let saved = Checkpoints::new().resume(&path);
        let again = pca.clone().products(4).on(&x).checkpoints(&saved).run().unwrap();
        assert!(again == cut, "{solver}");
        let resumed = pca.on(&x).checkpoints(&saved).run().unwrap();
        assert!(resumed == pca.fit(&x).unwrap(), "{solver}");
    }
}

/// The tolerance may change where no step depends on it; a sampled method has planned with it.
#[test]
fn another_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let x = data::<f64>(160, 90);
    for solver in stepping() {
        let saved = Checkpoints::new().save(&path).every_steps(2);
        pca(solver).on(&x).checkpoints(&saved).run().unwrap();
        let saved = Checkpoints::new().resume(&path);
        let strict = pca(solver).tolerance(1e-7).products(1000);
        let resumed = strict.on(&x).checkpoints(&saved).run();
        if solver.is_sampled() {
            let error = resumed.unwrap_err().to_string();
            assert!(error.starts_with("checkpoint: tolerance is 0."), "{error}");
            assert!(error.ends_with("in the file and 0.0000001 here"), "{error}");
        } else {
            assert!(resumed.unwrap().is_certified(), "{solver}");
        }
    }
    // With another tolerance the choice of `Auto` may be another method: that of the file is kept.
    let auto = Pca::new(1).products(1);
    let x = data::<f64>(2000, 300);
    let saved = Checkpoints::new().save(&path);
    let fit = auto.clone().tolerance(0.1).on(&x).checkpoints(&saved).run().unwrap();
    assert_eq!(fit.method().0, Solver::Lanczos);
    let saved = Checkpoints::new().resume(&path);
    let strict = auto.products(1000).tolerance(1e-12);
    assert_eq!(strict.on(&x).checkpoints(&saved).run().unwrap().method().0, Solver::Lanczos);
}

/// The exact solver has one step, and nothing to save.
#[test]
fn exact_fits_save_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let x = data::<f64>(160, 90);
    let pca = Pca::new(2).solver(Solver::Exact);
    let saved = Checkpoints::new().save(&path).every(Duration::ZERO);
    assert!(pca.on(&x).checkpoints(&saved).run().unwrap() == pca.fit(&x).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Weights, centring and scaling; the singular value decomposition.
#[test]
fn weights_and_singular_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let x = data::<f64>(160, 90);
    let weights: Vec<f64> = (0..160).map(|i| 1.0 + f64::from(i % 3)).collect();
    let pca = pca(Solver::Chebyshev).scale(true).center(false);
    let unbroken = pca.fit_weighted(&x, &weights).unwrap();
    let (saved, from) = (Checkpoints::new().save(&path), Checkpoints::new().resume(&path));
    let mut stop = stop_at(2);
    let cut = pca.on(&x).weights(&weights).unwrap().watch(&mut stop);
    cut.checkpoints(&saved).run().unwrap();
    let resumed = pca.on(&x).weights(&weights).unwrap().checkpoints(&from).run();
    assert!(resumed.unwrap() == unbroken);
    let error = pca.on(&x).checkpoints(&from).run().unwrap_err().to_string();
    assert!(error.starts_with("checkpoint: weights is "), "{error}");

    for solver in [Solver::Lanczos, Solver::Momentum, Solver::AdaOja] {
        let svd = TruncatedSvd::new(2).solver(solver).tolerance(1e-9);
        let svd = if solver.is_sampled() { svd.batch(16) } else { svd };
        let unbroken = svd.fit(&x).unwrap();
        svd.on(&x).watch(&mut stop_at(2)).checkpoints(&saved).run().unwrap();
        assert!(svd.on(&x).checkpoints(&from).run().unwrap() == unbroken, "{solver}");
    }
    let error = pca.on(&x).checkpoints(&from).run().unwrap_err().to_string();
    assert_eq!(error, "checkpoint: model is SVD in the file and PCA here");
}

/// Another problem is refused by the name of what differs, with both values.
#[test]
fn other_problems_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let x = data::<f64>(160, 90);
    let own = pca(Solver::Power);
    let saved = Checkpoints::new().save(&path);
    let from = Checkpoints::new().resume(&path);
    // The parameters of the method.
    let given = Pca::new(2).solver(Solver::Vr).batch(16).beta(0.5).epoch(4).seed(3);
    given.on(&x).watch(&mut stop_at(1)).checkpoints(&saved).run().unwrap();
    for (pca, text) in [
        (given.clone().batch(4), "batch is 16 in the file and 4 here"),
        (given.clone().beta(0.25), "beta is 0.5 in the file and 0.25 here"),
        (given.clone().epoch(5), "epoch is 4 in the file and 5 here"),
        (
            given.clone().momentum_start(Start::T),
            "start of the momentum is the method's own in the file and T here",
        ),
        (
            given.clone().rule(Rule::Practical),
            "rule is the method's own in the file and Practical here",
        ),
    ] {
        let error = pca.on(&x).checkpoints(&from).run().unwrap_err().to_string();
        assert_eq!(error, format!("checkpoint: {text}"));
    }
    own.on(&x).watch(&mut stop_at(2)).checkpoints(&saved).run().unwrap();
    let refused = |pca: &Pca, x: &Dense<'_, f64>| {
        let error = pca.on(x).checkpoints(&from).run().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
        error.to_string()
    };
    for (pca, text) in [
        (own.clone().center(false), "centring is true in the file and false here"),
        (own.clone().scale(true), "scaling is false in the file and true here"),
        (pca(Solver::Dynamic), "solver is power in the file and dynamic here"),
        (pca(Solver::Exact), "solver is power in the file and exact here"),
        (own.clone().seed(4), "seed is 3 in the file and 4 here"),
        (Pca::new(3).solver(Solver::Power), "components is 2 in the file and 3 here"),
    ] {
        assert_eq!(refused(&pca, &x), format!("checkpoint: {text}"));
    }
    assert_eq!(refused(&own, &data(161, 90)), "checkpoint: rows is 160 in the file and 161 here");
    let mut other = x.view().to_owned();
    other[[3, 4]] += 1e-9;
    let text = refused(&own, &Dense::new(other).unwrap());
    assert!(text.starts_with("checkpoint: total variance is "), "{text}");

    let single = own.on(&data::<f32>(160, 90)).checkpoints(&from).run().unwrap_err().to_string();
    assert_eq!(single, "checkpoint: bytes of a number is 8 in the file and 4 in the engine");
    let op = Diagonal::new(vec![1.0; 90]).unwrap();
    let solver = Eigensolver::new(Power, 2);
    let error = solver.solve_saved(&op, None, &from, &mut stop_at(9)).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: solver is power in the file and a point of the engine here");
    let mut engine = favard_engine::Engine::new(
        favard_engine::map::Exact::new(&op).unwrap(),
        favard_engine::recurrence::Power,
        Block::gaussian(90, 2, 1),
    )
    .unwrap();
    engine.advance().unwrap();
    engine.checkpoint().save(&path).unwrap();
    let error = own.on(&x).checkpoints(&from).run().unwrap_err().to_string();
    assert_eq!(error, "checkpoint: kind of run is engine in the file and eigenpairs in the engine");
}

/// A sampled method taken up by itself: what it was planned with is compared.
#[test]
fn other_batches_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let op = Gram::new(data::<f64>(160, 20));
    let solver =
        |batch: usize, steps: u64| Eigensolver::new(AdaOja::default().batch(batch).steps(steps), 2);
    let saved = Checkpoints::new().save(&path);
    let unbroken = solver(8, 30).solve_watched(&op, None, &mut stop_at(usize::MAX)).unwrap();
    solver(8, 30).solve_saved(&op, None, &saved, &mut stop_at(11)).unwrap();
    let from = Checkpoints::new().resume(&path);
    let go = |solver: Eigensolver<AdaOja>| {
        solver.solve_saved(&op, None, &from, &mut stop_at(usize::MAX))
    };
    assert!(go(solver(8, 30)).unwrap() == unbroken);
    let error = go(solver(9, 30)).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: rows of a batch is 8 in the file and 9 here");
    let error = go(solver(8, 31)).unwrap_err().to_string();
    assert_eq!(error, "checkpoint: ticks of the run is 30 in the file and 31 here");
}

/// A file that is cut, changed in one bit, foreign or missing is a named error, never a panic; so is
/// a place that cannot be written to, before any work is done.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let op = Diagonal::new((0..40).map(|i| 0.9_f64.powi(i)).collect()).unwrap();
    let lanczos = Lanczos::new(1).width(1);
    let saved = Checkpoints::new().save(&path);
    lanczos.solve_saved(&op, None, &saved, &mut stop_at(2)).unwrap();
    let from = Checkpoints::new().resume(&path);
    let go = || lanczos.solve_saved(&op, None, &from, &mut stop_at(usize::MAX));
    assert!(go().is_ok());
    let good = std::fs::read(&path).unwrap();
    for cut in (0..good.len()).step_by(7) {
        std::fs::write(&path, &good[..cut]).unwrap();
        assert!(go().is_err(), "cut at {cut}");
    }
    for position in 0..good.len() {
        let mut bad = good.clone();
        bad[position] ^= 1 << (position % 8);
        std::fs::write(&path, &bad).unwrap();
        let error = go().unwrap_err();
        let ErrorKind::Engine(error) = error.kind() else { panic!("{error}") };
        let corrupt = matches!(error.kind(), favard_engine::ErrorKind::Corrupt { .. });
        assert!(corrupt, "byte {position}: {error}");
    }
    std::fs::write(&path, "favard state 1\n\0 and more").unwrap();
    assert!(go().unwrap_err().to_string().ends_with("is of another version"));
    std::fs::write(&path, "1,2\n3,4\n").unwrap();
    assert!(go().unwrap_err().to_string().ends_with("not a favard checkpoint"));
    std::fs::remove_file(&path).unwrap();
    assert!(go().is_err());

    let nowhere = Checkpoints::new().save(folder.path().join("missing/state"));
    let mut steps = 0;
    let watch = &mut |_: &Record<f64>| {
        steps += 1;
        ControlFlow::Continue(())
    };
    assert!(lanczos.solve_saved(&op, None, &nowhere, watch).is_err());
    assert!(
        lanczos.solve_saved(&op, None, &Checkpoints::new().save(folder.path()), watch).is_err()
    );
    assert_eq!(steps, 0);
}

/// What a killed process left beside the file goes; other files stay.
#[test]
fn left_overs_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["state.4294967295.tmp", "state.tmp", "state.1x.tmp", "other.4294967295.tmp"];
    for name in names {
        std::fs::write(folder.path().join(name), "x").unwrap();
    }
    let op = Diagonal::new((0..40).map(|i| 0.9_f64.powi(i)).collect()).unwrap();
    let saved = Checkpoints::new().save(folder.path().join("state"));
    let lanczos = Lanczos::new(1).width(1);
    lanczos.solve_saved(&op, None, &saved, &mut stop_at(usize::MAX)).unwrap();
    for (name, stays) in names.into_iter().zip([false, true, true, true]) {
        assert_eq!(folder.path().join(name).exists(), stays, "{name}");
    }
}
