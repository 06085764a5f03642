//! [`Shifted`]: a square operator minus a multiple of the identity.

use crate::error::ErrorKind;
use crate::{
    AdjointOperator, Batch, BlockMut, BlockRef, LinearOperator, Result, RowOperator, Scalar,
    StochasticOperator, Workspace, ops,
};

/// $A - c I$ for a square $A$.
///
/// As a stochastic operator each of its N terms carries its share of the shift, $A_i - (c/N) I$,
/// so that their sum is the whole.
///
/// # Cost
/// That of $A$, and $2nk$ flops.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Dense, LinearOperator, Shifted};
/// use ndarray::array;
/// let a = Shifted::new(Dense::new(array![[2.0, 1.0], [1.0, 2.0]])?, 1.0)?;
/// assert_eq!(a.multiply(BlockRef::column(&[1.0, -1.0]))?, Block::column(&[0.0, 0.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shifted<A, T> {
    inner: A,
    shift: T,
}

impl<A: LinearOperator<T>, T: Scalar> Shifted<A, T> {
    /// $A - c I$.
    ///
    /// # Errors
    /// [`ErrorKind::NotSquare`], and [`ErrorKind::Parameter`] when c is not finite.
    pub fn new(inner: A, shift: T) -> Result<Self> {
        let (rows, cols) = inner.shape();
        if rows != cols {
            return Err(ErrorKind::NotSquare { what: "shift", rows, cols }.into());
        }
        if !shift.is_finite() {
            let value = shift.as_f64();
            return Err(
                ErrorKind::Parameter { name: "shift", value, need: "must be finite" }.into()
            );
        }
        Ok(Self { inner, shift })
    }

    /// $c$.
    #[must_use]
    pub fn shift(&self) -> T {
        self.shift
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

impl<A: LinearOperator<T>, T: Scalar> LinearOperator<T> for Shifted<A, T> {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        // Y ← α A X + γ Y, then Y ← Y − α c X
        self.inner.apply(alpha, x, gamma, y.reborrow(), ws)?;
        ops::axpby(-alpha * self.shift, x, T::one(), y)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        self.inner.work() + self.inner.shape().0 as f64
    }
}

impl<A: AdjointOperator<T>, T: Scalar> AdjointOperator<T> for Shifted<A, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        self.inner.apply_adjoint(alpha, x, gamma, y.reborrow(), ws)?;
        ops::axpby(-alpha * self.shift, x, T::one(), y)
    }
}

impl<A: StochasticOperator<T>, T: Scalar> StochasticOperator<T> for Shifted<A, T> {
    /// Those of $A$; one, $-cI$, when $A$ has none.
    fn terms(&self) -> usize {
        self.inner.terms().max(1)
    }

    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        batch.check(self.terms())?;
        if self.inner.terms() == 0 {
            ops::scale(gamma, y.reborrow());
        } else {
            self.inner.apply_terms(batch, alpha, x, gamma, y.reborrow(), ws)?;
        }
        // Σⱼ wⱼ (A_tⱼ − (c/N) I) = Σⱼ wⱼ A_tⱼ − c (Σⱼ wⱼ) / N I
        let total: T = batch.weights.iter().copied().sum();
        let share = self.shift * total / T::of_count(self.terms());
        ops::axpby(-alpha * share, x, T::one(), y)
    }

    /// $\lVert A_i \rVert + \lvert c \rvert / N$, which is at least $\lVert A_i - (c/N) I \rVert$.
    fn term_norm(&self, term: usize) -> T {
        let share = num_traits::Float::abs(self.shift) / T::of_count(self.terms());
        let own = if self.inner.terms() == 0 { T::zero() } else { self.inner.term_norm(term) };
        own + share
    }
}

impl<A: RowOperator<T>, T: Scalar> RowOperator<T> for Shifted<A, T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply_rows(rows, x, z.reborrow(), ws)?;
        for (i, &row) in rows.iter().enumerate() {
            let pairs = z.row_mut(i).iter_mut().zip(x.row(row));
            pairs.for_each(|(z, &x)| *z -= self.shift * x);
        }
        Ok(())
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.inner.apply_rows_adjoint(rows, alpha, z, gamma, y.reborrow(), ws)?;
        for (i, &row) in rows.iter().enumerate() {
            let pairs = y.row_mut(row).iter_mut().zip(z.row(i));
            pairs.for_each(|(y, &z)| *y -= alpha * self.shift * z);
        }
        Ok(())
    }

    fn row_norm_squared(&self, row: usize) -> T {
        // ‖a − c eᵢ‖² = ‖a‖² − aᵢᵢ² + (aᵢᵢ − c)², every part of it at least zero
        let diagonal = self.inner.entry(row, row);
        let rest = self.inner.row_norm_squared(row) - diagonal * diagonal;
        num_traits::Float::max(rest, T::zero()) + (diagonal - self.shift).powi(2)
    }

    fn entry(&self, row: usize, col: usize) -> T {
        let shift = if row == col { self.shift } else { T::zero() };
        self.inner.entry(row, col) - shift
    }
}
