//! [`Eigen`]: eigenpairs with their proof.

use favard_engine::{Certificate, Evidence, Info, RayleighRitz, Stop};
use favard_operator::{Block, LinearOperator, Orthonormalizer, Scalar, Workspace, ops};

use crate::error::Result;

/// Eigenpairs, largest first, with their proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen<T> {
    /// $\lambda_1 \ge \lambda_2 \ge \dots$
    pub values: Vec<T>,
    /// Orthonormal eigenvectors, one a column.
    pub vectors: Block<T>,
    /// $\lVert A v_j - \lambda_j v_j \rVert$, recomputed from the operator: there is an eigenvalue
    /// within that distance of $\lambda_j$.
    pub residuals: Vec<T>,
    /// The method, why it stopped, what it cost and what is proved: the certificate is the one for
    /// the tolerance that was asked for. Its Ritz values and residuals are those above, and after
    /// them a guard: the next pair, which was not asked for, where the solver has one.
    pub info: Info<T>,
}

impl<T: Scalar> Eigen<T> {
    /// The best pairs in the span of a block, at most `count` of them, with residuals from one more
    /// product with the operator; that product is added to the cost in `info`. The pair that
    /// follows them, if the block has one, becomes the guard. Where the columns have become
    /// dependent (the operator's rank is smaller), others take their place, for one more product.
    pub(crate) fn of_span(
        op: &(impl LinearOperator<T> + ?Sized),
        block: &Block<T>,
        count: usize,
        info: Info<T>,
    ) -> Result<Self> {
        Self::of_span_in(op, block, count, info, &mut Workspace::new())
    }

    /// The same with scratch that is there already.
    pub(crate) fn of_span_in(
        op: &(impl LinearOperator<T> + ?Sized),
        block: &Block<T>,
        count: usize,
        mut info: Info<T>,
        ws: &mut Workspace<T>,
    ) -> Result<Self> {
        let mut image = ws.take(block.rows(), block.cols());
        op.apply(T::one(), block.as_ref(), T::zero(), image.as_mut(), ws)?;
        info.applications += 1;
        info.passes += 1.0;
        let mut ritz = RayleighRitz::new(block.cols());
        ritz.compute(block.as_ref(), image.as_ref(), info.iterations, ws)?;
        let measure = ritz.measure();
        if measure.ritz.len() < count.min(block.cols()) && block.cols() <= block.rows() {
            ws.give(image);
            let mut full = block.clone();
            Orthonormalizer::new(block.cols()).orthonormalize(&mut [&mut full], ws)?;
            return Self::of_span_in(op, &full, count, info, ws);
        }
        info.ritz.clone_from(&measure.ritz);
        info.residuals.clone_from(&measure.residuals);
        // Memory that is there already.
        let mut vectors = image;
        vectors.reshape(block.rows(), measure.ritz.len());
        ritz.rotate(block.as_ref(), vectors.as_mut())?;
        let (values, residuals) = (info.ritz.clone(), info.residuals.clone());
        let mut found = Self { values, vectors, residuals, info };
        found.truncate(count);
        Ok(found)
    }

    /// Keeps the leading pairs, at most `count`; the one after them becomes the guard.
    pub(crate) fn truncate(&mut self, count: usize) {
        if count < self.values.len() {
            self.values.truncate(count);
            self.residuals.truncate(count);
            self.vectors = self.vectors.as_ref().cols_range(0..count).to_owned();
        }
        let kept = self.values.len() + 1;
        self.info.ritz.truncate(kept);
        self.info.residuals.truncate(kept);
    }

