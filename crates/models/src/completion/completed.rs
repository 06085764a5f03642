//! [`Completed`]: a matrix of low rank, with its proof.

use favard_engine::Info;
use favard_operator::{Block, Csr, Scalar};

use super::factors::Thin;
use crate::error::Result;
use crate::local::multiplied;

/// What [`MatrixCompletion`](super::MatrixCompletion) found: $\hat M = U \mathrm{diag}(s) V^T$ with
/// orthonormal U (m × r) and V (n × r).
///
/// # Example
/// ```
/// use favard_models::MatrixCompletion;
/// // The multiplication table up to 8, one entry in five unknown: rank 1.
/// let known = |i: usize, j: usize| (i + 2 * j) % 5 != 0;
/// let entries: Vec<_> = (0..8)
///     .flat_map(|i| (0..8).map(move |j| (i, j)))
///     .filter(|&(i, j)| known(i, j))
///     .map(|(i, j)| (i, j, ((i + 1) * (j + 1)) as f64))
///     .collect();
/// let observed = MatrixCompletion::entries((8, 8), &entries)?;
/// let found = MatrixCompletion::new(1).solve(&observed)?;
/// assert!(found.is_certified());
/// assert!((found.predict(3, 1)? - 8.0).abs() < 1e-5); // 4 × 2, which was not known
/// assert_eq!(found.predict_row(0)?.len(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Completed<T> {
    pub(super) thin: Thin<T>,
    pub(super) symmetric: bool,
    pub(super) residual: f64,
    pub(super) held_out: Option<(f64, usize)>,
    pub(super) undetermined: (Vec<usize>, Vec<usize>),
    pub(super) tolerance: f64,
    pub(super) reason: String,
    pub(super) spectral: Info<T>,
    pub(super) refinement: Info<T>,
}

impl<T: Scalar> Completed<T> {
    /// (m, n).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.thin.left.rows(), self.thin.right.rows())
    }

    /// U, m × r, orthonormal.
    #[must_use]
    pub fn left(&self) -> &Block<T> {
        &self.thin.left
    }

    /// The singular values of the completed matrix, descending.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.thin.values
    }

    /// V, n × r, orthonormal.
    #[must_use]
    pub fn right(&self) -> &Block<T> {
        &self.thin.right
    }

    /// $\hat M_{ij}$, at 3r flops. A symmetric completion gives the same for (j, i).
    ///
    /// # Errors
    /// `Index` when the position is outside of the matrix.
    pub fn predict(&self, row: usize, column: usize) -> Result<T> {
        self.check(row, column)?;
        Ok(self.entry(row, column))
    }

    /// Row i of $\hat M$: n numbers, at 3nr flops.
    ///
    /// # Errors
    /// `Index` when there is no such row.
    pub fn predict_row(&self, row: usize) -> Result<Vec<T>> {
        self.check(row, 0)?;
        Ok((0..self.shape().1).map(|column| self.entry(row, column)).collect())
    }

    /// Of entries that were multiplied by a power of two: the singular values over it.
    pub(super) fn divided(mut self, factor: T) -> Self {
        self.thin.values.iter_mut().for_each(|value| *value /= factor);
        self.reason.push_str(&multiplied("the entries", factor));
        self.spectral.reason.clone_from(&self.reason);
        self
    }

    fn check(&self, row: usize, column: usize) -> Result<()> {
        let (rows, cols) = self.shape();
        for (what, index, bound) in [("row", row, rows), ("column", column, cols)] {
            if index >= bound {
                let (index, bound) = (index as u64, bound as u64);
                let kind = favard_operator::ErrorKind::Index { what, position: 0, index, bound };
                return Err(favard_operator::Error::from(kind).into());
            }
        }
        Ok(())
    }

    fn entry(&self, row: usize, column: usize) -> T {
        let Thin { left, values, right } = &self.thin;
        // Σ_c u_ic s_c v_jc
        let of = |i: usize, j: usize| -> T {
            let pairs = left.row(i).iter().zip(right.row(j));
            pairs.zip(values).map(|((&u, &v), &s)| u * s * v).sum()
        };
        if self.symmetric {
            (of(row, column) + of(column, row)) * T::of(0.5)
        } else {
            of(row, column)
        }
    }

    /// $\lVert P_\Omega(\hat M - M) \rVert_F / \lVert P_\Omega(M) \rVert_F$ over the entries that were
    /// fitted, recomputed from the answer.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// The same over the entries that were kept aside, which nothing was fitted to; `None` when
    /// none were.
    #[must_use]
    pub fn held_out_error(&self) -> Option<f64> {
        self.held_out.map(|(error, _)| error)
    }

    /// How many entries were kept aside.
    #[must_use]
    pub fn held_out_entries(&self) -> usize {
        self.held_out.map_or(0, |(_, count)| count)
    }

    /// The rows and columns with fewer than r fitted entries: their factors are not determined, and
    /// predictions there are the smallest that fit (zero where there is no entry at all).
    #[must_use]
    pub fn undetermined(&self) -> (&[usize], &[usize]) {
        (&self.undetermined.0, &self.undetermined.1)
    }

    /// Whether the residual is what was asked for. With noisy entries it is not: the refinement
    /// then ends where no direction improves the fit, and the held-out error says how good it is.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.residual <= self.tolerance
    }

    /// How the spectral stage was done, and why.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.reason
    }

    /// The spectral stage: why it stopped, what it cost, $\sigma_i^2$ and their residuals.
    #[must_use]
    pub fn spectral(&self) -> &Info<T> {
        &self.spectral
    }

    /// The refinement: why it stopped and what it cost. `ritz` has the two ends of the spectrum of
    /// the Hessian, `residuals` the certificate.
    #[must_use]
    pub fn refinement(&self) -> &Info<T> {
        &self.refinement
    }

    /// Relative error of the entries (i, j, v) of some list.
    pub(super) fn error_on(&self, entries: &[(usize, usize, T)]) -> Option<f64> {
        let (mut over, mut under) = (0.0, 0.0);
        for &(row, column, value) in entries {
            over += (self.entry(row, column) - value).as_f64().powi(2);
            under += value.as_f64().powi(2);
        }
        (under > 0.0).then(|| (over / under).sqrt())
    }
}

/// Rows of a sparse matrix with fewer than `rank` entries.
pub(super) fn thin_rows<T: Scalar>(matrix: &Csr<'_, T>, rank: usize) -> Vec<usize> {
    (0..matrix.shape().0).filter(|&row| matrix.row(row).0.len() < rank).collect()
}
