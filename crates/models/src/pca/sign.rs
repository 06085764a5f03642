//! The sign of a component.

use favard_operator::{Block, Scalar};

/// In each column, the entry of largest absolute value becomes positive; the lowest index wins ties.
pub(crate) fn fix_signs<T: Scalar>(vectors: &mut Block<T>) {
    for j in 0..vectors.cols() {
        let mut best = (T::zero(), T::one());
        for i in 0..vectors.rows() {
            let value = vectors.row(i)[j];
            if value.abs() > best.0 {
                best = (value.abs(), value.signum());
            }
        }
        if best.1 < T::zero() {
            for i in 0..vectors.rows() {
                let value = vectors.row(i)[j];
                vectors.row_mut(i)[j] = -value;
            }
        }
    }
}
