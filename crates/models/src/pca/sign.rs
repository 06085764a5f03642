//! The sign of a component.

use favard_operator::{Block, Scalar};

/// In each column, the entry of largest absolute value becomes positive; the lowest index wins ties.
pub(crate) fn fix_signs<T: Scalar>(vectors: &mut Block<T>) {
    let mut largest = vec![T::zero(); vectors.cols()];
    for i in 0..vectors.rows() {
        for (largest, &value) in largest.iter_mut().zip(vectors.row(i)) {
            if value.abs() > largest.abs() {
                *largest = value;
            }
        }
    }
    if largest.iter().all(|&value| value >= T::zero()) {
        return;
    }
    for i in 0..vectors.rows() {
        for (&largest, value) in largest.iter().zip(vectors.row_mut(i)) {
            if largest < T::zero() {
                *value = -*value;
            }
        }
    }
}
