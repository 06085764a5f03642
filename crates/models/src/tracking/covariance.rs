//! [`BatchCovariance`]: the covariance of a batch of rows, some entries of which are missing.

use favard_operator::{
    AdjointOperator, Between, BlockMut, BlockRef, Csr, Dense, ErrorKind as OperatorKind,
    LinearOperator, Result, Scalar, Workspace,
};

use crate::error::{ErrorKind, Result as ModelResult};

/// An unbiased estimate of $\mathbb{E}\, v v^T$ from s rows whose entries were seen with
/// probability p each:
///
/// $$ A = \frac{1}{s p^2} V^T V - \mathrm{diag}\Bigl(\frac{1}{s} \Bigl(\frac{1}{p^2} -
///    \frac{1}{p}\Bigr) \sum_i v_{ij}^2 \Bigr), $$
///
/// with zeros in V where nothing was seen: off-diagonal entries are weighted by $1/p^2$, diagonal
/// ones by $1/p$. With p = 1 it is $V^T V / s$. For p < 1 it may have negative eigenvalues.
///
/// # Cost
/// A copy of the rows; a product is one pass over them and nk flops for the diagonal.
///
/// # Example
/// ```
/// use favard_models::BatchCovariance;
/// use favard_operator::{Block, BlockRef, LinearOperator};
/// let rows = Block::from_array(ndarray::array![[2.0, f64::NAN], [4.0, 6.0]].view());
/// let a = BatchCovariance::with_nan(rows.as_ref(), Some(0.75))?;
/// let y = a.multiply(BlockRef::column(&[1.0, 0.0]))?;
/// assert!((y.row(0)[0] - 10.0_f64 / 0.75).abs() < 1e-13); // (4 + 16)/2 over p
/// assert!((y.row(1)[0] - 12.0_f64 / 0.75 / 0.75).abs() < 1e-13); // 24/2 over p²
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchCovariance<T: Scalar> {
    rows: Rows<T>,
    /// 1/(s p²).
    scale: T,
    /// What the diagonal has too much; empty when nothing is missing.
    excess: Vec<T>,
    /// The trace, up to what the diagonal has too much.
    size: T,
}

