//! Completion, phase retrieval and tracking that were interrupted and taken up: the same bits as an
//! unbroken run.

use favard_engine::Stop;
use favard_models::{
    Checkpoints, CompletionSpectral, ErrorKind, MatrixCompletion, PhaseRetrieval, PhaseSpectral,
    SubspaceTracker, TrackingMomentum, TrackingStep,
};
use favard_operator::{Block, Csr, Scalar};

use crate::phase::problem;
use crate::resume::{
    Watch, assert_any_save, assert_damage_is_seen, assert_taken_up, go_on, unbroken,
};
use crate::support::{low_rank, sample, symmetric};

/// Stopped at every record, and at several.
fn check<T: Scalar, S: Send + PartialEq>(
    what: &str,
    run: impl Fn(&Checkpoints, &mut Watch<'_, T>) -> S + Sync,
) {
    let (whole, records) = unbroken(&run);
    assert!(records > 10, "{what}: {records} records are too few to stop at");
    for stop in 0..records {
        assert_taken_up(what, &whole, &[stop], &run);
    }
    for stops in [&[0, 0, 0, 0][..], &[3, records / 3, 2]] {
        assert_taken_up(what, &whole, stops, &run);
    }
    assert_any_save(what, &whole, &run);
}

/// Every spectral stage, and both parts of it where there are two; a descent that chooses new
/// coordinates on its way; symmetric and not; in both precisions.
#[test]
fn completion() {
    let model = MatrixCompletion::new(2).spectral_tolerance(1e-4);
    let batches = CompletionSpectral::Batches { batch: 600, epoch: 4 };
    let exact = low_rank::<f64>(40, 30, &[1.0, 0.7], 1);
    let observed = sample(&exact, 0.3, 2, |_, _| true);
    for spectral in [CompletionSpectral::Auto, CompletionSpectral::Exact, batches] {
        let model = model.clone().spectral(spectral);
        check::<f64, _>(&format!("{spectral:?}"), |saved, watch| {
            model.solve_saved(&observed, saved, watch).unwrap()
        });
    }
    let single = sample(&low_rank::<f32>(40, 30, &[1.0, 0.7], 1), 0.3, 2, |_, _| true);
    let rough = model.clone().tolerance(1e-4);
    check::<f32, _>("f32", |saved, watch| rough.solve_saved(&single, saved, watch).unwrap());
    let (matrix, _) = symmetric(30, &[1.0, -0.8], 3);
    let upper = sample(&matrix, 0.8, 4, |i, j| i <= j);
    let model = model.symmetric(true).momentum(false);
    check::<f64, _>("symmetric", |saved, watch| model.solve_saved(&upper, saved, watch).unwrap());
}

/// Every spectral stage, in both precisions.
#[test]
fn phase_retrieval() {
    let (a, _, y) = problem::<f64>(160, 20, 3);
    for spectral in [PhaseSpectral::Momentum, PhaseSpectral::Chebyshev, PhaseSpectral::Power] {
        let model = PhaseRetrieval::new().spectral(spectral);
        check::<f64, _>(&format!("{spectral:?}"), |saved, watch| {
            model.solve_saved(&a, &y, saved, watch).unwrap()
        });
    }
    let (a, _, y) = problem::<f32>(160, 20, 3);
    let model = PhaseRetrieval::new().tolerance(1e-4);
    check::<f32, _>("f32", |saved, watch| model.solve_saved(&a, &y, saved, watch).unwrap());
}

/// Steps that ran out: taken up with as many it is over, with more it goes on to the bits of a run
/// that had them from the start.
#[test]
fn budgets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (save, resume) = (Checkpoints::new().save(&path), Checkpoints::new().resume(&path));
    let observed = sample(&low_rank::<f64>(40, 30, &[1.0, 0.7], 1), 0.3, 2, |_, _| true);
    let model = MatrixCompletion::new(2);
    let whole = model.solve(&observed).unwrap();
    let (a, _, y) = problem::<f64>(160, 20, 3);
    let phase = PhaseRetrieval::new();
    let recovered = phase.solve(&a, &y).unwrap();
    for steps in 1..whole.refinement().iterations {
        let small = model.clone().iterations(steps);
        let cut = small.solve_saved(&observed, &save, &mut go_on).unwrap();
        assert_eq!((cut.refinement().stop, cut.refinement().iterations), (Stop::Iterations, steps));
        let again = small.solve_saved(&observed, &resume, &mut go_on).unwrap();
        assert!(again == cut, "{steps} steps, and no more");
        let more = model.solve_saved(&observed, &resume, &mut go_on).unwrap();
        assert!(more == whole, "more than {steps} steps");
    }
    for steps in [1, 2, 9] {
        let small = phase.clone().iterations(steps);
        let cut = small.solve_saved(&a, &y, &save, &mut go_on).unwrap();
        assert_eq!(cut.refinement().stop, Stop::Iterations);
        assert!(small.solve_saved(&a, &y, &resume, &mut go_on).unwrap() == cut, "{steps} steps");
        assert!(phase.solve_saved(&a, &y, &resume, &mut go_on).unwrap() == recovered, "{steps}");
    }
}

