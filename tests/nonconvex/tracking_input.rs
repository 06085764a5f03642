//! Batches: the law of inverse-probability weights, and input that is wrong.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_models::{
    BatchCovariance, Error, ErrorKind, SubspaceTracker, TrackingMomentum, TrackingStep,
};
use favard_operator::{Block, Csr, LinearOperator, ops};
use favard_testkit::check_linear;

// A tracker may be moved to the thread that receives the batches.
static_assertions::assert_impl_all!(SubspaceTracker<f64>: Send);

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("an error").to_string()
}

/// Inverse-probability weights are unbiased: the mean over all 2⁶ masks of two rows of three
/// entries, each with its probability, is the covariance of the complete rows. Exact up to
/// rounding: 64 terms of size at most 1/p² times the largest.
#[test]
fn missing_entries_are_unbiased() {
    let rows = Block::from_fn(2, 3, |i, j| (1 + 3 * i + j) as f64 - 3.5);
    let identity = Block::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)));
    let exact = BatchCovariance::dense(rows.as_ref()).unwrap().multiply(identity.as_ref()).unwrap();
    for p in [0.3_f64, 0.5, 0.9] {
        let mut mean = Block::<f64>::zeros(3, 3);
        // The mask that sees nothing is the zero matrix.
        for mask in 1_u32..64 {
            let seen = |i: usize, j: usize| mask >> (3 * i + j) & 1 == 1;
            let masked =
                Block::from_fn(2, 3, |i, j| if seen(i, j) { rows.row(i)[j] } else { f64::NAN });
            let op = BatchCovariance::with_nan(masked.as_ref(), Some(p)).unwrap();
            let matrix = op.multiply(identity.as_ref()).unwrap();
            let count = mask.count_ones().cast_signed();
            let chance = p.powi(count) * (1.0 - p).powi(6 - count);
            for i in 0..3 {
                for j in 0..3 {
                    mean.row_mut(i)[j] += chance * matrix.row(i)[j];
                }
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                let gap = (mean.row(i)[j] - exact.row(i)[j]).abs();
                assert!(gap < 64.0 * 8.0 / p / p * f64::EPSILON, "p {p}: {gap}");
            }
        }
    }
}

/// The covariance of a batch keeps the laws, dense and sparse, and both are the same matrix.
#[test]
fn covariances_keep_the_laws() {
    let dense =
        Block::from_fn(5, 4, |i, j| if (i + j) % 3 == 0 { f64::NAN } else { (i * 4 + j) as f64 });
    let known: Vec<_> = (0..5)
        .flat_map(|i| (0..4).map(move |j| (i, j)))
        .filter(|&(i, j)| (i + j) % 3 != 0)
        .collect();
    let sparse = csr(5, 4, &known, |i, j| (i * 4 + j) as f64);
    let one = BatchCovariance::with_nan(dense.as_ref(), None).unwrap();
    let two = BatchCovariance::observed(&sparse, None).unwrap();
    check_linear(&one).unwrap();
    check_linear(&two).unwrap();
    let x = Block::<f64>::gaussian(4, 2, 1);
    let (y, z) = (one.multiply(x.as_ref()).unwrap(), two.multiply(x.as_ref()).unwrap());
    for i in 0..4 {
        for (y, z) in y.row(i).iter().zip(z.row(i)) {
            assert!((y - z).abs() <= 1e3 * f64::EPSILON * y.abs().max(1.0));
        }
    }
    check_linear(&BatchCovariance::sparse(&sparse).unwrap()).unwrap();
}

fn csr(
    rows: usize,
    cols: usize,
    known: &[(usize, usize)],
    value: impl Fn(usize, usize) -> f64,
) -> Csr<'static, f64> {
    let mut triplets = sprs::TriMat::new((rows, cols));
    for &(i, j) in known {
        triplets.add_triplet(i, j, value(i, j));
    }
    Csr::from_sprs(triplets.to_csr::<usize>()).unwrap()
}

