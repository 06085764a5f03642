//! [`Gram`]: the operator $s A^T A$ without the matrix.

use ndarray::Array2;

use crate::adjoint::{Side, Standardized};
use crate::error::ErrorKind;
use crate::linear::{by_products, slab_columns};
use crate::{
    AdjointOperator, Batch, Between, Block, BlockMut, BlockRef, LinearOperator, Result,
    RowOperator, Scalar, StochasticOperator, Workspace, ops,
};

/// The Gram operator $s A^T A$ of an operator A, with $s = 1 / m$ for its m rows unless
/// [`Gram::with_scale`] says otherwise.
///
/// The n × n matrix is never formed: a product is one [`AdjointOperator::apply_normal`], which
/// matrices stored by rows do in one pass over memory. It costs two products with A and, for a
/// sparse A, scratch of a few thousand rows of the block.
///
/// When A gives its rows, the operator is a sum of as many terms, $s A^T A = \sum_i s\, a_i a_i^T$:
/// the stochastic PCA of a data matrix draws batches of them. The other Gram operator,
/// $s A A^T$, is the Gram operator of the adjoint of A.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Csr, Gram, LinearOperator};
/// let a = Csr::new((2, 2), vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?;
/// let gram = Gram::new(a);
/// // AᵀA / 2 = ( 1 2 ; 2 13 ) / 2
/// assert_eq!(gram.multiply(BlockRef::column(&[1.0, 0.0]))?, Block::column(&[0.5, 1.0]));
/// assert_eq!(gram.to_dense()?[[1, 1]], 6.5);
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gram<A> {
    inner: A,
    scale: f64,
}

impl<A> Gram<A> {
    /// $A^T A / m$ for an operator of m rows (zero when there is none).
    #[must_use]
    pub fn new<T: Scalar>(inner: A) -> Self
    where
        A: AdjointOperator<T>,
    {
        // An operator without rows has the Gram operator zero, whatever the scale.
        let rows = inner.shape().0.max(1);
        Self { inner, scale: (rows as f64).recip() }
    }

    /// $s A^T A$.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when the scale is not finite.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{Csr, Gram};
    /// let a = Csr::new((2, 1), vec![0, 1, 2], vec![0, 0], vec![1.0, 1.0])?;
    /// assert_eq!(Gram::new(a.view()).with_scale(1.0)?.to_dense()?[[0, 0]], 2.0);
    /// assert!(Gram::new(a).with_scale(f64::NAN).is_err());
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    pub fn with_scale(mut self, scale: f64) -> Result<Self> {
        if !scale.is_finite() {
            let name = "scale of a Gram operator";
            let need = "must be finite";
            return Err(ErrorKind::Parameter { name, value: scale, need }.into());
        }
        self.scale = scale;
        Ok(self)
    }

    /// The scale s.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The operator A.
    #[must_use]
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// The operator A, back.
    #[must_use]
    pub fn into_inner(self) -> A {
        self.inner
    }

    /// The n × n matrix itself, formed at the speed of a matrix product for dense A. For those who
    /// want it.
    ///
    /// # Errors
    /// Those of the operator.
    pub fn to_dense<T: Scalar>(&self) -> Result<Array2<T>>
    where
        A: AdjointOperator<T>,
    {
        Ok(self.to_block()?.view().to_owned())
    }
}

impl<T: Scalar, A: AdjointOperator<T>> LinearOperator<T> for Gram<A> {
    fn shape(&self) -> (usize, usize) {
        let dim = self.inner.shape().1;
        (dim, dim)
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
        // Y ← (α s) Aᵀ (A X) + γ Y
        self.inner.apply_normal(alpha * T::of(self.scale), x, Between::default(), gamma, y, ws)
    }

    fn is_infallible(&self) -> bool {
        self.inner.is_infallible()
    }

    fn work(&self) -> f64 {
        2.0 * self.inner.work()
    }

    fn to_block(&self) -> Result<Block<T>> {
        if let Some(mut matrix) = self.inner.form_gram(Side::Columns, Standardized::default())? {
            ops::scale(T::of(self.scale), matrix.as_mut());
            return Ok(matrix);
        }
        by_products(self)
    }

    fn products_to_form(&self) -> u64 {
        let formed = self.inner.forming(Side::Columns).is_some();
        if formed { 1 } else { self.shape().1.div_ceil(slab_columns::<T>()) as u64 }
    }
}

/// $(s A^T A)^T = s A^T A$.
impl<T: Scalar, A: AdjointOperator<T>> AdjointOperator<T> for Gram<A> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.apply(alpha, x, gamma, y, ws)
    }
}

/// The terms are the rows: $A_i = s\, a_i a_i^T$, of norm $|s| \lVert a_i \rVert^2$.
impl<T: Scalar, A: RowOperator<T>> StochasticOperator<T> for Gram<A> {
    fn terms(&self) -> usize {
        self.inner.shape().0
    }

    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        batch.check(self.terms())?;
        let mut z = ws.take(batch.len(), x.cols());
        // zⱼ ← wⱼ a_{tⱼ} X
        self.inner.apply_rows(&batch.terms, x, z.as_mut(), ws)?;
        Between::transform(Some(&batch.weights), None, z.as_mut(), 0, None);
        // Y ← (α s) A_Sᵀ Z + γ Y
        let alpha = alpha * T::of(self.scale);
        self.inner.apply_rows_adjoint(&batch.terms, alpha, z.as_ref(), gamma, y, ws)?;
        ws.give(z);
        Ok(())
    }

    fn term_norm(&self, term: usize) -> T {
        T::of(self.scale.abs()) * self.inner.row_norm_squared(term)
    }
}
