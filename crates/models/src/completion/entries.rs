//! [`Entries`]: a sparse matrix as a sum of its entries.

use favard_operator::{
    Batch, BlockMut, BlockRef, Csr, ErrorKind as OperatorKind, LinearOperator, Result, Scalar,
    StochasticOperator, Workspace, ops,
};

use crate::error::{ErrorKind, Result as ModelResult};

/// The symmetric operator of a matrix B of observed entries, as a sum with one term an entry: what
/// entry sampling draws from.
///
/// - [`Entries::symmetric`]: $c B$ for a symmetric B, with the terms
///   $\frac{c}{2} b_{ij} (e_i e_j^T + e_j e_i^T)$.
/// - [`Entries::dilation`]: $c \begin{pmatrix} 0 & B \\\\ B^T & 0 \end{pmatrix}$ for any B of m × n,
///   with the terms $c\, b_{ij} (e_i e_{m+j}^T + e_{m+j} e_i^T)$. Its spectrum is
///   $\pm c\, \sigma_i(B)$: momentum needs a shift here ([`Shifted`](favard_operator::Shifted)).
///
/// With c = 1/p and entries observed with probability p it is unbiased for the whole matrix.
///
/// # Cost
/// Those of B, and 4 bytes an entry. A batch of s terms is 4sk flops at random places.
///
/// # Example
/// ```
/// use favard_models::Entries;
/// use favard_operator::{Block, BlockRef, Csr, LinearOperator, StochasticOperator};
/// let b = Csr::new((1, 2), vec![0, 2], vec![0, 1], vec![3.0, 4.0])?;
/// let op = Entries::dilation(b, 1.0)?;
/// assert_eq!((op.shape(), op.terms()), ((3, 3), 2));
/// let y = op.multiply(BlockRef::column(&[1.0, 0.0, 0.0]))?;
/// assert_eq!(y, Block::column(&[0.0, 3.0, 4.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Entries<'a, T: Scalar> {
    matrix: Csr<'a, T>,
    /// The row of each entry.
    rows: Vec<u32>,
    /// Where the columns of B start among the coordinates: 0 for a symmetric B, m for a dilation.
    offset: usize,
    /// c.
    scale: T,
}

impl<'a, T: Scalar> Entries<'a, T> {
    /// $c B$ for a symmetric B.
    ///
    /// # Errors
    /// `NotSquare`; [`Asymmetric`](ErrorKind::Asymmetric) with the first entry that differs from
    /// its mirror image; `Parameter` when c is not finite.
    pub fn symmetric(matrix: Csr<'a, T>, scale: T) -> ModelResult<Self> {
        let (rows, cols) = matrix.shape();
        if rows != cols {
            let kind = OperatorKind::NotSquare { what: "symmetric entries", rows, cols };
            return Err(favard_operator::Error::from(kind).into());
        }
        let mirror = matrix.transposed();
        for row in 0..rows {
            let (own, other) = (matrix.row(row), mirror.row(row));
            if own != other {
                let pairs = own.0.iter().zip(own.1).zip(other.0.iter().zip(other.1));
                let place = pairs.take_while(|(a, b)| a == b).count();
                let column = own.0.get(place).or_else(|| other.0.get(place));
                let column = column.map_or(0, |&column| column as usize);
                return Err(ErrorKind::Asymmetric { row, column }.into());
            }
        }
        Self::new(matrix, 0, scale)
    }

    /// $c$ times the dilation of B.
    ///
    /// # Errors
    /// `Index` when B has more than $2^{32}$ rows; `Parameter` when c is not finite.
    pub fn dilation(matrix: Csr<'a, T>, scale: T) -> ModelResult<Self> {
        let offset = matrix.shape().0;
        Self::new(matrix, offset, scale)
    }

    fn new(matrix: Csr<'a, T>, offset: usize, scale: T) -> ModelResult<Self> {
        if !scale.is_finite() {
            let (name, value) = ("scale of the entries", scale.as_f64());
            return Err(ErrorKind::Parameter { name, value, need: "must be finite" }.into());
        }
        let mut rows = Vec::with_capacity(matrix.entries());
        for row in 0..matrix.shape().0 {
            let number = u32::try_from(row).map_err(|_| {
                let (what, bound) = ("rows of the entries", 1 << 32);
                let kind = OperatorKind::Index { what, position: row, index: row as u64, bound };
                ErrorKind::from(favard_operator::Error::from(kind))
            })?;
            rows.resize(matrix.pointers()[row + 1], number);
        }
        Ok(Self { matrix, rows, offset, scale })
    }

    /// The factor of a single term: the diagonal of a symmetric sum is met twice.
    fn share(&self) -> T {
        if self.offset == 0 { self.scale * T::of(0.5) } else { self.scale }
    }

    /// $s_{op} = \lVert \mathbb{E} N^2 \rVert$ of one uniformly drawn term, without the
    /// $-A^2$ that it leaves out: $N c^2 \max_i \lVert b_i \rVert^2$ over rows and columns, halved
    /// for a symmetric B.
    pub(super) fn noise(&self) -> f64 {
        let mut sums = vec![0.0_f64; self.shape().0];
        for ((&row, &column), value) in
            self.rows.iter().zip(self.matrix.columns()).zip(self.matrix.values())
        {
            let square = (self.share() * *value).as_f64().powi(2);
            sums[row as usize] += square;
            sums[self.offset + column as usize] += square;
        }
        self.terms() as f64 * sums.into_iter().fold(0.0, f64::max)
    }
}

impl<T: Scalar> LinearOperator<T> for Entries<'_, T> {
    fn shape(&self) -> (usize, usize) {
        let dim = self.offset + self.matrix.shape().1;
        (dim, dim)
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        use favard_operator::AdjointOperator;
        self.check_apply(x, &y)?;
        let (alpha, m, dim) = (alpha * self.scale, self.offset, x.rows());
        if m == 0 {
            return self.matrix.apply(alpha, x, gamma, y, ws);
        }
        // y₁ ← α c B x₂ + γ y₁, y₂ ← α c Bᵀ x₁ + γ y₂
        let (top, bottom) = (x.rows_range(0..m), x.rows_range(m..dim));
        self.matrix.apply(alpha, bottom, gamma, y.reborrow().rows_range(0..m), ws)?;
        self.matrix.apply_adjoint(alpha, top, gamma, y.rows_range(m..dim), ws)
    }

    fn is_infallible(&self) -> bool {
        true
    }
}

impl<T: Scalar> StochasticOperator<T> for Entries<'_, T> {
    fn terms(&self) -> usize {
        self.matrix.entries()
    }

    fn apply_terms(
        &self,
        batch: &Batch<T>,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        _: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        batch.check(self.terms())?;
        ops::scale(gamma, y.reborrow());
        let share = alpha * self.share();
        for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
            let value = share * weight * self.matrix.values()[term];
            let i = self.rows[term] as usize;
            let j = self.offset + self.matrix.columns()[term] as usize;
            // y_i ← y_i + v x_j, y_j ← y_j + v x_i
            y.row_mut(i).iter_mut().zip(x.row(j)).for_each(|(y, &x)| *y += value * x);
            y.row_mut(j).iter_mut().zip(x.row(i)).for_each(|(y, &x)| *y += value * x);
        }
        Ok(())
    }

    fn term_norm(&self, term: usize) -> T {
        (self.share() * self.matrix.values()[term]).abs()
    }
}