/// A bad batch is refused by name, and the tracker goes on as if it had not come.
#[test]
fn bad_batches_leave_the_tracker_as_it_was() {
    let good = |seed| Block::<f64>::gaussian(30, 6, seed);
    let mut tracker = SubspaceTracker::<f64>::new(6, 2).unwrap();
    let mut other = SubspaceTracker::<f64>::new(6, 2).unwrap();
    tracker.update(good(1).as_ref()).unwrap();
    other.update(good(1).as_ref()).unwrap();

    let wide = Block::<f64>::gaussian(30, 7, 1);
    assert_eq!(message(tracker.update(wide.as_ref())), "columns of the batch: expected 6, found 7");
    let empty = Block::<f64>::zeros(0, 6);
    assert_eq!(message(tracker.update(empty.as_ref())), "batch: is empty (0 × 6)");
    let few = Block::<f64>::gaussian(2, 6, 1);
    assert_eq!(
        message(tracker.update(few.as_ref())),
        "rows of a batch for a power step: 2 are fewer than the 3 that the unknowns need"
    );
    let zero = Block::<f64>::zeros(30, 6);
    assert!(
        message(tracker.update(zero.as_ref())).starts_with("sum of the squares of the batch: 0")
    );
    for bad in [f64::NAN, f64::INFINITY] {
        let mut rows = good(2);
        rows.row_mut(4)[5] = bad;
        let text = message(tracker.update(rows.as_ref()));
        assert!(text.contains("row 4, column 5"), "{text}");
    }
    let huge = Block::from_fn(30, 6, |_, _| 1e200);
    assert!(tracker.update(huge.as_ref()).is_err());
    let narrow = csr(9, 5, &[(0, 0)], |_, _| 1.0);
    assert!(tracker.update_sparse(&narrow).is_err());

    tracker.update(good(3).as_ref()).unwrap();
    other.update(good(3).as_ref()).unwrap();
    assert_eq!(tracker.basis(), other.basis());
    assert_eq!(tracker.report().batches, 2);
}

/// With missing entries allowed NaN is no error, but infinity is, and so is a batch without any.
#[test]
fn missing_entries_have_limits() {
    let new = || SubspaceTracker::<f64>::new(4, 1).unwrap();
    let nan = Block::from_fn(9, 4, |_, _| f64::NAN);
    let text = message(new().missing(None).update(nan.as_ref()));
    assert!(text.starts_with("sum of the squares of the batch: 0"), "{text}");
    let infinite = Block::from_fn(9, 4, |i, _| if i == 3 { f64::INFINITY } else { 1.0 });
    assert!(new().missing(None).update(infinite.as_ref()).is_err());
    let rows = Block::<f64>::gaussian(9, 4, 1);
    for p in [0.0, 1.5, f64::NAN] {
        let text = message(new().missing(Some(p)).update(rows.as_ref()));
        assert!(text.starts_with("probability of an entry: "), "{text}");
    }
}

#[test]
fn parameters_out_of_range() {
    assert!(message(SubspaceTracker::<f64>::new(4, 0)).starts_with("components: 0 must"));
    assert!(message(SubspaceTracker::<f64>::new(4, 5)).starts_with("components: 5 must"));
    let rows = Block::<f64>::gaussian(9, 4, 1);
    let new = || SubspaceTracker::<f64>::new(4, 1).unwrap();
    for step in [0.0, -1.0, f64::NAN] {
        assert!(new().step(TrackingStep::Oja(step)).update(rows.as_ref()).is_err());
    }
    let mut bad = new().momentum(TrackingMomentum::Fixed(-1.0));
    assert_eq!(message(bad.update(rows.as_ref())), "beta: -1 must be finite and at least 0");
}

/// The whole space is a subspace: nothing to track, nothing to fail.
#[test]
fn all_dimensions() {
    let mut tracker = SubspaceTracker::<f64>::new(3, 3).unwrap();
    for t in 0..50 {
        tracker.update(Block::<f64>::gaussian(9, 3, t).as_ref()).unwrap();
    }
    assert_eq!(tracker.basis().shape(), (3, 3));
}