    /// The residuals anew, from one product with the operator, which is added to the cost; the
    /// guard keeps its own. A run that had converged and whose residuals do not meet the tolerance,
    /// or rounding, has not.
    ///
    /// # Errors
    /// When the operator fails or gives a non-finite number.
    pub(crate) fn recompute(
        &mut self,
        op: &(impl LinearOperator<T> + ?Sized),
        tolerance: f64,
    ) -> Result<()> {
        let (v, mut ws) = (self.vectors.as_ref(), Workspace::new());
        // ‖A v − λ v‖
        let mut image = ws.take(v.rows(), v.cols());
        op.apply(T::one(), v, T::zero(), image.as_mut(), &mut ws)?;
        ops::residual_norms(v, &self.values, image.as_mut(), &mut self.residuals, &mut ws)?;
        if self.residuals.iter().any(|residual| !residual.is_finite())
            && let Some((row, column)) = ops::find_non_finite(image.as_ref())
        {
            let (what, value) = ("product of the operator", image.row(row)[column].as_f64());
            let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
        self.info.residuals[..self.residuals.len()].copy_from_slice(&self.residuals);
        self.info.applications += 1;
        self.info.passes += 1.0;
        self.keep_word(tolerance);
        Ok(())
    }

    /// From the pairs of `factor` times an operator to its own.
    pub(crate) fn divide(&mut self, factor: T) {
        let Info { ritz, residuals, history, .. } = &mut self.info;
        let lists = [&mut self.values, &mut self.residuals, ritz, residuals];
        lists.into_iter().flatten().for_each(|value| *value /= factor);
        for record in history {
            record.ritz /= factor;
            record.residual /= factor;
        }
    }

    /// What an iteration promised, the recomputed residuals must keep, up to rounding.
    pub(crate) fn keep_word(&mut self, tolerance: f64) {
        let rounding = T::EPSILON.as_f64() * self.vectors.rows() as f64;
        if self.info.stop == Stop::Converged && !self.meets(tolerance.max(rounding)) {
            self.info.stop = Stop::Stagnated;
        }
    }

    /// The same with its certificate in `info`, when `wanted` pairs were asked for to a tolerance.
    pub(crate) fn proved(mut self, tolerance: f64, wanted: usize) -> Self {
        self.info.certificate = self.certify(tolerance, wanted, None);
        self
    }

    /// The guard and its residual.
    pub(crate) fn guard(&self) -> Option<(T, T)> {
        let next = self.values.len();
        self.info.ritz.get(next).copied().zip(self.info.residuals.get(next).copied())
    }

    /// Whether the vectors are orthonormal but for rounding.
    pub(crate) fn is_orthonormal(&self) -> bool {
        let (dim, count) = self.vectors.shape();
        orthogonality(&self.vectors) <= 0.5 * orthogonality_rounding::<T>(dim, count)
    }

    /// Whether every residual is at most `tolerance` times the largest value.
    pub(crate) fn meets(&self, tolerance: f64) -> bool {
        let scale = self.values.iter().fold(0.0_f64, |m, value| m.max(value.abs().as_f64()));
        self.residuals.iter().all(|r| r.as_f64() <= tolerance * scale)
    }

    /// How much rounding can change a residual: $8 \epsilon \sqrt{n} \lambda_1$.
    pub(crate) fn rounding(&self) -> f64 {
        let largest = self.values.iter().fold(0.0_f64, |m, value| m.max(value.as_f64().abs()));
        8.0 * T::EPSILON.as_f64() * (self.vectors.rows() as f64).sqrt() * largest
    }

    /// What the residuals prove, and whether they meet a tolerance relative to the largest value,
    /// which may be another one than was asked for. Costs one product of the vectors with
    /// themselves, and none with the operator.
    ///
    /// # Example
    /// ```
    /// use favard_models::Lanczos;
    /// use favard_operator::Diagonal;
    /// let op = Diagonal::new((0..500).map(|i| 1.0 / (1.0 + f64::from(i / 2))).collect())?;
    /// let found = Lanczos::new(4).tolerance(1e-9).solve(&op)?; // 1, 1, 1/2, 1/2
    /// assert!(found.info.certificate.is_certified() && !found.certificate(1e-20).is_certified());
    /// assert_eq!(found.info.certificate.clusters()[0].range, 0..2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn certificate(&self, tolerance: f64) -> Certificate {
        self.certify(tolerance, self.values.len(), None)
    }

    /// The same when `wanted` pairs were asked for, and no eigenvalue left out exceeds `rest`.
    pub(crate) fn certify(&self, tolerance: f64, wanted: usize, rest: Option<f64>) -> Certificate {
        let wide = |values: &[T]| values.iter().map(|value| value.as_f64()).collect::<Vec<f64>>();
        let (dim, count) = self.vectors.shape();
        let rounding = self.rounding();
        let guard = if count == dim {
            Some(f64::NEG_INFINITY)
        } else {
            self.guard().map(|(value, residual)| value.as_f64() + residual.as_f64() + rounding)
        };
        Certificate::new(&Evidence {
            values: &wide(&self.values),
            residuals: &wide(&self.residuals),
            rounding,
            guard,
            rest,
            orthogonality: orthogonality(&self.vectors),
            orthogonality_rounding: orthogonality_rounding::<T>(dim, count),
            tolerance,
            wanted,
        })
    }
}

/// What rounding makes of ‖VᵀV − I‖: a column of n numbers, normalised and projected: √n ε each, k² products
/// of them.
fn orthogonality_rounding<T: Scalar>(dim: usize, count: usize) -> f64 {
    8.0 * T::EPSILON.as_f64() * count as f64 * (dim as f64).sqrt()
}

/// ‖VᵀV − I‖_F.
fn orthogonality<T: Scalar>(vectors: &Block<T>) -> f64 {
    let count = vectors.cols();
    let mut gram = Block::zeros(count, count);
    let v = vectors.as_ref();
    if ops::cross(v, v, gram.as_mut(), &mut Workspace::new()).is_err() {
        return f64::INFINITY;
    }
    let entry = |i: usize, j: usize| gram.row(i)[j].as_f64() - if i == j { 1.0 } else { 0.0 };
    let pairs = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
    pairs.map(|(i, j)| entry(i, j).powi(2)).sum::<f64>().sqrt()
}
