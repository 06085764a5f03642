//! Completion of input that is wrong or says too little.

use std::ops::ControlFlow;

use favard_models::{Error, ErrorKind, MatrixCompletion};
use favard_operator::{Block, Csr, Scalar};

use crate::support::{low_rank, sample};

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn bad_entries_have_names() {
    let entries = |list: &[(usize, usize, f64)]| MatrixCompletion::entries((3, 4), list);
    assert_eq!(
        message(entries(&[(0, 0, 1.0), (3, 0, 1.0)])),
        "rows of the entries: index 3 at position 1 is not below 3"
    );
    assert_eq!(
        message(entries(&[(0, 4, 1.0)])),
        "columns of the entries: index 4 at position 0 is not below 4"
    );
    assert_eq!(message(entries(&[(1, 2, 1.0), (1, 2, 1.0)])), "entry (1, 2) is given twice");
    assert_eq!(
        message(entries(&[(1, 2, f64::NAN)])),
        "observed entries: value NaN at row 1, column 2 is not finite"
    );
    let infinite = Block::from_fn(2, 2, |_, _| f64::INFINITY);
    assert!(MatrixCompletion::known(infinite.as_ref()).is_err());
}

#[test]
fn too_few_entries_for_the_rank() {
    let exact = low_rank::<f64>(20, 20, &[1.0, 0.5], 1);
    let observed = sample(&exact, -1.0, 2, |_, _| true);
    // r(m + n − r) = 76 degrees of freedom
    let error = MatrixCompletion::new(2).solve(&observed).unwrap_err();
    let aside = observed.entries() / 20;
    match error.kind() {
        ErrorKind::TooFew { needed, found, .. } => {
            assert_eq!((*needed, *found), (76, observed.entries() - aside));
        }
        kind => panic!("{kind:?}"),
    }
    let empty = MatrixCompletion::entries::<f64>((4, 4), &[]).unwrap();
    let text = message(MatrixCompletion::new(1).solve(&empty));
    assert_eq!(
        text,
        "observed entries, without those held out: 0 are fewer than the 7 that the unknowns need"
    );
}

#[test]
fn parameters_out_of_range() {
    let full = Csr::new((2, 3), vec![0, 3, 6], vec![0, 1, 2, 0, 1, 2], vec![1.0; 6]).unwrap();
    let new = MatrixCompletion::new;
    assert!(message(new(0).solve(&full)).starts_with("rank: 0 must"));
    assert!(message(new(3).solve(&full)).starts_with("rank: 3 must"));
    assert!(message(new(1).held_out(1.0).solve(&full)).starts_with("held-out fraction: 1 must"));
    assert!(message(new(1).held_out(f64::NAN).solve(&full)).starts_with("held-out fraction: NaN"));
    assert!(message(new(1).tolerance(-1.0).solve(&full)).starts_with("tolerance: -1 must"));
    let text = message(new(1).symmetric(true).solve(&full));
    assert_eq!(text, "symmetric completion: needs a square operator, found 2 × 3");
}

/// All values zero: the zero matrix fits and nothing is known; said, not guessed.
#[test]
fn an_all_zero_matrix() {
    let zero = Csr::new((2, 2), vec![0, 2, 4], vec![0, 1, 0, 1], vec![0.0; 4]).unwrap();
    let text = message(MatrixCompletion::new(1).solve(&zero));
    assert!(text.starts_with("norm of the observed entries: 0 must be above 0"), "{text}");
}

#[test]
fn two_values_for_one_symmetric_entry() {
    let list = [(0, 1, 2.0), (1, 0, 3.0), (0, 0, 1.0), (1, 1, 1.0)];
    let entries = MatrixCompletion::entries((2, 2), &list).unwrap();
    let text = message(MatrixCompletion::new(1).symmetric(true).solve(&entries));
    assert_eq!(text, "entry (0, 1) differs from entry (1, 0)");
}

