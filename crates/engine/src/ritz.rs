//! [`RayleighRitz`]: the best eigenpairs in the span of a block.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::{Mat, Par};
use favard_operator::{Block, BlockMut, BlockRef, Scalar, Workspace, ops, small};

use crate::error::{ErrorKind, Result};
use crate::info::Measure;

/// The Rayleigh–Ritz step for a symmetric operator: from a block $F$ and its image $A F$ the pairs
/// $(\theta_j, v_j)$ with $v_j = F w_j$ in the span of $F$, orthonormal, and
/// $v_i^T A v_j = \theta_j \delta_{ij}$.
///
/// The block need not be orthonormal. Directions that its columns no longer resolve (eigenvalues of
/// the scaled Gram matrix below kε of the largest) are dropped, so there may be fewer pairs than
/// columns. Cost: two products of the block with itself, two with a k × k matrix, O(k³).
///
/// # Example
/// ```
/// use favard_engine::RayleighRitz;
/// use favard_operator::{Block, Workspace};
/// let f = Block::column(&[3.0_f64, 4.0]);
/// let image = Block::column(&[6.0, 4.0]); // A = diag(2, 1)
/// let mut ritz = RayleighRitz::new(1);
/// ritz.compute(f.as_ref(), image.as_ref(), 0, &mut Workspace::new())?;
/// assert!((ritz.measure().ritz[0] - 34.0 / 25.0_f64).abs() < 1e-15);
/// # Ok::<(), favard_engine::Error>(())
/// ```
pub struct RayleighRitz<T> {
    measure: Measure<T>,
    rotation: Block<T>,
    gram: Block<T>,
    cross: Block<T>,
    vectors: Mat<T>,
    values: Vec<T>,
    small: Mat<T>,
    scratch: MemBuffer,
}

impl<T: std::fmt::Debug> std::fmt::Debug for RayleighRitz<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RayleighRitz").field("measure", &self.measure).finish_non_exhaustive()
    }
}

impl<T: Scalar> RayleighRitz<T> {
    /// For blocks of `cols` columns.
    #[must_use]
    pub fn new(cols: usize) -> Self {
        let request = small::symmetric_eigen_scratch::<T>(cols, Par::Seq);
        Self {
            measure: Measure {
                ritz: Vec::with_capacity(cols),
                residuals: Vec::with_capacity(cols),
            },
            rotation: Block::zeros(cols, cols),
            gram: Block::zeros(cols, cols),
            cross: Block::zeros(cols, cols),
            vectors: Mat::zeros(cols, cols),
            values: vec![T::zero(); cols],
            small: Mat::zeros(cols, cols),
            scratch: MemBuffer::new(request),
        }
    }

    /// The values and residuals of the last computation.
    #[must_use]
    pub fn measure(&self) -> &Measure<T> {
        &self.measure
    }

    /// Eigenpairs of the symmetric matrix in the leading `size` rows of `small`, ascending, into
    /// `values` and `vectors`.
    fn eigen(&mut self, size: usize, tick: u64) -> Result<()> {
        let matrix = self.small.as_ref().submatrix(0, 0, size, size);
        let vectors = self.vectors.as_mut().submatrix_mut(0, 0, size, size);
        let (values, stack) = (&mut self.values[..size], MemStack::new(&mut self.scratch));
        small::symmetric_eigen(matrix, values, vectors, Par::Seq, stack)
            .map_err(|_| ErrorKind::Ritz { tick, cols: size }.into())
    }

