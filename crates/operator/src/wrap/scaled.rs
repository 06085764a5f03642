//! [`Scaled`]: a matrix with its columns divided by scales.

use crate::adjoint::{Forming, Side, Standardized};
use crate::error::{ErrorKind, check_dim};
use crate::outer::outer_in_two;
use crate::row_ops::{combine_rows, multiply_rows, scale_rows};
use crate::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, LinearOperator, Outer, Result,
    RowOperator, Scalar, Workspace,
};

use super::ColumnMoments;

/// $A D^{-1}$ with $D = \mathrm{diag}(d)$: column j of $A$ divided by $d_j$, usually its standard
/// deviation.
///
/// It combines with [`Centered`](crate::Centered) in either order: `Scaled` of `Centered` is
/// $(A - \mathbf{1}\mu^T) D^{-1}$, `Centered` of `Scaled` is $A D^{-1} - \mathbf{1}\nu^T$.
///
/// # Cost
/// Those of $A$, $nk$ flops and an n × k temporary. The normal product takes one pass over $A$
/// when that of $A$ does.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Constant, Dense, LinearOperator, Scaled};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 7.0], [3.0, 7.0]])?;
/// let a = Scaled::by_deviation(a, 0, Constant::KeepScale)?;
/// assert_eq!(a.scale(), &[1.0, 1.0]); // the second column is constant
/// let a = Scaled::new(a.into_inner(), vec![2.0, 7.0])?;
/// assert_eq!(a.multiply(BlockRef::column(&[2.0, 1.0]))?, Block::column(&[2.0, 4.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scaled<A, T> {
    inner: A,
    scale: Vec<T>,
    factors: Vec<T>,
}

/// What [`Scaled::by_deviation`] does with a column that is constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// An error that names the column.
    Refuse,
    /// Its scale is 1.
    KeepScale,
}

impl<A: LinearOperator<T>, T: Scalar> Scaled<A, T> {
    /// $A D^{-1}$ for the scales $d$, not their reciprocals.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] unless there is a scale for each column, [`ErrorKind::Weight`] with the
    /// column when a scale is zero, not finite, or so small that its reciprocal is not finite.
    pub fn new(inner: A, scale: Vec<T>) -> Result<Self> {
        check_dim("column scales", inner.shape().1, scale.len())?;
        let factors: Vec<T> = scale.iter().map(|&scale| T::one() / scale).collect();
        for (index, (scale, factor)) in scale.iter().zip(&factors).enumerate() {
            if !scale.is_finite() || !factor.is_finite() {
                let need = "as a column's scale must be finite and not zero";
                return Err(ErrorKind::Weight { index, value: scale.as_f64(), need }.into());
            }
        }
        Ok(Self { inner, scale, factors })
    }

    /// $d$.
    #[must_use]
    pub fn scale(&self) -> &[T] {
        &self.scale
    }

    /// $A$.
    #[must_use]
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// $A$, taken back.
    #[must_use]
    pub fn into_inner(self) -> A {
        self.inner
    }
}

impl<A: LinearOperator<T> + ColumnMoments<T>, T: Scalar> Scaled<A, T> {
    /// $d_j = \sqrt{\sum_i (a_{ij} - \mu_j)^2 / (m - \mathrm{ddof})}$, in one pass over $A$.
    ///
    /// `ddof` is 0 for the deviation of the population and 1 for the unbiased variance of a
    /// sample. A column counts as constant when all its entries are equal.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] unless there are more rows than `ddof`, [`ErrorKind::Weight`] with the
    /// column when one is constant and `constant` refuses that.
    pub fn by_deviation(inner: A, ddof: usize, constant: Constant) -> Result<Self> {
        let rows = inner.shape().0;
        if rows <= ddof {
            return Err(ErrorKind::Shape {
                what: "rows for a standard deviation",
                expected: ddof + 1,
                found: rows,
            }
            .into());
        }
        let count = (rows - ddof) as f64;
        let moments = inner.column_moments()?;
        let deviation = |square: &f64| {
            let deviation = T::of((square / count).sqrt());
            let keep = deviation == T::zero() && constant == Constant::KeepScale;
            if keep { T::one() } else { deviation }
        };
        let scale = moments.squares.iter().map(deviation).collect();
        Self::new(inner, scale)
    }
}

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Scaled<A, T> {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        // Y ← α A (D⁻¹X) + γ Y
        let mut scaled = ws.take(x.rows(), x.cols());
        multiply_rows(&self.factors, x, scaled.as_mut());
        self.inner.apply(alpha, scaled.as_ref(), gamma, y, ws)?;
        ws.give(scaled);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }
}