/// Batches that a power step cannot see (they are orthogonal to the subspace) are refused, and the
/// subspace is kept.
#[test]
fn a_batch_across_the_subspace() {
    // A start exactly along e₁ and e₂, and rows along e₃ only.
    let basis = Block::from_fn(4, 2, |i, j| f64::from(u8::from(i == j)));
    let mut tracker =
        SubspaceTracker::<f64>::new(4, 2).unwrap().from_basis(basis.as_ref()).unwrap();
    let rows = Block::from_fn(5, 4, |i, j| if j == 2 { 1.0 + i as f64 } else { 0.0 });
    let text = message(tracker.update(rows.as_ref()));
    assert_eq!(text, "variance of the batch along the subspace: 0 must be above 0");
    assert_eq!(tracker.basis(), &basis);
    // Oja's step keeps what it has.
    let mut tracker = tracker.step(TrackingStep::Oja(0.1));
    tracker.update(rows.as_ref()).unwrap();
    let wrong = Block::<f64>::zeros(4, 1);
    assert!(tracker.from_basis(wrong.as_ref()).is_err());
}

/// A stream under a callback: records, a reason to stop, the cost.
#[test]
fn a_watched_stream() {
    let batches: Vec<_> = (0..20).map(|t| Block::<f64>::gaussian(40, 5, t)).collect();
    let source = || batches.iter().map(Block::as_ref);
    let mut tracker = SubspaceTracker::<f64>::new(5, 2).unwrap();
    let info = tracker.track_watched(source(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((info.stop, info.iterations, info.history.len()), (Stop::Exhausted, 20, 20));
    let mut watch = |record: &favard_engine::Record<f64>| {
        if record.tick < 23 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Stop::Requested)
        }
    };
    let info = tracker.track_watched(source(), &mut watch).unwrap();
    assert_eq!((info.stop, info.iterations), (Stop::Requested, 23));
    assert_eq!(tracker.info().applications, 23);
    let bad = Block::<f64>::zeros(3, 4);
    let error = tracker.track_watched([bad.as_ref()], &mut |_| ControlFlow::Continue(()));
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Operator(_)));
}

/// A batch that fails in the middle of a step, because an iterate overflows, is as if it had not come:
/// the tracker takes the next ones to the bits of one that has never seen it.
#[test]
fn a_step_that_fails_is_undone() {
    let rows = |size: f32, seed| {
        let mut rows = Block::<f32>::gaussian(30, 6, seed);
        ops::scale(size, rows.as_mut());
        rows
    };
    let new = || SubspaceTracker::<f32>::new(6, 2).unwrap().step(TrackingStep::Oja(1e30));
    let (mut tracker, mut other) = (new(), new());
    tracker.update(rows(1e-5, 1).as_ref()).unwrap();
    other.update(rows(1e-5, 1).as_ref()).unwrap();
    for _ in 0..3 {
        // η A F is of the size of 1e50.
        assert!(message(tracker.update(rows(1e10, 2).as_ref())).contains("not finite"));
        let text = message(tracker.update(rows(1e20, 2).as_ref()));
        assert!(text.starts_with("mean square of the rows of the batch: "), "{text}");
    }
    assert_eq!((tracker.basis(), tracker.info()), (other.basis(), other.info()));
    tracker.update(rows(1e-5, 3).as_ref()).unwrap();
    other.update(rows(1e-5, 3).as_ref()).unwrap();
    assert_eq!((tracker.basis(), tracker.report()), (other.basis(), other.report()));
    assert_eq!(tracker.info().reason, tracker.report().to_string());
}

/// Batches that are so small that a power step loses them are refused, and the tracker is unchanged;
/// Oja's step, which adds them to what it has, takes them.
#[test]
fn small_batches_are_refused() {
    let rows = Block::<f32>::gaussian(40, 6, 1);
    let small = Block::from_fn(40, 6, |i, j| 1e-12 * rows.row(i)[j]);
    let mut tracker = SubspaceTracker::<f32>::new(6, 2).unwrap();
    tracker.update(rows.as_ref()).unwrap();
    let before = tracker.basis().clone();
    let error = tracker.update(small.as_ref()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Scale { verb: "multiply", .. }), "{error}");
    assert!(*tracker.basis() == before);
    let mut oja = SubspaceTracker::<f32>::new(6, 2).unwrap().step(TrackingStep::Oja(1e22));
    oja.update(small.as_ref()).unwrap();
}