/// Another problem is refused by the name of what differs; a damaged file too.
#[test]
fn other_problems_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (save, resume) = (Checkpoints::new().save(&path), Checkpoints::new().resume(&path));
    let stop = &mut |_: &_| std::ops::ControlFlow::Break(Stop::Cancelled);
    let text = |error: favard_models::Error| {
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
        error.to_string()
    };
    let exact = low_rank::<f64>(40, 30, &[1.0, 0.7], 1);
    let observed = sample(&exact, 0.3, 2, |_, _| true);
    let model = MatrixCompletion::new(2);
    model.solve_saved(&observed, &save, stop).unwrap();
    for (other, wanted) in [
        (MatrixCompletion::new(3), "rank is 2 in the file and 3 here"),
        (model.clone().held_out(0.1), "held-out fraction is 0.05 in the file and 0.1 here"),
        (model.clone().momentum(false), "momentum is true in the file and false here"),
        (model.clone().seed(9), "seed is 1 in the file and 9 here"),
    ] {
        let found = text(other.solve_saved(&observed, &resume, stop).unwrap_err());
        assert_eq!(found, format!("checkpoint: {wanted}"));
    }
    let doubled = Block::from_fn(40, 30, |i, j| 2.0 * exact.row(i)[j]);
    let doubled: Csr<'_, f64> = sample(&doubled, 0.3, 2, |_, _| true);
    let found = text(model.solve_saved(&doubled, &resume, stop).unwrap_err());
    assert!(found.starts_with("checkpoint: values is "), "{found}");
    let mut moved: Vec<_> = (0..40)
        .flat_map(|i| observed.row(i).0.iter().map(move |&j| (i, j as usize)))
        .map(|(i, j)| (i, j, exact.row(i)[j]))
        .collect();
    let free = (0..30).find(|&j| !observed.row(0).0.contains(&u32::try_from(j).unwrap())).unwrap();
    let last = observed.row(0).0.len() - 1;
    (moved[last].0, moved[last].1) = (0, free);
    let moved = MatrixCompletion::entries((40, 30), &moved).unwrap();
    let found = text(model.solve_saved(&moved, &resume, stop).unwrap_err());
    assert!(found.starts_with("checkpoint: positions is "), "{found}");
    assert_damage_is_seen(&path, || model.solve_saved(&observed, &resume, &mut go_on).is_err());

    let (a, _, y) = problem::<f64>(160, 20, 3);
    let phase = PhaseRetrieval::new();
    let error = phase.solve_saved(&a, &y, &resume, stop).unwrap_err().to_string();
    let kinds = "kind of run is matrix completion in the file and phase retrieval in the engine";
    assert_eq!(error, format!("checkpoint: {kinds}"));
    phase.solve_saved(&a, &y, &save, stop).unwrap();
    let found = text(phase.clone().products(7).solve_saved(&a, &y, &resume, stop).unwrap_err());
    assert_eq!(found, "checkpoint: products is 300 in the file and 7 here");
    let (other, _, _) = problem::<f64>(160, 20, 4);
    let found = text(phase.solve_saved(&other, &y, &resume, stop).unwrap_err());
    assert!(found.starts_with("checkpoint: product with a probe is 160 × 1, "), "{found}");
}

