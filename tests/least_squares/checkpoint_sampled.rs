//! Sampled runs, of least squares and of Kaczmarz, that were interrupted and taken up: the same bits
//! as an unbroken one.

use favard_engine::Stop;
use favard_models::least_squares::{Momentum, Sampled, Solution};
use favard_models::{Checkpoints, ErrorKind, Kaczmarz, LeastSquares};
use favard_operator::{Block, Csr, LinearOperator, Scalar};

use crate::resume::{
    Watch, assert_any_save, assert_damage_is_seen, assert_taken_up, go_on, unbroken,
};
use crate::support::{csr, geometric, with_singular_values};

/// A matrix by rows and by columns, a right-hand side inside of its range and one outside.
struct System<T: Scalar> {
    a: Csr<'static, T>,
    columns: Csr<'static, T>,
    inside: Block<T>,
    outside: Block<T>,
}

fn system<T: Scalar>(rows: usize, cols: usize) -> System<T> {
    let a = csr::<T>(&with_singular_values(rows, &geometric(cols, 12.0), 3));
    let inside = a.multiply(Block::gaussian(cols, 2, 4).as_ref()).unwrap();
    System { columns: a.transposed(), inside, outside: Block::gaussian(rows, 2, 5), a }
}

/// Stopped at the first record, in the middle, near the end, and several times.
fn check<T: Scalar>(
    what: &str,
    run: impl Fn(&Checkpoints, &mut Watch<'_, T>) -> Solution<T> + Sync,
) {
    let (whole, records) = unbroken(&run);
    assert!(records > 2, "{what}: {records} records are too few to stop at");
    let (half, last) = (records / 2, records - 1);
    for stops in
        [&[0][..], &[1], &[half], &[last - 1], &[last], &[0, 0, 0], &[half / 2, 2, half / 3]]
    {
        assert_taken_up(what, &whole, stops, &run);
    }
    assert_any_save(what, &whole, &run);
}

/// Mini-batches and SVRG, with ridge, intercept and weights, in both precisions.
#[test]
fn sampled_least_squares() {
    fn all<T: Scalar>(tolerance: f64) {
        let System { a, inside, outside, .. } = system::<T>(1200, 8);
        let plan = LeastSquares::new().tolerance(tolerance);
        let weights = (0..1200).map(|i| 1.0 + f64::from(i % 3)).collect();
        let rich = plan.clone().ridge(1e-3).intercept(true).weights(weights);
        for (plan, sampled, rhs) in [
            (&plan, Sampled::mini_batch(16), &inside),
            (&plan, Sampled::mini_batch(1), &inside),
            (&plan, Sampled::auto(), &inside),
            (&plan, Sampled::svrg(40), &outside),
            (&rich, Sampled::svrg(40).epoch(7), &outside),
        ] {
            let what = format!("{sampled:?}, {}", size_of::<T>());
            check::<T>(&what, |saved, watch| {
                plan.solve_rows_saved(&a, rhs, &sampled, saved, watch).unwrap()
            });
        }
    }
    all::<f64>(1e-8);
    all::<f32>(1e-5);
}

/// `auto` whose batches stall because the system is inconsistent, and that goes on with conjugate
/// gradients: taken up in either part.
#[test]
fn both_parts_of_auto() {
    let a = csr::<f64>(&with_singular_values(6000, &geometric(140, 1.2), 3));
    let b = Block::gaussian(6000, 1, 5);
    let plan = LeastSquares::new().tolerance(1e-10);
    let run = |saved: &Checkpoints, watch: &mut Watch<'_, f64>| {
        plan.solve_rows_saved(&a, &b, &Sampled::auto(), saved, watch).unwrap()
    };
    let (whole, records) = unbroken(&run);
    assert!(whole.is_certified() && whole.reason.contains("; then Cg"), "{}", whole.reason);
    let second = whole.info.history.len();
    let first = records - second;
    for stops in [&[first / 2][..], &[first - 1], &[first], &[first + 3], &[first / 3, first, 2]] {
        assert_taken_up("auto", &whole, stops, &run);
    }
}

/// One row, batches, blocks, SVRG and the extended method.
#[test]
fn kaczmarz() {
    fn all<T: Scalar>(tolerance: f64) {
        let System { a, columns, inside, outside } = system::<T>(900, 8);
        let plan = Kaczmarz::new().tolerance(tolerance);
        for (plan, rhs) in [
            (plan.clone(), &inside),
            (plan.clone().batch(12), &inside),
            (plan.clone().blocks(3), &inside),
            (plan.clone().blocks(3).momentum(Momentum::Given { step: 1.0, gamma: 0.1 }), &inside),
            (plan.clone().batch(30).inconsistent(true), &outside),
        ] {
            let what = format!("{plan:?}");
            check::<T>(&what, |saved, watch| plan.solve_saved(&a, rhs, saved, watch).unwrap());
        }
        let plan = plan.batch(6).passes(1e4);
        check::<T>("extended", |saved, watch| {
            plan.solve_extended_saved(&a, &columns, &outside, saved, watch).unwrap()
        });
    }
    all::<f64>(1e-8);
    all::<f32>(1e-5);
}

