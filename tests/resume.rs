//! Runs that are stopped, saved and taken up, for several test targets.

use std::ops::ControlFlow;
use std::path::Path;

use favard_engine::{Record, Stop};
use favard_models::Checkpoints;
use favard_operator::Scalar;

/// The callback of a run.
pub type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// Never stops.
pub fn go_on<T>(_: &Record<T>) -> ControlFlow<Stop> {
    ControlFlow::Continue(())
}

fn on<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

/// A run unbroken, and how many records it shows.
pub fn unbroken<T: Scalar, S: Send>(
    run: &(impl Fn(&Checkpoints, &mut Watch<'_, T>) -> S + Sync),
) -> (S, usize) {
    let mut records = 0;
    let found = on(1, || {
        run(&Checkpoints::new(), &mut |_| {
            records += 1;
            ControlFlow::Continue(())
        })
    });
    (found, records)
}

/// A run that is stopped after each of these numbers of records, counted from where it was taken up,
/// and then goes on to its end, every part on another number of threads, is the unbroken one.
///
/// A part that is stopped at the step at which it is over anyway is not saved, and is the whole.
pub fn assert_taken_up<T: Scalar, S: Send + PartialEq>(
    what: &str,
    whole: &S,
    stops: &[usize],
    run: &(impl Fn(&Checkpoints, &mut Watch<'_, T>) -> S + Sync),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut plan = Checkpoints::new().save(&path);
    for (part, &stop) in stops.iter().enumerate() {
        let (mut seen, mut stopped) = (0, false);
        let found = on(1 + part % 2, || {
            run(&plan, &mut |_| {
                seen += 1;
                stopped |= seen > stop;
                if stopped {
                    ControlFlow::Break(Stop::Cancelled)
                } else {
                    ControlFlow::Continue(())
                }
            })
        });
        if !stopped || found == *whole {
            assert!(found == *whole, "{what}: over before its stops {stops:?}");
            return;
        }
        plan = plan.resume(&path);
    }
    let found = on(2, || run(&plan, &mut go_on));
    assert!(found == *whole, "{what}: stopped at {stops:?}");
}

/// What was saved after every so many steps of an unbroken run leads to the same end.
pub fn assert_any_save<T: Scalar, S: Send + PartialEq>(
    what: &str,
    whole: &S,
    run: &(impl Fn(&Checkpoints, &mut Watch<'_, T>) -> S + Sync),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    for steps in [2, 7, 17] {
        let saved = Checkpoints::new().save(&path).every_steps(steps);
        assert!(run(&saved, &mut go_on) == *whole, "{what}: saving changes it");
        if path.exists() {
            let resumed = run(&Checkpoints::new().resume(&path), &mut go_on);
            assert!(resumed == *whole, "{what}: saved every {steps} steps");
            std::fs::remove_file(&path).unwrap();
        }
    }
}

/// Bytes that are changed or missing are an error, wherever they are.
pub fn assert_damage_is_seen(path: &Path, is_error: impl Fn() -> bool) {
    let good = std::fs::read(path).unwrap();
    for position in (0..good.len()).step_by(101) {
        let mut bad = good.clone();
        bad[position] ^= 4;
        std::fs::write(path, &bad).unwrap();
        assert!(is_error(), "byte {position} changed");
        std::fs::write(path, &good[..position]).unwrap();
        assert!(is_error(), "cut at {position}");
    }
    std::fs::write(path, &good).unwrap();
}
