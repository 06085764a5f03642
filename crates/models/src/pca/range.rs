//! Whether the precision holds the squares of the data.

use favard_operator::{Block, LinearOperator, Moments, Scalar};

use super::statistics::{Statistics, Steps};
use crate::error::{ErrorKind, Result};

/// `Ok` when the eigenvalues may be numbers of full precision in `T`: their sum is neither beyond its
/// largest number nor so small that rounding of the largest one is below its smallest. Squares of data
/// around 1e-160 are zeros in every sum, and would be taken for data without any variance: where there
/// seems to be none, one product with the data says whether that is so.
pub(crate) fn check_range<T: Scalar>(
    op: &dyn LinearOperator<T>,
    moments: &Moments,
    statistics: &Statistics,
    steps: Steps,
) -> Result<()> {
    let total = statistics.total;
    check_small::<T>(total, total > 0.0)?;
    // Sums of squares are not divided yet.
    let largest = total * statistics.freedom.max(1.0);
    if largest > T::max_value().as_f64() {
        return Err(ErrorKind::Scale { sum: largest, verb: "divide" }.into());
    }
    if T::min_positive_value().as_f64().powi(2) > 0.0 {
        // The moments are those of a wider precision, in which no square is zero.
        return Ok(());
    }
    if total != 0.0 && !steps.scale {
        return Ok(());
    }
    let least = T::min_positive_value() / T::EPSILON;
    // Σ_i x_ij² of a column that is centred or not
    let square = |j: usize| {
        let shift = moments.mean[j] - statistics.mean[j];
        moments.squares[j] + statistics.weight * shift * shift
    };
    let is_lost = |j: &usize| square(*j) < least.as_f64();
    let columns: Vec<usize> = (0..moments.mean.len()).filter(is_lost).collect();
    if !columns.is_empty() && differs(op, moments, statistics, &columns)? {
        let sum = columns.iter().map(|&j| square(j)).sum();
        return Err(ErrorKind::Scale { sum, verb: "multiply" }.into());
    }
    Ok(())
}

/// `Ok` unless the largest eigenvalue, or their sum, is so small that its rounding is no number.
pub(crate) fn check_small<T: Scalar>(sum: f64, is_known: bool) -> Result<()> {
    let least = T::min_positive_value().as_f64() / T::EPSILON.as_f64();
    if is_known && sum < least {
        return Err(ErrorKind::Scale { sum, verb: "multiply" }.into());
    }
    Ok(())
}

/// Whether the rows differ from the mean in some of the columns by more than rounding: a product with
/// random numbers, each over the mean of its column, so that no column hides another.
fn differs<T: Scalar>(
    op: &dyn LinearOperator<T>,
    moments: &Moments,
    statistics: &Statistics,
    columns: &[usize],
) -> Result<bool> {
    let dim = moments.mean.len();
    let random = Block::<T>::gaussian(columns.len(), 1, 1);
    let mut x = Block::<T>::zeros(dim, 1);
    let mut sum = 0.0;
    for (i, &j) in columns.iter().enumerate() {
        // The largest power whose product with numbers of 1e-160 is a number.
        let size = moments.mean[j].abs().max(2.0_f64.powi(-1000));
        x.row_mut(j)[0] = random.row(i)[0] / T::of(size) * T::of(statistics.scale[j]);
        sum += (statistics.mean[j] / size * random.row(i)[0].as_f64()).abs();
    }
    let product = op.multiply(x.as_ref())?;
    let rounding = 8.0 * T::EPSILON.as_f64() * dim as f64 * sum;
    Ok((0..product.rows()).any(|i| product.row(i)[0].as_f64().abs() > rounding))
}