#[derive(Debug, Clone)]
enum Rows<T: Scalar> {
    Dense(Dense<'static, T>),
    Sparse(Csr<'static, T>),
}

impl<T: Scalar> BatchCovariance<T> {
    /// `Ok` when a power step after another one is a number: the pair of a tracker holds the last two
    /// powers of what a covariance does to a vector of length one.
    ///
    /// # Errors
    /// [`Scale`](ErrorKind::Scale) when the square of its size is below the smallest number.
    pub(super) fn check_power(&self) -> ModelResult<()> {
        if self.size < T::min_positive_value().sqrt() {
            let (sum, verb) = (self.size.as_f64(), "multiply");
            return Err(ErrorKind::Scale { sum, verb }.into());
        }
        Ok(())
    }

    /// Of complete rows.
    ///
    /// # Errors
    /// `NonFinite` with the first entry that is not finite; `Parameter` when all are zero.
    pub fn dense(rows: BlockRef<'_, T>) -> ModelResult<Self> {
        let dense = Dense::new(rows.into_view().to_owned())?;
        Self::new(Rows::Dense(dense), rows.shape().0, 1.0, squares(rows))
    }

    /// Of rows in which NaN means missing; p is the share that is not, unless it is given.
    ///
    /// # Errors
    /// `NonFinite` with the first infinite entry; `Parameter` when all entries are zero or missing,
    /// or p is not in (0, 1].
    pub fn with_nan(rows: BlockRef<'_, T>, probability: Option<f64>) -> ModelResult<Self> {
        let mut array = rows.into_view().to_owned();
        let mut seen = 0_usize;
        array.map_inplace(|entry| {
            if entry.is_nan() {
                *entry = T::zero();
            } else {
                seen += 1;
            }
        });
        let share = seen as f64 / array.len().max(1) as f64;
        let dense = Dense::new(array)?;
        Self::new(Rows::Dense(dense), rows.rows(), probability.unwrap_or(share), squares(rows))
    }

    /// Of sparse rows whose entries that are not stored are zero.
    ///
    /// # Errors
    /// `Parameter` when all are zero.
    pub fn sparse(rows: &Csr<'_, T>) -> ModelResult<Self> {
        Self::new(Rows::Sparse(owned(rows)?), rows.shape().0, 1.0, sparse_squares(rows))
    }

    /// Of sparse rows whose entries that are not stored are missing.
    ///
    /// # Errors
    /// `Parameter` when all entries are zero or missing, or p is not in (0, 1].
    pub fn observed(rows: &Csr<'_, T>, probability: Option<f64>) -> ModelResult<Self> {
        let (count, cols) = rows.shape();
        let share = rows.entries() as f64 / (count as f64 * cols as f64).max(1.0);
        let probability = probability.unwrap_or(share);
        Self::new(Rows::Sparse(owned(rows)?), count, probability, sparse_squares(rows))
    }

    /// From Σ_i v_ij² of each column.
    fn new(rows: Rows<T>, count: usize, p: f64, squares: Vec<f64>) -> ModelResult<Self> {
        let total: f64 = squares.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            let name = "sum of the squares of the batch";
            let need = "must be above 0 and finite: there is nothing to learn from it";
            return Err(ErrorKind::Parameter { name, value: total, need }.into());
        }
        if !(p > 0.0 && p <= 1.0) {
            let (name, need) = ("probability of an entry", "must be above 0 and at most 1");
            return Err(ErrorKind::Parameter { name, value: p, need }.into());
        }
        let share = (count as f64).recip();
        // The trace of VᵀV/(s p²), which bounds what a product with it can be.
        let size = T::of(share / (p * p) * total);
        if !size.is_finite() {
            let (name, value) = ("mean square of the rows of the batch", share / (p * p) * total);
            let need = "is beyond the largest number of the tracker's precision";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let too_much = share * (1.0 / (p * p) - 1.0 / p);
        let excess = if p < 1.0 {
            squares.into_iter().map(|square| T::of(too_much * square)).collect()
        } else {
            Vec::new()
        };
        Ok(Self { rows, scale: T::of(share / (p * p)), excess, size })
    }

    fn inner(&self) -> &dyn AdjointOperator<T> {
        match &self.rows {
            Rows::Dense(rows) => rows,
            Rows::Sparse(rows) => rows,
        }
    }
}

/// Σ_i v_ij² over what is not NaN.
fn squares<T: Scalar>(rows: BlockRef<'_, T>) -> Vec<f64> {
    let mut sums = vec![0.0; rows.cols()];
    for i in 0..rows.rows() {
        for (sum, value) in sums.iter_mut().zip(rows.row(i)) {
            *sum += if value.is_nan() { 0.0 } else { value.as_f64().powi(2) };
        }
    }
    sums
}

fn sparse_squares<T: Scalar>(rows: &Csr<'_, T>) -> Vec<f64> {
    let mut sums = vec![0.0; rows.shape().1];
    for (&column, value) in rows.columns().iter().zip(rows.values()) {
        sums[column as usize] += value.as_f64().powi(2);
    }
    sums
}

fn owned<T: Scalar>(rows: &Csr<'_, T>) -> Result<Csr<'static, T>> {
    let (pointers, columns) = (rows.pointers().to_vec(), rows.columns().to_vec());
    Csr::new(rows.shape(), pointers, columns, rows.values().to_vec())
}

impl<T: Scalar> LinearOperator<T> for BatchCovariance<T> {
    fn shape(&self) -> (usize, usize) {
        let dim = self.inner().shape().1;
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
        self.check_apply(x, &y)?;
        // y ← α/(s p²) Vᵀ(V x) + γ y, then y_j ← y_j − α d_j x_j
        let plain = Between::default();
        self.inner().apply_normal(alpha * self.scale, x, plain, gamma, y.reborrow(), ws)?;
        for (j, &excess) in self.excess.iter().enumerate() {
            let factor = alpha * excess;
            y.row_mut(j).iter_mut().zip(x.row(j)).for_each(|(y, &x)| *y -= factor * x);
        }
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.inner().is_infallible()
    }
}

/// `Err` with the batch's shape when it has no rows.
pub(super) fn check_rows(rows: usize, cols: usize) -> ModelResult<()> {
    if rows > 0 {
        return Ok(());
    }
    let kind = OperatorKind::Empty { what: "batch", rows, cols };
    Err(favard_operator::Error::from(kind).into())
}