impl<A: LinearOperator<T>, T: Scalar> Scaled<A, T> {
    /// Y ← D⁻¹ (α V) + γ Y where `f(α, γ, V)` computes V ← α V + γ V in the block it is given.
    fn scale_result(
        &self,
        alpha: T,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
        f: impl FnOnce(T, BlockMut<'_, T>, &mut Workspace<T>) -> Result<()>,
    ) -> Result<()> {
        if gamma == T::zero() {
            f(alpha, y.reborrow(), ws)?;
            scale_rows(&self.factors, y);
            return Ok(());
        }
        let mut v = ws.take(y.rows(), y.cols());
        f(T::one(), v.as_mut(), ws)?;
        combine_rows(alpha, &self.factors, v.as_ref(), gamma, y);
        ws.give(v);
        Ok(())
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Scaled<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Y ← α D⁻¹ (Aᵀ X) + γ Y
        self.scale_result(alpha, gamma, y, ws, |alpha, v, ws| {
            self.inner.apply_adjoint(alpha, x, T::zero(), v, ws)
        })
    }

    fn apply_normal(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        between: Between<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_normal(x, &between, &y)?;
        // Z ← W (A (D⁻¹X) − 1mᵀ), then Y ← α D⁻¹ (Aᵀ Z) + γ Y
        let mut scaled = ws.take(x.rows(), x.cols());
        multiply_rows(&self.factors, x, scaled.as_mut());
        self.scale_result(alpha, gamma, y, ws, |alpha, v, ws| {
            self.inner.apply_normal(alpha, scaled.as_ref(), between, T::zero(), v, ws)
        })?;
        ws.give(scaled);
        Ok(())
    }

    fn apply_outer(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        outer: Outer<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        if outer.shift.is_some() {
            return outer_in_two(self, alpha, x, outer, gamma, y, ws);
        }
        self.check_outer(x, &outer, &y)?;
        // A D⁻¹ W D⁻¹ Aᵀ X
        let mut both = ws.take(self.factors.len(), 1);
        multiply_rows(&self.factors, BlockRef::column(&self.factors), both.as_mut());
        if let Some(weights) = outer.weights {
            scale_rows(weights, both.as_mut());
        }
        let weights = both.as_ref();
        let inner = Outer { weights: Some(weights.data()), shift: None };
        self.inner.apply_outer(alpha, x, inner, gamma, y, ws)?;
        ws.give(both);
        Ok(())
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        Some(self.inner.forming(side)?.and_numbers::<T>(2 * self.scale.len()))
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, T>) -> Result<Option<Block<T>>> {
        // (a/s − m) f = (a − m s) (f/s)
        let mut factor = self.factors.clone();
        if let Some(given) = by.factor {
            check_dim("factors", factor.len(), given.len())?;
            factor.iter_mut().zip(given).for_each(|(factor, &f)| *factor *= f);
        }
        let shift = by
            .shift
            .map(|given| given.iter().zip(&self.scale).map(|(&m, &s)| m * s).collect::<Vec<T>>());
        let by = Standardized { shift: shift.as_deref(), factor: Some(&factor), ..by };
        self.inner.form_gram(side, by)
    }
}

impl<A: RowOperator<T>, T: Scalar> RowOperator<T> for Scaled<A, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of x", self.shape().1, x.rows())?;
        let mut scaled = ws.take(x.rows(), x.cols());
        multiply_rows(&self.factors, x, scaled.as_mut());
        self.inner.apply_rows(rows, scaled.as_ref(), z, ws)?;
        ws.give(scaled);
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of y", self.shape().1, y.rows())?;
        check_dim("columns of y", z.cols(), y.cols())?;
        self.scale_result(alpha, gamma, y, ws, |alpha, v, ws| {
            self.inner.apply_rows_adjoint(rows, alpha, z, T::zero(), v, ws)
        })
    }

    /// Not for inner loops: it looks at all n entries of the row.
    fn row_norm_squared(&self, row: usize) -> T {
        (0..self.factors.len()).map(|col| self.entry(row, col).powi(2)).sum()
    }

    fn entry(&self, row: usize, col: usize) -> T {
        self.factors[col] * self.inner.entry(row, col)
    }
}