    /// Computes the pairs and their residuals; `tick` only names the step in an error.
    ///
    /// # Errors
    /// When the shapes differ, when an entry is not finite, or when the small eigenproblem does not
    /// converge.
    pub fn compute(
        &mut self,
        f: BlockRef<'_, T>,
        image: BlockRef<'_, T>,
        tick: u64,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        let cols = self.gram.cols();
        ops::cross(f, f, self.gram.as_mut(), ws)?;
        ops::cross(f, image, self.cross.as_mut(), ws)?;
        let bad = |block: &Block<T>| ops::find_non_finite(block.as_ref());
        if let Some((_, column)) = bad(&self.gram).or_else(|| bad(&self.cross)) {
            let find = |block| ops::find_non_finite(block).map(|(row, _)| row);
            let row = find(image).or_else(|| find(f)).unwrap_or(0);
            return Err(ErrorKind::NonFinite { tick, row, column }.into());
        }
        // C = D⁻¹ (FᵀF) D⁻¹ = V Λ Vᵀ with D the lengths of the columns
        let length = |gram: &Block<T>, j: usize| {
            let length = gram.row(j)[j].sqrt();
            if length > T::zero() { length } else { T::one() }
        };
        for i in 0..cols {
            for j in 0..cols {
                let lengths = length(&self.gram, i) * length(&self.gram, j);
                self.small[(i, j)] = self.gram.row(i.max(j))[i.min(j)] / lengths;
            }
        }
        self.eigen(cols, tick)?;
        // S = D⁻¹ V Λ^{-1/2} over the eigenvalues that stand above rounding: SᵀFᵀFS = I
        let largest = self.values.last().copied().unwrap_or(T::zero());
        let least = T::of_count(cols) * T::EPSILON * largest;
        let first = self.values.iter().take_while(|&&value| value <= least).count();
        let rank = cols - first;
        self.rotation.fill(T::zero());
        for i in 0..cols {
            let own = length(&self.gram, i);
            for j in 0..rank {
                let value = self.values[first + j];
                self.rotation.row_mut(i)[j] = self.vectors[(i, first + j)] / own / value.sqrt();
            }
        }
        // G ← H S with H = FᵀAF, made symmetric; T = Sᵀ G = Z Θ Zᵀ
        for i in 0..cols {
            for q in 0..rank {
                let h = |j: usize| (self.cross.row(i)[j] + self.cross.row(j)[i]) * T::of(0.5);
                self.gram.row_mut(i)[q] = (0..cols).map(|j| h(j) * self.rotation.row(j)[q]).sum();
            }
        }
        for p in 0..rank {
            for q in 0..=p {
                let sum = (0..cols).map(|i| self.rotation.row(i)[p] * self.gram.row(i)[q]).sum();
                self.small[(p, q)] = sum;
                self.small[(q, p)] = sum;
            }
        }
        self.eigen(rank, tick)?;
        // W = S Z, columns in descending order of θ
        self.measure.ritz.clear();
        self.measure.ritz.extend(self.values[..rank].iter().rev());
        self.gram.assign(self.rotation.as_ref())?;
        self.rotation.fill(T::zero());
        for i in 0..cols {
            for j in 0..rank {
                let z = rank - 1 - j;
                self.rotation.row_mut(i)[j] =
                    (0..rank).map(|p| self.gram.row(i)[p] * self.vectors[(p, z)]).sum();
            }
        }
        self.residuals(f, image, ws)
    }

    /// ‖A F w − θ F w‖ for each pair.
    fn residuals(
        &mut self,
        f: BlockRef<'_, T>,
        image: BlockRef<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        let rank = self.measure.ritz.len();
        let mut residual = ws.take(f.rows(), rank);
        let w = self.rotation.as_ref().cols_range(0..rank);
        // R ← F W, R ← −R Θ, R ← A F W + R
        ops::right_multiply(T::one(), f, w, T::zero(), residual.as_mut())?;
        for theta in &mut self.measure.ritz {
            *theta = -*theta;
        }
        ops::scale_columns(&self.measure.ritz, residual.as_mut())?;
        for theta in &mut self.measure.ritz {
            *theta = -*theta;
        }
        ops::right_multiply(T::one(), image, w, T::one(), residual.as_mut())?;
        self.measure.residuals.clear();
        self.measure.residuals.resize(rank, T::zero());
        ops::column_norms(residual.as_ref(), &mut self.measure.residuals, ws)?;
        ws.give(residual);
        Ok(())
    }

    /// y ← F W: the Ritz vectors of the last computation, one for each value in its
    /// [`measure`](Self::measure), from the block it was given (or the images from the image).
    ///
    /// # Errors
    /// When `y` does not have as many rows as `f` and as many columns as there are values.
    pub fn rotate(&self, f: BlockRef<'_, T>, y: BlockMut<'_, T>) -> Result<()> {
        let w = self.rotation.as_ref().cols_range(0..self.measure.ritz.len());
        Ok(ops::right_multiply(T::one(), f, w, T::zero(), y)?)
    }
}
