//! [`Rounding`]: how far rounding may take a product from its exact value.

use favard_operator::{Batch, Block, LinearOperator, Scalar, StochasticOperator, Workspace};
use ndarray::{Array1, Array2, Axis};

use crate::case::{Case, Verdict};
use crate::view::Terms;

/// Entries up to which an operator is measured column by column; beyond, by random probes.
const EXPLICIT: usize = 1 << 16;

/// Probes for a large operator.
const PROBES: usize = 16;

/// A bound on the rounding error of a product: the computed $\widehat{A x}$ satisfies
///
/// $$ |\widehat{A x} - A x| \le c\, \varepsilon\, B |x| $$
///
/// entry by entry, with $c$ the number of roundings that an entry goes through and $B \ge |A|$ the
/// sizes of the numbers that go through them.
///
/// There are two ways to know $B$:
/// - **measured** ([`Rounding::measure`], what the `check_*` functions use): every entry of $B|x|$
///   is taken to be $\sqrt{\min(m, n)}\,\lVert A \rVert_F \lVert x \rVert_2$. The norm is exact up
///   to 2¹⁶ entries; beyond, it comes from 16 random sign vectors s with
///   $\mathbb{E}\lVert A s\rVert^2 = \lVert A\rVert_F^2$, times 4, which is too small with a
///   probability below 10⁻⁶. The square root is what a Gram product can lose by cancellation:
///   $\lVert |X|^T |X| \rVert_F \le \lVert X \rVert_F^2 \le \sqrt{\min}\, \lVert X^T X \rVert_F$.
/// - **given** ([`Rounding::majorant`]): $B$ entry by entry, for an operator that subtracts numbers
///   larger than its own entries. The centred matrix $X - \mathbf{1}\mu^T$ has
///   $B = |X| + \mathbf{1}|\mu|^T$, however small the difference.
///
/// The count $c$ is $m + n + 8$ unless it is set: an inner product of length n is n roundings
/// (Higham 2002, section 3.1), a product through a factor of the matrix and back is m + n.
///
/// # Example
/// ```
/// use favard_testkit::Rounding;
/// use ndarray::array;
/// let rounding = Rounding::majorant(array![[3.0, 1.0]]).with_count(4);
/// assert_eq!(rounding.unit::<f64>(), 4.0 * f64::EPSILON);
/// ```
#[derive(Debug, Clone)]
pub struct Rounding {
    shape: (usize, usize),
    count: usize,
    size: Size,
}

#[derive(Debug, Clone)]
enum Size {
    Norm(f64),
    Majorant(Array2<f64>),
}

