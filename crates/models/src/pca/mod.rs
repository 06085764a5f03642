//! [`Pca`]: principal components of dense or sparse data.

mod fitted;
mod solver;

pub use fitted::PcaFit;
pub use solver::Solver;

use favard_operator::{
    Adjoint, AdjointOperator, Block, Centered, ColumnMoments, Gram, Orthonormalizer, Scalar,
    Scaled, Workspace,
};

use crate::Eigen;
use crate::error::{ErrorKind, Result};

/// Principal component analysis: the eigenpairs of the covariance
/// $C = \frac{1}{n-1} (X - \mathbf{1}\mu^T)^T (X - \mathbf{1}\mu^T)$, with the columns divided by
/// their standard deviations when [`scale`](Self::scale) asks for it.
///
/// Centring and scaling are implicit: a sparse matrix stays sparse, and a block product with the
/// covariance is one pass over the data. The smaller of $X^T X$ and $X X^T$ is iterated on. The
/// answer comes with residuals recomputed from the operator, and is the same to the bit on any
/// number of threads.
///
/// Signs are fixed by a rule on the components alone: in each, the entry of largest absolute value
/// is positive, the lowest index winning ties. Components come in descending order of variance.
///
/// # Example
/// ```
/// use favard_models::Pca;
/// use favard_operator::Csr;
///
/// // Six documents over four words, sparse.
/// let mut counts = sprs::TriMat::new((6, 4));
/// for (i, j, v) in [(0, 0, 3.0), (0, 1, 2.0), (1, 0, 2.0), (2, 1, 4.0), (3, 2, 5.0), (4, 2, 4.0),
///     (4, 3, 3.0), (5, 3, 6.0)] {
///     counts.add_triplet(i, j, v);
/// }
/// let x = Csr::from_sprs(counts.to_csr::<usize>())?;
/// let fit = Pca::new(2).fit(&x)?;
/// assert!(fit.is_certified());
/// assert!(fit.explained_variance_ratio().iter().sum::<f64>() <= 1.0);
/// let scores = fit.transform(&x)?;
/// assert_eq!(scores.shape(), (6, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    components: usize,
    center: bool,
    scale: bool,
    solver: Solver,
    tolerance: f64,
    products: u64,
    seed: u64,
}

impl Pca {
    /// For the `components` directions of largest variance.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self {
            components,
            center: true,
            scale: false,
            solver: Solver::Auto,
            tolerance: 1e-6,
            products: 1000,
            seed: 1,
        }
    }

    /// Whether the mean is subtracted; yes unless said otherwise. Without it the result is the
    /// truncated singular value decomposition of the data as it is.
    #[must_use]
    pub fn center(self, center: bool) -> Self {
        Self { center, ..self }
    }

    /// Whether columns are divided by their standard deviation; no unless said otherwise. A
    /// constant column has none and is left as it is: centred, it is zero.
    #[must_use]
    pub fn scale(self, scale: bool) -> Self {
        Self { scale, ..self }
    }

    /// Which method; [`Solver::Auto`] unless said otherwise.
    #[must_use]
    pub fn solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// The residual $\lVert C v - \lambda v \rVert$ asked for, relative to the largest eigenvalue;
    /// 1e-6 unless said otherwise.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Block products at most; 1000 unless said otherwise.
    #[must_use]
    pub fn products(self, products: u64) -> Self {
        Self { products, ..self }
    }

    /// The seed of the start.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Fits the components to the rows of `x`.
    ///
    /// # Errors
    /// When there are fewer than two rows or no columns, when k is 0 or larger than either, when a
    /// parameter is out of range, or when the data cannot be read. A budget that runs out is no
    /// error: see [`PcaFit::info`].
    pub fn fit<T, X>(&self, x: &X) -> Result<PcaFit<T>>
    where
        T: Scalar,
        X: AdjointOperator<T> + ColumnMoments<T>,
    {
        let (rows, cols) = self.check(x.shape())?;
        let moments = x.column_moments()?;
        let freedom = (rows - 1) as f64;
        let mean: Vec<f64> = if self.center { moments.mean.clone() } else { vec![0.0; cols] };
        let deviation = |square: &f64| {
            let deviation = (square / freedom).sqrt();
            if self.scale && deviation > 0.0 { deviation } else { 1.0 }
        };
        let scale: Vec<f64> = moments.squares.iter().map(deviation).collect();
        // Σ_j Var_j, or Σ_j (Var_j + n/(n−1) μ_j²) without centring, each over its scale squared
        let total: f64 = (0..cols)
            .map(|j| {
                let shift = moments.mean[j] - mean[j];
                (moments.squares[j] + rows as f64 * shift * shift) / freedom / scale[j].powi(2)
            })
            .sum();
        let narrow = |values: &[f64]| values.iter().map(|&v| T::of(v)).collect::<Vec<T>>();
        let centred = Centered::new(x, narrow(&mean))?;
        let scaled = Scaled::new(centred, narrow(&scale))?;
        let op: &dyn AdjointOperator<T> = match (self.center, self.scale) {
            (_, true) => &scaled,
            (true, false) => scaled.inner(),
            (false, false) => x,
        };
        let (eigen, method, reason) = if cols <= rows {
            let covariance = Gram::new(op).with_scale(freedom.recip())?;
            self.solver.solve(&covariance, self.plan())?
        } else {
            let outer = Gram::new(Adjoint::new(op)).with_scale(freedom.recip())?;
            let (left, method, reason) = self.solver.solve(&outer, self.plan())?;
            (right_vectors(op, left, freedom)?, method, reason)
        };
        Ok(PcaFit::new(eigen, mean, scale, total, (rows, cols), self.tolerance, (method, reason)))
    }

    fn plan(&self) -> crate::Lanczos {
        crate::Lanczos::new(self.components)
            .tolerance(self.tolerance)
            .products(self.products)
            .seed(self.seed)
    }

    fn check(&self, (rows, cols): (usize, usize)) -> Result<(usize, usize)> {
        if rows < 2 || cols == 0 {
            let (name, value) = ("rows", rows as f64);
            let need = "must be at least 2, and there must be a column: one row has no variance";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        if self.components == 0 || self.components > rows.min(cols) {
            let (name, value) = ("components", self.components as f64);
            let need = "must be at least 1 and at most the smaller side of the data";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        Ok((rows, cols))
    }
}

/// From left singular vectors to components: $V = X^T U$, orthonormalised, and the residuals of the
/// covariance itself.
fn right_vectors<T: Scalar>(
    op: &dyn AdjointOperator<T>,
    left: Eigen<T>,
    freedom: f64,
) -> Result<Eigen<T>> {
    let (cols, count) = (op.shape().1, left.values.len());
    let mut ws = Workspace::new();
    let mut v = Block::zeros(cols, count);
    op.apply_adjoint(T::one(), left.vectors.as_ref(), T::zero(), v.as_mut(), &mut ws)?;
    Orthonormalizer::new(count).orthonormalize(&mut [&mut v], &mut ws)?;
    let covariance = Gram::new(op).with_scale(freedom.recip())?;
    let mut info = left.info;
    info.passes += 0.5; // V is half a product with the covariance
    Eigen::of_span(&covariance, &v, count, info)
}
