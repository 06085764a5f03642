//! [`BlockProjection`]: the projection onto a few equations at once, as a map of the engine.

use faer::Mat;
use favard_engine::Memory;
use favard_engine::map::{Cost, Flow, StepMap};
use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Result as OperatorResult, RowOperator, Sampler, Scalar,
    Workspace, check_dim,
};

use crate::error::{ErrorKind, Result};
use crate::symmetric::symmetric_eigen;

/// $\Phi_t(x) = A_\tau^+ (A_\tau x - b_\tau)$ for a block τ of rows drawn uniformly each tick: a
/// plain step of length one solves the equations of the block.
///
/// The rows are dealt out to B blocks in turn, τ, τ + B, τ + 2B, …, so that neighbours that resemble
/// each other come to different blocks. The pseudo-inverse is $A_\tau^T (A_\tau A_\tau^T)^+$; the
/// small inverses are made when a block is first drawn and kept: m · size numbers in the end.
///
/// # Example
/// ```
/// use favard_engine::{Engine, recurrence::HeavyBall};
/// use favard_models::BlockProjection;
/// use favard_operator::{Block, Dense};
/// use ndarray::array;
/// let a = Dense::new(array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])?;
/// let b = Block::column(&[2.0, 3.0, 5.0, -1.0]);
/// let map = BlockProjection::new(&a, &b, 2, 7)?;
/// // Two independent equations of two unknowns: one step solves them.
/// let mut engine = Engine::new(map, HeavyBall::new(1.0, 0.0)?, Block::zeros(2, 1))?;
/// engine.advance()?;
/// assert!((engine.block().row(1)[0] - 3.0_f64).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BlockProjection<'a, T: Scalar, A: ?Sized> {
    op: &'a A,
    rhs: &'a Block<T>,
    blocks: usize,
    sampler: Sampler<T>,
    /// (A_τ A_τᵀ)⁺ of the blocks drawn so far.
    inverses: Vec<Option<Block<T>>>,
    /// The blocks whose inverses have been counted, one bit each: also by the run that is gone on
    /// with, whose inverses are made again.
    counted: Vec<u64>,
    draw: Batch<T>,
    rows: Vec<usize>,
    residuals: Vec<T>,
    applications: u64,
    read: u64,
}