fn frobenius(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn column_norms(x: &Array2<f64>) -> Array1<f64> {
    x.map_axis(Axis(0), |column| column.iter().map(|v| v * v).sum::<f64>().sqrt())
}

impl Rounding {
    /// The bound from the operator's own norm. Costs n products of one column, or 16 when the
    /// operator is large.
    ///
    /// # Errors
    /// When a product fails or is not finite.
    pub fn measure<T: Scalar, A: LinearOperator<T> + ?Sized>(op: &A) -> Verdict<Self> {
        let (rows, cols) = op.shape();
        let spread = (rows.min(cols) as f64).sqrt();
        Ok(Self::of_norm(op.shape(), spread * norm(op)?))
    }

    /// The bound from sizes that the caller knows.
    #[must_use]
    pub fn majorant(sizes: Array2<f64>) -> Self {
        let shape = sizes.dim();
        Self { shape, count: default_count(shape), size: Size::Majorant(sizes) }
    }

    fn of_norm(shape: (usize, usize), norm: f64) -> Self {
        Self { shape, count: default_count(shape), size: Size::Norm(norm) }
    }

    /// The bound of a sum of terms: the sizes of the terms add up, even when the terms cancel.
    ///
    /// # Errors
    /// When a product fails or is not finite.
    pub fn measure_terms<T: Scalar, A: StochasticOperator<T> + ?Sized>(op: &A) -> Verdict<Self> {
        let mut total = norm(op)?;
        for term in 0..op.terms() {
            let batch = Batch { terms: vec![term], weights: vec![T::one()] };
            total += norm(&Terms { op, batch: &batch })?;
        }
        let (rows, cols) = op.shape();
        let spread = (rows.min(cols) as f64).sqrt();
        let rounding = Self::of_norm(op.shape(), spread * total);
        let count = rounding.count + op.terms();
        Ok(rounding.with_count(count))
    }

    /// Another number of roundings.
    #[must_use]
    pub fn with_count(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// $c\,\varepsilon$.
    #[must_use]
    pub fn unit<T: Scalar>(&self) -> f64 {
        self.count as f64 * <T as Scalar>::EPSILON.as_f64()
    }

    /// $B |x|$.
    pub(crate) fn image(&self, x: &Array2<f64>) -> Array2<f64> {
        match &self.size {
            Size::Norm(norm) => {
                let norms = column_norms(x);
                Array2::from_shape_fn((self.shape.0, x.ncols()), |(_, j)| norm * norms[j])
            }
            Size::Majorant(sizes) => sizes.dot(&x.mapv(f64::abs)),
        }
    }

    /// $|y|^T B |x|$, column by column.
    pub(crate) fn pairing(&self, x: &Array2<f64>, y: &Array2<f64>) -> Array1<f64> {
        match &self.size {
            Size::Norm(norm) => column_norms(x) * column_norms(y) * *norm,
            Size::Majorant(_) => (self.image(x) * y.mapv(f64::abs)).sum_axis(Axis(0)),
        }
    }

    /// $B_{ij}$.
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        match &self.size {
            Size::Norm(norm) => *norm,
            Size::Majorant(sizes) => sizes[[i, j]],
        }
    }

    /// $\sum_j B_{ij}^2$.
    pub(crate) fn row_squared(&self, i: usize) -> f64 {
        match &self.size {
            Size::Norm(norm) => norm * norm,
            Size::Majorant(sizes) => sizes.row(i).iter().map(|v| v * v).sum(),
        }
    }

    /// The bound of $A^T$.
    #[must_use]
    pub fn adjoint(&self) -> Self {
        let size = match &self.size {
            Size::Norm(norm) => Size::Norm(*norm),
            Size::Majorant(sizes) => Size::Majorant(sizes.t().to_owned()),
        };
        Self { shape: (self.shape.1, self.shape.0), count: self.count, size }
    }

    /// The bound of $A^T A$.
    #[must_use]
    pub fn normal(&self) -> Self {
        let size = match &self.size {
            Size::Norm(norm) => Size::Norm(norm * norm),
            Size::Majorant(sizes) => Size::Majorant(sizes.t().dot(sizes)),
        };
        Self { shape: (self.shape.1, self.shape.1), count: 2 * self.count, size }
    }

    /// The bound of the rows $A_S$.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let size = match &self.size {
            Size::Norm(norm) => Size::Norm(*norm * (rows.len() as f64).sqrt()),
            Size::Majorant(sizes) => Size::Majorant(sizes.select(Axis(0), rows)),
        };
        Self { shape: (rows.len(), self.shape.1), count: self.count + rows.len(), size }
    }

    /// The bound of $\sum_j w_j A_{t_j}$, each term at most as large as the whole sum of sizes.
    pub(crate) fn weighted<T: Scalar>(&self, batch: &Batch<T>) -> Self {
        let total: f64 = batch.weights.iter().map(|w| w.as_f64().abs()).sum();
        let size = match &self.size {
            Size::Norm(norm) => Size::Norm(norm * total),
            Size::Majorant(sizes) => Size::Majorant(sizes * total),
        };
        Self { shape: self.shape, count: self.count + batch.len(), size }
    }
}

fn default_count((rows, cols): (usize, usize)) -> usize {
    rows + cols + 8
}

/// Whether an operator is measured column by column.
pub(crate) fn is_small((rows, cols): (usize, usize)) -> bool {
    rows.saturating_mul(cols) <= EXPLICIT
}

/// The operator's matrix, from its products with the columns of the identity.
///
/// # Errors
/// When a product fails.
///
/// # Example
/// ```
/// use favard_operator::Dense;
/// use favard_testkit::explicit;
/// use ndarray::array;
/// let matrix = array![[1.0, 2.0, 0.5], [3.0, 4.0, 0.25]];
/// assert_eq!(explicit(&Dense::new(matrix.clone())?)?, matrix);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explicit<T: Scalar, A: LinearOperator<T> + ?Sized>(op: &A) -> Verdict<Array2<f64>> {
    let (rows, cols) = op.shape();
    let width = T::LANE;
    let mut matrix = Array2::zeros((rows, cols));
    let mut ws = Workspace::new();
    for first in (0..cols).step_by(width) {
        let width = width.min(cols - first);
        let unit = |i, j| if i == first + j { T::one() } else { T::zero() };
        let x = Block::from_fn(cols, width, unit);
        let mut y = Block::zeros(rows, width);
        let case = Case::new("explicit", op.shape(), width);
        case.run(|| op.apply(T::one(), x.as_ref(), T::zero(), y.as_mut(), &mut ws))?;
        for i in 0..rows {
            for j in 0..width {
                matrix[[i, first + j]] = y.row(i)[j].as_f64();
            }
        }
    }
    Ok(matrix)
}

/// ‖A‖_F, or an upper estimate of it for a large operator.
fn norm<T: Scalar, A: LinearOperator<T> + ?Sized>(op: &A) -> Verdict<f64> {
    let (_, cols) = op.shape();
    let case = Case::new("explicit", op.shape(), PROBES).with("norm");
    let norm = if is_small(op.shape()) {
        frobenius(&explicit(op)?)
    } else {
        let normal = Block::<T>::gaussian(cols, PROBES, 0x5eed);
        let signs = Block::from_fn(cols, PROBES, |i, j| normal.row(i)[j].signum());
        let image = case.run(|| op.multiply(signs.as_ref()))?;
        4.0 * frobenius(&crate::case::values(image.as_ref())) / (PROBES as f64).sqrt()
    };
    case.near_one((0, 0), norm, norm, 0.0)?;
    Ok(norm)
}