/// A budget that ran out in the middle of a window: taken up with the same it is over, with a larger
/// one it goes on to the bits of a run that had the larger one from the start.
#[test]
fn budgets() {
    let System { a, inside, outside, .. } = system::<f64>(900, 8);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (save, resume) = (Checkpoints::new().save(&path), Checkpoints::new().resume(&path));
    for (plan, rhs) in [
        (Kaczmarz::new().batch(12), &inside),
        (Kaczmarz::new().blocks(3), &inside),
        (Kaczmarz::new().batch(30).inconsistent(true), &outside),
    ] {
        let whole = plan.solve(&a, rhs).unwrap();
        // In the middle of the window in the middle.
        let history = &whole.info.history;
        let small = plan.clone().passes(history[history.len() / 2].passes - 0.1);
        let cut = small.solve_saved(&a, rhs, &save, &mut go_on).unwrap();
        assert_eq!(cut.info.stop, Stop::Passes, "{plan:?}");
        assert!(small.solve_saved(&a, rhs, &resume, &mut go_on).unwrap() == cut, "{plan:?}");
        assert!(plan.solve_saved(&a, rhs, &resume, &mut go_on).unwrap() == whole, "{plan:?}");
    }
}

/// Another problem is refused by the name of what differs, and so is another kind of run; a damaged
/// file too.
#[test]
fn other_problems_are_refused() {
    let System { a, columns, inside, outside } = system::<f64>(900, 8);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (save, resume) = (Checkpoints::new().save(&path), Checkpoints::new().resume(&path));
    let stop = &mut |_: &_| std::ops::ControlFlow::Break(Stop::Cancelled);
    let plan = Kaczmarz::new().batch(12);
    plan.solve_saved(&a, &inside, &save, stop).unwrap();
    let foreign = |result: Result<Solution<f64>, favard_models::Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
        error.to_string()
    };
    for (other, text) in [
        (plan.clone().blocks(12), "method is averaged in the file and blocks here"),
        (plan.clone().batch(13), "batch is 12 in the file and 13 here"),
        (plan.clone().seed(2), "seed is 1 in the file and 2 here"),
        (plan.clone().tolerance(1e-9), "tolerance is 0.00000001 in the file and 0.000000001 here"),
        (plan.clone().momentum(Momentum::Off), "momentum is Auto in the file and Off here"),
    ] {
        let found = foreign(other.solve_saved(&a, &inside, &resume, stop));
        assert_eq!(found, format!("checkpoint: {text}"));
    }
    let found = foreign(plan.solve_saved(&a, &outside, &resume, stop));
    assert!(found.starts_with("checkpoint: right-hand sides is 900 × 2, "), "{found}");
    let twice = csr(&(with_singular_values(900, &geometric(8, 12.0), 3) * 2.0));
    let found = foreign(plan.solve_saved(&twice, &inside, &resume, stop));
    assert!(found.starts_with("checkpoint: sum of the squares is "), "{found}");
    let found = foreign(plan.solve_extended_saved(&a, &columns, &inside, &resume, stop));
    assert_eq!(found, "checkpoint: method is averaged in the file and extended here");
    assert_damage_is_seen(&path, || plan.solve_saved(&a, &inside, &resume, &mut go_on).is_err());
    // A run of another model.
    let (squares, svrg) = (LeastSquares::new(), Sampled::svrg(20));
    let error = squares.solve_rows_saved(&a, &inside, &svrg, &resume, stop).unwrap_err();
    let text = "checkpoint: kind of run is kaczmarz in the file and least squares in the engine";
    assert_eq!(error.to_string(), text);
    // Samplings of least squares are told apart, and from the methods that do not sample.
    squares.solve_rows_saved(&a, &inside, &svrg, &save, stop).unwrap();
    let other = Sampled::svrg(21);
    let found = foreign(squares.solve_rows_saved(&a, &inside, &other, &resume, stop));
    assert!(
        found.starts_with("checkpoint: sampling is Sampled { kind: Svrg, batch: 20"),
        "{found}"
    );
    let found = foreign(squares.solve_saved(&a, &inside, &resume, stop));
    assert!(found.starts_with("checkpoint: "), "{found}");
}
