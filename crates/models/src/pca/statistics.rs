//! [`Statistics`]: mean, scale and total variance of the columns.

use favard_operator::{Centered, Moments, RowOperator, Scalar, Scaled, Weighted};

use crate::checkpoint::{Keeper, hash_numbers};
use crate::error::{ErrorKind, Result};

/// What is subtracted from the columns and what they are divided by, and what is left then.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statistics {
    pub mean: Vec<f64>,
    pub scale: Vec<f64>,
    /// The sum of all eigenvalues.
    pub total: f64,
    /// N: the number of rows, or the sum of their weights.
    pub weight: f64,
    /// What the sums of squares are divided by.
    pub freedom: f64,
}

/// What is done to the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    pub center: bool,
    pub scale: bool,
}

impl Statistics {
    /// From the moments of rows of total weight N.
    ///
    /// # Errors
    /// When a mean is not finite, and the data is not; when the squares overflow.
    pub fn new(moments: &Moments, weight: f64, freedom: f64, steps: Steps) -> Result<Self> {
        check_finite(moments)?;
        let cols = moments.mean.len();
        let mean = if steps.center { moments.mean.clone() } else { vec![0.0; cols] };
        // Σ_j Var_j, or Σ_j (Var_j + N/(N−1) μ_j²) without centring, each over its scale squared
        let square = |j: usize| {
            let shift = moments.mean[j] - mean[j];
            moments.squares[j] + weight * shift * shift
        };
        let (scale, total) = if steps.scale {
            let deviation = |square: &f64| {
                let deviation = (square / freedom).sqrt();
                if deviation > 0.0 { deviation } else { 1.0 }
            };
            let scale: Vec<f64> = moments.squares.iter().map(deviation).collect();
            let total = (0..cols).map(|j| square(j) / freedom / scale[j].powi(2)).sum();
            (scale, total)
        } else {
            (vec![1.0; cols], (0..cols).map(|j| square(j) / freedom).sum())
        };
        Ok(Self { mean, scale, total, weight, freedom })
    }

    /// Nothing subtracted, nothing divided: what the operator needs is the same.
    pub fn neutral(cols: usize) -> Self {
        let (mean, scale) = (vec![0.0; cols], vec![1.0; cols]);
        Self { mean, scale, total: 0.0, weight: 0.0, freedom: 1.0 }
    }
}

/// The lines of a fingerprint that say which data is decomposed, and what is done to its columns. The
/// sum of the eigenvalues is an exact pass over the data, and differs for other data.
pub(crate) fn mark<T: Scalar, X: RowOperator<T>>(
    x: &X,
    statistics: &Statistics,
    steps: Steps,
    weights: Option<&[f64]>,
    keeper: &mut Keeper,
) -> Result<()> {
    if keeper.is_idle() {
        return Ok(());
    }
    let (rows, cols) = x.shape();
    keeper.mark("rows", rows)?;
    keeper.mark("columns", cols)?;
    keeper.mark("work of a product", x.work())?;
    keeper.mark("centring", steps.center)?;
    keeper.mark("scaling", steps.scale)?;
    let weights = weights.map(|weights| hash_numbers(weights.iter().copied()));
    keeper.mark("weights", weights.unwrap_or_else(|| "none".to_string()))?;
    keeper.mark("total variance", statistics.total)
}

/// `Ok` when all moments are finite. Squares that are not, of data that is, are beyond the precision.
pub(crate) fn check_finite(moments: &Moments) -> Result<()> {
    let all_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    // Merging parts whose squares overflow may have made NaN of an infinity.
    if all_finite(&moments.mean) && !all_finite(&moments.squares) {
        return Err(ErrorKind::Scale { sum: f64::INFINITY, verb: "divide" }.into());
    }
    for (what, values) in [("means", &moments.mean), ("squares", &moments.squares)] {
        if let Some(column) = values.iter().position(|value| !value.is_finite()) {
            let (row, value) = (0, values[column]);
            let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
    }
    Ok(())
}

/// The numbers in the precision of the data.
pub(crate) fn narrow<T: Scalar>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::of(value)).collect()
}

/// Runs `f` on $\sqrt{W} (X - \mathbf{1}\mu^T) D^{-1}$ with the steps that were asked for: weights
/// outermost, so that a normal product is one pass over X.
pub(crate) fn with_operator<T: Scalar, X: RowOperator<T>, R>(
    x: &X,
    statistics: &Statistics,
    steps: Steps,
    weights: Option<&[f64]>,
    f: impl FnOnce(&dyn RowOperator<T>) -> Result<R>,
) -> Result<R> {
    let weighted = |op: &dyn RowOperator<T>| match weights {
        None => f(op),
        Some(weights) => f(&Weighted::new(op, narrow(weights))?),
    };
    let centred = || Centered::new(x, narrow(&statistics.mean));
    match (steps.center, steps.scale) {
        (true, true) => weighted(&Scaled::new(centred()?, narrow(&statistics.scale))?),
        (true, false) => weighted(&centred()?),
        (false, true) => weighted(&Scaled::new(x, narrow(&statistics.scale))?),
        (false, false) => weighted(&x),
    }
}