/// Rows of which some entries are missing, around a direction that turns.
fn rows<T: Scalar>(t: u64, missing: bool) -> Block<T> {
    let (noise, coin) = (Block::<f64>::gaussian(60, 8, t), Block::<f64>::gaussian(60, 8, 1000 + t));
    let (s, c) = (0.03 * t as f64).sin_cos();
    Block::from_fn(60, 8, |i, j| {
        let entry = noise.row(i)[j] + 3.0 * noise.row(i)[7] * [c, s, 0.5, 0.0][j.min(3)];
        T::of(if missing && coin.row(i)[j] > 0.8 { f64::NAN } else { entry })
    })
}

/// A tracker that is saved after every batch and read back goes on to the same bits: its basis, its
/// report, its choice of momentum and all that it has measured on the way.
#[test]
fn trackers_can_be_saved() {
    fn check<T: Scalar>(mut tracker: SubspaceTracker<T>, missing: bool) {
        let mut switches = 0;
        for t in 0..120 {
            let saved = serde_json::to_string(&tracker).unwrap();
            let mut resumed: SubspaceTracker<T> = serde_json::from_str(&saved).unwrap();
            assert_eq!(tracker.basis(), resumed.basis());
            assert_eq!(tracker.info(), resumed.info());
            let batch = rows::<T>(t, missing);
            let before = tracker.report().momentum;
            tracker.update(batch.as_ref()).unwrap();
            resumed.update(batch.as_ref()).unwrap();
            switches += usize::from(tracker.report().momentum != before);
            assert_eq!(tracker.basis(), resumed.basis(), "batch {t}");
            assert_eq!(tracker.report(), resumed.report(), "batch {t}");
            assert_eq!(tracker.info(), resumed.info(), "batch {t}");
            let (one, two) = (serde_json::to_string(&tracker), serde_json::to_string(&resumed));
            assert_eq!(one.unwrap(), two.unwrap(), "batch {t}");
        }
        assert!(tracker.report().weighing.is_some(), "{switches} switches, never weighed");
    }
    check(SubspaceTracker::<f64>::new(8, 2).unwrap(), false);
    check(SubspaceTracker::<f32>::new(8, 2).unwrap(), false);
    check(SubspaceTracker::<f64>::new(8, 8).unwrap(), false);
    let oja = SubspaceTracker::<f64>::new(8, 1).unwrap().step(TrackingStep::Oja(0.05));
    check(oja.momentum(TrackingMomentum::Always).missing(Some(0.8)), true);
}

/// A saved tracker whose parts do not fit is refused, and costs no memory.
#[test]
fn trackers_that_cannot_be() {
    let mut tracker = SubspaceTracker::<f64>::new(8, 2).unwrap();
    for t in 0..20 {
        tracker.update(rows(t, false).as_ref()).unwrap();
    }
    let saved = serde_json::to_string(&tracker).unwrap();
    let read = |from: &str, to: &str| {
        let broken = saved.replacen(from, to, 1);
        assert!(broken != saved, "{from}");
        let found: Result<SubspaceTracker<f64>, _> = serde_json::from_str(&broken);
        found.expect_err(from).to_string()
    };
    let found = read("\"dim\":8", "\"dim\":18446744073709551615");
    assert!(found.contains("rows of the tracked block: expected 18446744073709551615"), "{found}");
    let found = read("\"components\":2", "\"components\":3");
    assert!(found.contains("columns of the tracked block: expected 4, found 3"), "{found}");
    let found = read("\"components\":2", "\"components\":0");
    assert!(found.contains("components: 0 must be at least 1"), "{found}");
    let found = read("\"name\":\"stream\"", "\"name\":\"exact\"");
    assert!(found.contains("kind is exact in the file and stream in the engine"), "{found}");
}