impl<'a, T: Scalar, A: RowOperator<T> + ?Sized> BlockProjection<'a, T, A> {
    /// The map of the rows of `op` and `rhs` in blocks of `size`, drawn with a seed.
    ///
    /// # Errors
    /// When `rhs` has another number of rows, when there is no row, or when the size is 0.
    pub fn new(op: &'a A, rhs: &'a Block<T>, size: usize, seed: u64) -> Result<Self> {
        let count = op.shape().0;
        check_dim("rows of the right-hand side", count, rhs.rows())?;
        if size == 0 {
            let (name, value, need) = ("block size", 0.0, "must be at least 1");
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let blocks = count.div_ceil(size);
        Ok(Self {
            op,
            rhs,
            blocks,
            sampler: Sampler::uniform(blocks, 1, seed)?,
            inverses: vec![None; blocks],
            counted: vec![0; blocks.div_ceil(64)],
            draw: Batch::default(),
            rows: Vec::new(),
            residuals: vec![T::zero(); rhs.cols()],
            applications: 0,
            read: 0,
        })
    }

    /// B ‖A_τ x − b_τ‖² of the block used last, for each right-hand side: its expectation is
    /// $\lVert A x - b \rVert^2$.
    #[must_use]
    pub fn residuals(&self) -> &[T] {
        &self.residuals
    }

    /// (A_τ A_τᵀ)⁺, eigenvalues below sε of the largest left out.
    fn invert(&mut self, ws: &mut Workspace<T>) -> OperatorResult<Block<T>> {
        let (size, dim) = (self.rows.len(), self.op.shape().1);
        let identity = Block::from_fn(size, size, |i, j| if i == j { T::one() } else { T::zero() });
        let mut columns = ws.take(dim, size);
        let (rows, one, zero) = (&self.rows, T::one(), T::zero());
        self.op.apply_rows_adjoint(rows, one, identity.as_ref(), zero, columns.as_mut(), ws)?;
        let mut gram = Block::zeros(size, size);
        self.op.apply_rows(rows, columns.as_ref(), gram.as_mut(), ws)?;
        ws.give(columns);
        let half = T::of(0.5);
        let matrix = Mat::from_fn(size, size, |i, j| (gram.row(i)[j] + gram.row(j)[i]) * half);
        let (values, vectors) =
            symmetric_eigen(matrix.as_ref()).map_err(favard_operator::Error::external)?;
        let least = T::of_count(size) * T::EPSILON * values.first().copied().unwrap_or(zero);
        let kept = values.iter().take_while(|&&value| value > least).count();
        Ok(Block::from_fn(size, size, |i, j| {
            (0..kept).map(|p| vectors[(i, p)] * vectors[(j, p)] / values[p]).sum()
        }))
    }
}

impl<T: Scalar, A: RowOperator<T> + ?Sized> StepMap<T> for BlockProjection<'_, T, A> {
    fn name(&self) -> &'static str {
        "block projection"
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
        ws: &mut Workspace<T>,
    ) -> OperatorResult<Flow> {
        self.sampler.draw(tick, &mut self.draw);
        let block = self.draw.terms[0];
        self.rows.clear();
        self.rows.extend((block..self.op.shape().0).step_by(self.blocks));
        if self.inverses[block].is_none() {
            self.inverses[block] = Some(self.invert(ws)?);
            let (word, bit) = (&mut self.counted[block / 64], 1 << (block % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.read += 2 * self.rows.len() as u64;
            }
        }
        Ok(Flow::Continue)
    }

    fn eval(
        &mut self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        check_dim("columns of the block", self.rhs.cols(), x.cols())?;
        let missing =
            || favard_operator::Error::external("a block is evaluated before it is drawn");
        let drawn = self.draw.terms.first().and_then(|&block| self.inverses[block].as_ref());
        let inverse = drawn.ok_or_else(missing)?;
        let size = self.rows.len();
        // z ← A_τ x − b_τ
        let mut z = ws.take(size, x.cols());
        self.op.apply_rows(&self.rows, x, z.as_mut(), ws)?;
        self.residuals.fill(T::zero());
        let share = T::of_count(self.blocks);
        for (i, &row) in self.rows.iter().enumerate() {
            let sums = self.residuals.iter_mut().zip(self.rhs.row(row));
            for (z, (sum, &b)) in z.row_mut(i).iter_mut().zip(sums) {
                *z -= b;
                *sum += share * *z * *z;
            }
        }
        // u ← (A_τ A_τᵀ)⁺ z
        let mut u = ws.take(size, x.cols());
        for i in 0..size {
            for j in 0..x.cols() {
                u.row_mut(i)[j] = (0..size).map(|p| inverse.row(i)[p] * z.row(p)[j]).sum();
            }
        }
        // y ← α A_τᵀ u + γ y
        self.op.apply_rows_adjoint(&self.rows, alpha, u.as_ref(), gamma, y, ws)?;
        ws.give(z);
        ws.give(u);
        self.applications += 1;
        self.read += size as u64;
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
        let passes = self.read as f64 / self.op.shape().0.max(1) as f64;
        Cost { applications: self.applications, passes }
    }

    fn seed(&self) -> Option<u64> {
        Some(self.sampler.seed())
    }

    fn memory(&self) -> Memory<T> {
        let own = [self.blocks as u64, self.sampler.seed()];
        Memory::of(self.name()).counters(own).counters(self.counted.iter().copied())
    }

    // A count of passes times rows is a whole number below 2^53 up to rounding.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn restore(&mut self, mut memory: Memory<T>, _: u64, cost: Cost) -> favard_engine::Result<()> {
        let words = self.counted.len();
        if memory.counters.len() == 2 + words {
            self.counted = memory.counters.split_off(2);
            memory.counters.extend_from_slice(&self.counted);
        }
        memory.check_same(&self.memory())?;
        self.applications = cost.applications;
        self.read = (cost.passes * self.op.shape().0 as f64).round() as u64;
        Ok(())
    }
}
