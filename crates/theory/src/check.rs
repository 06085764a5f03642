//! The checks every public function makes on its numbers, once, at the door.

use ndarray::ArrayView2;

use crate::error::{ErrorKind, Result};

/// The largest count that every formula here treats exactly as an `f64`.
pub(crate) const MAX_COUNT: usize = 1 << 52;

/// Passes a finite number on.
pub(crate) fn finite(name: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(ErrorKind::NonFinite { name, value }.into()) }
}

/// Passes on a finite number of the closed interval.
pub(crate) fn within(name: &'static str, value: f64, lower: f64, upper: f64) -> Result<f64> {
    finite(name, value)?;
    if (lower..=upper).contains(&value) {
        Ok(value)
    } else {
        Err(ErrorKind::OutOfRange { name, value, lower, upper }.into())
    }
}

/// Passes on a finite number that is zero or more.
pub(crate) fn non_negative(name: &'static str, value: f64) -> Result<f64> {
    within(name, value, 0.0, f64::MAX)
}

/// Passes on a non-negative number whose square is a number.
pub(crate) fn squarable(name: &'static str, value: f64) -> Result<f64> {
    within(name, value, 0.0, 1e150)
}

/// Passes on a finite number above zero.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64> {
    within(name, value, f64::MIN_POSITIVE, f64::MAX)
}

/// Passes on a number strictly between zero and one.
pub(crate) fn fraction(name: &'static str, value: f64) -> Result<f64> {
    within(name, value, f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)
}

/// Passes on a count of the closed interval.
pub(crate) fn count(name: &'static str, value: usize, lower: usize, upper: usize) -> Result<usize> {
    if (lower..=upper).contains(&value) {
        Ok(value)
    } else {
        Err(ErrorKind::Count { name, value, lower, upper }.into())
    }
}

/// Passes a size on if it is the expected one.
pub(crate) fn size(name: &'static str, found: usize, expected: usize) -> Result<usize> {
    if found == expected {
        Ok(found)
    } else {
        Err(ErrorKind::Shape { name, expected, found }.into())
    }
}

/// Passes a list of finite numbers on.
pub(crate) fn all_finite<'a>(
    name: &'static str,
    values: impl IntoIterator<Item = &'a f64>,
) -> Result<()> {
    values.into_iter().try_for_each(|&value| finite(name, value).map(|_| ()))
}

/// Checks a finite square matrix and returns its dimension.
pub(crate) fn square(name: &'static str, matrix: ArrayView2<f64>) -> Result<usize> {
    size(name, matrix.ncols(), matrix.nrows())?;
    count(name, matrix.nrows(), 1, MAX_COUNT)?;
    all_finite(name, matrix)?;
    Ok(matrix.nrows())
}

/// Checks a finite square matrix that equals its transpose to $4d$ roundings of its largest entry:
/// what a mean of $d$-term sums can differ by when its halves are added in different orders.
pub(crate) fn symmetric(name: &'static str, matrix: ArrayView2<f64>) -> Result<usize> {
    let dim = square(name, matrix)?;
    let largest = matrix.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let allowed = 4.0 * dim as f64 * f64::EPSILON * largest;
    for row in 0..dim {
        for col in 0..row {
            let gap = (matrix[[row, col]] - matrix[[col, row]]).abs();
            if gap > allowed {
                return Err(ErrorKind::NotSymmetric { name, row, col, gap }.into());
            }
        }
    }
    Ok(dim)
}

/// Rounds a non-negative number up to a count.
// Both casts are of a value just checked to lie in 0..=2^52.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn ceil_count(name: &'static str, value: f64) -> Result<usize> {
    let up = within(name, value, 0.0, MAX_COUNT as f64)?.ceil();
    Ok(up as usize)
}

/// The smallest count for which a monotone predicate holds: doubling, then bisection.
///
/// Costs at most 104 calls. `name` is what the search is for, in the error when even $2^{52}$ fails.
pub(crate) fn first_count(
    name: &'static str,
    lower: usize,
    upper: usize,
    mut holds: impl FnMut(usize) -> Result<bool>,
) -> Result<usize> {
    let (mut below, mut probe) = (None, lower);
    // Doubling: at most 52 rounds, as `probe` at least doubles (from 0 to 1 once).
    while !holds(probe)? {
        if probe >= upper {
            return Err(ErrorKind::Exhausted { name, limit: upper }.into());
        }
        below = Some(probe);
        probe = (2 * probe).max(1).min(upper);
    }
    let Some(mut low) = below else {
        return Ok(probe);
    };
    let mut high = probe;
    // Bisection: the bracket halves each round.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}
