//! [`RowGradient`]: the gradient of a few equations, as a map of the engine.

use favard_engine::Memory;
use favard_engine::map::{Cost, Draw, Flow, StepMap};
use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Result as OperatorResult, RowOperator, Scalar, Workspace,
    check_dim, ops,
};

use crate::error::{ErrorKind, Result};

/// $\Phi_t(x) = c \sum_j w_j a_{t_j} (a_{t_j}^T x - b_{t_j}) + \mu x$ over a batch of rows drawn
/// anew each tick.
///
/// With $c = 1/m$ and uniform rows it is the mini-batch gradient of
/// $\frac{1}{2m} \lVert A x - b \rVert^2 + \frac\mu2 \lVert x \rVert^2$; with
/// $c = 1/\lVert A \rVert_F^2$ and rows drawn by their squared norms it is the averaged Kaczmarz
/// step $\frac1s \sum_j a_j (a_j^T x - b_j) / \lVert a_j \rVert^2$. In the error $e = x - x^*$ of a
/// consistent system it is linear, $\Phi_t(x) = H_t e$, with the same batch on both sides: unlike
/// [`Affine`](favard_engine::map::Affine) around a mini-batch, it has no noise at the solution.
///
/// A tick costs s/m of a pass.
///
/// # Example
/// Mini-batch heavy ball on four consistent equations:
/// ```
/// use favard_engine::{Engine, recurrence::HeavyBall};
/// use favard_models::least_squares::RowGradient;
/// use favard_operator::{Block, Dense, Sampler};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])?;
/// let b = Block::column(&[2.0, 3.0, 5.0, -1.0]);
/// let map = RowGradient::new(&a, &b, 0.25, 0.0, Sampler::uniform(4, 2, 7)?)?;
/// let mut engine = Engine::new(map, HeavyBall::new(0.7, 0.1)?, Block::zeros(2, 1))?;
/// for _ in 0..200 {
///     engine.advance()?;
/// }
/// assert!((engine.block().row(1)[0] - 3.0_f64).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RowGradient<'a, T: Scalar, A: ?Sized, S> {
    op: &'a A,
    rhs: &'a Block<T>,
    scale: T,
    shift: T,
    sampler: S,
    batch: Batch<T>,
    residuals: Vec<T>,
    applications: u64,
    rows: u64,
}

impl<'a, T: Scalar, A: RowOperator<T> + ?Sized, S: Draw<T>> RowGradient<'a, T, A, S> {
    /// The map of the rows of `op` and `rhs`, the factor c = `scale`, μ = `shift`, and a source of
    /// batches of rows.
    ///
    /// # Errors
    /// When `rhs` has another number of rows, or a factor is not finite.
    pub fn new(op: &'a A, rhs: &'a Block<T>, scale: T, shift: T, sampler: S) -> Result<Self> {
        check_dim("rows of the right-hand side", op.shape().0, rhs.rows())?;
        for (name, value) in [("scale", scale), ("shift", shift)] {
            if !value.is_finite() {
                let (value, need) = (value.as_f64(), "must be finite");
                return Err(ErrorKind::Parameter { name, value, need }.into());
            }
        }
        let (batch, residuals) = (Batch::default(), vec![T::zero(); rhs.cols()]);
        Ok(Self { op, rhs, scale, shift, sampler, batch, residuals, applications: 0, rows: 0 })
    }

    /// $\sum_j w_j (a_{t_j}^T x - b_{t_j})^2$ of the batch used last, for each right-hand side: its
    /// expectation is $\lVert A x - b \rVert^2$.
    pub fn residuals(&self) -> &[T] {
        &self.residuals
    }

    /// Rows read so far.
    pub fn rows_read(&self) -> u64 {
        self.rows
    }
}

impl<T: Scalar, A: RowOperator<T> + ?Sized, S: Draw<T>> StepMap<T> for RowGradient<'_, T, A, S> {
    fn name(&self) -> &'static str {
        "row gradient"
    }

    fn dim(&self) -> usize {
        self.op.shape().1
    }

    fn cols(&self) -> Option<usize> {
        Some(self.rhs.cols())
    }

    fn prepare(
        &mut self,
        tick: u64,
        _: &mut Block<T>,
        _: &mut Workspace<T>,
    ) -> OperatorResult<Flow> {
        self.sampler.draw(tick, &mut self.batch);
        self.batch.check(self.op.shape().0)?;
        Ok(Flow::Continue)
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        check_dim("columns of the block", self.rhs.cols(), x.cols())?;
        let Batch { terms, weights } = &self.batch;
        // z ← A_S x
        let mut z = ws.take(terms.len(), x.cols());
        self.op.apply_rows(terms, x, z.as_mut(), ws)?;
        self.residuals.fill(T::zero());
        for (i, (&row, &weight)) in terms.iter().zip(weights).enumerate() {
            let sums = self.residuals.iter_mut().zip(self.rhs.row(row));
            for (z, (sum, &b)) in z.row_mut(i).iter_mut().zip(sums) {
                // z ← w (z − b)
                let residual = *z - b;
                *z = weight * residual;
                *sum += weight * residual * residual;
            }
        }
        // y ← α c A_Sᵀ z + γ y + α μ x
        let (op, factor) = (self.op, alpha * self.scale);
        op.apply_rows_adjoint(terms, factor, z.as_ref(), gamma, y.reborrow(), ws)?;
        if self.shift != T::zero() {
            ops::axpby(alpha * self.shift, x, T::one(), y)?;
        }
        self.applications += 1;
        self.rows += terms.len() as u64;
        ws.give(z);
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.op.is_infallible()
    }

    /// Equations whose right-hand sides are zero stay there; others do not.
    fn stays_at_zero(&self) -> bool {
        false
    }

    fn cost(&self) -> Cost {
        let passes = self.rows as f64 / self.op.shape().0.max(1) as f64;
        Cost { applications: self.applications, passes }
    }

    fn seed(&self) -> Option<u64> {
        self.sampler.seed()
    }

    fn memory(&self) -> Memory<T> {
        Memory::of(self.name()).scalars([self.scale, self.shift]).counters(self.sampler.seed())
    }

    // A count of passes times rows is a whole number below 2^53 up to rounding.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> favard_engine::Result<()> {
        memory.check_same(&self.memory())?;
        self.applications = cost.applications;
        self.rows = (cost.passes * self.op.shape().0 as f64).round() as u64;
        Ok(())
    }
}
