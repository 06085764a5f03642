//! [`Sample`]: some rows of an operator, and what they tell of all.

use favard_operator::{
    AdjointOperator, Batch, BlockMut, BlockRef, Gram, LinearOperator, Result as OperatorResult,
    RowOperator, Sampler, Scalar, Weighted, Workspace,
};

use super::spectrum::Ends;
use crate::error::Result;
use crate::symmetric::symmetric_eigen;

/// Unknowns up to which the Gram matrix of the sample is formed.
const FEW: usize = 256;

/// Rows of a sample for each unknown, and at least: the smallest eigenvalue is then low by a fifth
/// or so.
const ROWS: (usize, usize) = (50, 1000);

/// Steps of Lanczos beyond.
const STEPS: u64 = 40;

/// A_S as an operator.
struct Sample<'a, T, A: ?Sized> {
    op: &'a A,
    batch: &'a Batch<T>,
}

impl<T: Scalar, A: RowOperator<T> + ?Sized> LinearOperator<T> for Sample<'_, T, A> {
    fn shape(&self) -> (usize, usize) {
        (self.batch.len(), self.op.shape().1)
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        self.check_apply(x, &y)?;
        let mut z = ws.take(y.rows(), y.cols());
        self.op.apply_rows(&self.batch.terms, x, z.as_mut(), ws)?;
        favard_operator::ops::axpby(alpha, z.as_ref(), gamma, y.reborrow())?;
        ws.give(z);
        Ok(())
    }
}

impl<T: Scalar, A: RowOperator<T> + ?Sized> AdjointOperator<T> for Sample<'_, T, A> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        self.check_adjoint(x, &y)?;
        self.op.apply_rows_adjoint(&self.batch.terms, alpha, x, gamma, y, ws)
    }
}

/// The ends of the spectrum of c Σ wⱼ aⱼaⱼᵀ + μI over a sample of the rows, the upper one with a
/// margin for what a sample does not show, and the rows read. `None` when it is zero.
pub(crate) fn ends<T: Scalar, A: RowOperator<T> + ?Sized>(
    op: &A,
    sampler: impl Fn(usize) -> Result<Sampler<T>>,
    scale: f64,
    shift: f64,
    seed: u64,
) -> Result<(Option<Ends>, u64)> {
    let (rows, cols) = op.shape();
    let size = rows.min((ROWS.0 * cols).max(ROWS.1));
    let mut batch = Batch::default();
    // Tick u64::MAX: no run ever comes that far, so the sample is independent of its batches.
    sampler(size)?.draw(u64::MAX, &mut batch);
    let weights: Vec<T> = batch.weights.iter().map(|&w| w * T::of(scale)).collect();
    let sample = Weighted::new(Sample { op, batch: &batch }, weights)?;
    let (found, products) = if cols <= FEW {
        let dense = Gram::new(&sample).with_scale(1.0)?.to_dense()?;
        let matrix = faer::Mat::from_fn(cols, cols, |i, j| {
            f64::midpoint(dense[[i, j]].as_f64(), dense[[j, i]].as_f64())
        });
        let (values, _) = symmetric_eigen(matrix.as_ref())?;
        let high = values.first().copied().unwrap_or(0.0);
        let least = T::EPSILON.as_f64() * cols as f64 * high;
        let low = values.into_iter().filter(|&value| value > least).fold(high, f64::min);
        let products = 2 * cols.div_ceil(4 * T::LANE) as u64;
        ((high > 0.0).then_some(Ends { low, high, steps: products }), products)
    } else {
        let ends = Ends::estimate(&sample, STEPS, seed, &mut Workspace::new())?;
        (ends, 2 * ends.map_or(1, |ends| ends.steps))
    };
    // The largest eigenvalue of a sample is off by √(2/size) of itself; a step that is too long
    // diverges, one that is too short only takes longer. All rows have no such error.
    let margin = if size < rows { 1.0 + 3.0 * (2.0 / size as f64).sqrt() } else { 1.0 };
    let shifted = found.map(|ends| {
        let (low, high) = (ends.low + shift, ends.high * margin + shift);
        Ends { low, high, ..ends }
    });
    Ok((shifted, products * size as u64))
}