/// A row and a column without entries cannot be known: they are listed, predicted as zero, and do
/// not disturb the rest.
#[test]
fn empty_rows_and_columns_are_listed() {
    let exact = low_rank::<f64>(80, 60, &[1.0, 0.9, 0.8], 30);
    let observed = sample(&exact, 0.0, 31, |i, j| i != 7 && j != 9);
    let found = MatrixCompletion::new(3).solve(&observed).unwrap();
    assert!(found.is_certified());
    assert_eq!(found.undetermined(), (&[7][..], &[9][..]));
    assert!(found.predict_row(7).unwrap().iter().all(|v| v.abs() < 1e-12));
    assert!(found.predict(3, 9).unwrap().abs() < 1e-12);
    assert!((found.predict(3, 4).unwrap() - exact.row(3)[4]).abs() < 1e-6);
}

/// A rank above the true one still fits, and says how well.
#[test]
fn a_rank_that_is_too_large() {
    let exact = low_rank::<f64>(80, 60, &[1.0, 0.9], 40);
    let observed = sample(&exact, 0.3, 41, |_, _| true);
    let found = MatrixCompletion::new(3).solve(&observed).unwrap();
    assert!(found.residual() < 1e-4, "{}", found.residual());
    assert!(found.values()[2] < 1e-2 && found.residual().is_finite());
}

#[test]
fn positions_outside_of_the_answer() {
    let exact = low_rank::<f64>(20, 15, &[1.0], 50);
    let found = MatrixCompletion::new(1).solve(&sample(&exact, 1.0, 51, |_, _| true)).unwrap();
    assert_eq!(message(found.predict(20, 0)), "row: index 20 at position 0 is not below 20");
    assert_eq!(message(found.predict(0, 15)), "column: index 15 at position 0 is not below 15");
    assert!(found.predict_row(20).is_err());
    let other = MatrixCompletion::new(2);
    let observed = sample(&exact, 1.0, 51, |_, _| true);
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let text = message(other.solve_from(&observed, &found, go_on));
    assert_eq!(text, "rank of the earlier answer: expected 2, found 1");
}

/// Completion is linear in the entries: those of which powers are no numbers are multiplied by a power of
/// two. (In `f32` entries of 1e-30 were certified with a matrix that had nothing to do with them.)
fn every_scale<T: Scalar>(powers: [i32; 4]) {
    let exact = low_rank::<T>(30, 20, &[1.0, 0.7], 1);
    let plan = MatrixCompletion::new(2).tolerance(1e2 * T::EPSILON.as_f64());
    let mut first: Option<Block<T>> = None;
    for power in powers {
        let size = T::of(2.0).powi(power);
        let times = Block::from_fn(30, 20, |i, j| size * exact.row(i)[j]);
        let found = plan.solve(&sample(&times, 0.8, 2, |_, _| true)).unwrap();
        assert!(found.is_certified(), "2^{power}: {}", found.residual());
        assert!(found.method().contains("were multiplied by 2^"), "{}", found.method());
        let error = found.held_out_error().unwrap();
        assert!(error <= 1e4 * T::EPSILON.as_f64(), "2^{power}: {error}");
        let gap = (found.values()[0] / size - T::one()).abs();
        assert!(gap <= T::of(1e4) * T::EPSILON, "2^{power}: {gap}");
        // The same problem, and the same bits.
        let left = first.get_or_insert_with(|| found.left().clone());
        assert!(left == found.left(), "2^{power}");
        let again = plan.solve_from(&sample(&times, 0.8, 2, |_, _| true), &found, &mut |_| {
            ControlFlow::Continue(())
        });
        assert!(again.unwrap().is_certified(), "2^{power}");
    }
}

#[test]
fn completion_at_every_scale() {
    every_scale::<f32>([-90, -33, 33, 100]);
    every_scale::<f64>([-900, -300, 300, 1000]);
}
