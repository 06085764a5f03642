//! The sign of a component.

use favard_operator::{Block, Scalar, ops};
use rayon::prelude::*;

/// Rows that one task looks at.
const TASK: usize = 1 << 14;

/// In each column, the entry of largest absolute value becomes positive; the lowest index wins ties.
pub(crate) fn fix_signs<T: Scalar>(vectors: &mut Block<T>) {
    let (rows, cols) = vectors.shape();
    let look = |task: usize| {
        let mut largest = vec![T::zero(); cols];
        for i in task * TASK..rows.min((task + 1) * TASK) {
            keep_larger(&mut largest, vectors.row(i));
        }
        largest
    };
    let parts: Vec<Vec<T>> = (0..rows.div_ceil(TASK)).into_par_iter().map(look).collect();
    let mut largest = vec![T::zero(); cols];
    parts.iter().for_each(|part| keep_larger(&mut largest, part));
    if largest.iter().all(|&value| value >= T::zero()) {
        return;
    }
    let sign = |&value: &T| if value < T::zero() { -T::one() } else { T::one() };
    let signs: Vec<T> = largest.iter().map(sign).collect();
    let scaled = ops::scale_columns(&signs, vectors.as_mut());
    debug_assert!(scaled.is_ok(), "one sign a column");
}

/// The first of the largest.
fn keep_larger<T: Scalar>(largest: &mut [T], row: &[T]) {
    for (largest, &value) in largest.iter_mut().zip(row) {
        if value.abs() > largest.abs() {
            *largest = value;
        }
    }
}
