//! [`ExtendedProjection`]: row projections of x and column projections of z, as one map of the
//! engine.

use std::ops::Range;

use favard_engine::Memory;
use favard_engine::map::{Cost, Flow, StepMap};
use favard_operator::{
    Batch, Block, BlockMut, BlockRef, Gram, LinearOperator, Result as OperatorResult, RowOperator,
    Sampler, Scalar, StochasticOperator, Workspace, check_dim,
};

use crate::error::{ErrorKind, Result};
use crate::least_squares::stochastic::Estimated;

/// The seed of the columns is that of the rows plus this: equal seeds would draw rows and columns
/// from the same numbers.
const OTHER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The extended Kaczmarz map on the stacked block $(z; x)$, of m + n rows:
///
/// $$ \Phi_t \begin{pmatrix} z \\\\ x \end{pmatrix} = \begin{pmatrix}
///    \frac\theta{s'} \sum_j A_j A_j^T z / \lVert A_j \rVert^2 \\\\
///    \frac1s \sum_i a_i (a_i^T x - b_i + z_i) / \lVert a_i \rVert^2 \end{pmatrix} $$
///
/// with s rows $a_i$ and s' columns $A_j$ drawn anew each tick by their squared norms. From
/// $(b; 0)$ the part z tends to the part of b outside of the range of A, and x to the
/// minimum-norm least-squares solution. With s = s' = θ = 1 and plain steps of length one it is
/// Zouzias and Freris' method.
///
/// In the errors $(z - b_\perp; x - x^*)$ it is linear and has no noise at the solution. Both parts
/// have the same spectrum, that of $A^T A / \lVert A \rVert_F^2$, so that one pair (ω, γ) of heavy
/// ball serves both; θ cuts the step of z when it has the smaller batch.
///
/// # Cost
/// A tick reads s rows and s' columns, $s/m + s'/n$ of a pass, and the m + n numbers of each of
/// both blocks. With as many columns as there are, z takes the exact product: one pass.
///
/// # Example
/// Three equations for one unknown that contradict each other; their mean is the answer.
/// ```
/// use favard_engine::{Engine, recurrence::HeavyBall};
/// use favard_models::ExtendedProjection;
/// use favard_operator::{Block, Dense};
/// use ndarray::array;
/// let a = array![[1.0], [1.0], [1.0]];
/// let (rows, columns) = (Dense::new(a.view())?, Dense::new(a.t())?);
/// let b = Block::column(&[1.0, 2.0, 6.0]);
/// let map = ExtendedProjection::new(&rows, &columns, &b, (1, 1), 7)?;
/// let start = map.start();
/// let mut engine = Engine::new(map, HeavyBall::new(1.0, 0.0)?, start)?;
/// engine.advance()?;
/// engine.advance()?;
/// assert!((engine.block().row(3)[0] - 3.0_f64).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Zouzias and Freris, "Randomized extended Kaczmarz for solving least squares", SIAM J. Matrix
/// Anal. Appl. 34 (2013).
#[derive(Debug)]
pub struct ExtendedProjection<'a, T: Scalar, A: ?Sized, C: ?Sized> {
    op: &'a A,
    rhs: &'a Block<T>,
    /// AAᵀ/‖A‖_F², whose terms are the columns of A.
    outer: Gram<&'a C>,
    rows: Sampler<T>,
    /// `None` when all columns are used.
    columns: Option<Sampler<T>>,
    /// 1/‖A‖_F² and θ.
    scale: T,
    theta: T,
    row_batch: Batch<T>,
    column_batch: Batch<T>,
    residuals: Vec<T>,
    ticks: u64,
}

impl<'a, T, A, C> ExtendedProjection<'a, T, A, C>
where
    T: Scalar,
    A: RowOperator<T> + ?Sized,
    C: RowOperator<T> + ?Sized,
{
    /// The map of A by its rows (`op`), A by its columns (`columns`, which is $A^T$ by its rows) and
    /// the right-hand sides, with batches of (s, s') rows and columns: at most m rows, and from
    /// s' = n on all columns.
    ///
    /// # Errors
    /// When the shapes do not fit, when a batch is empty, when all of A is zero, and when the
    /// squared norms of rows and columns do not add up to the same: then `columns` is not $A^T$.
    pub fn new(
        op: &'a A,
        columns: &'a C,
        rhs: &'a Block<T>,
        (s, s_columns): (usize, usize),
        seed: u64,
    ) -> Result<Self> {
        let (m, n) = op.shape();
        check_dim("rows of the right-hand side", m, rhs.rows())?;
        check_dim("rows of the transpose", n, columns.shape().0)?;
        check_dim("columns of the transpose", m, columns.shape().1)?;
        if s_columns == 0 {
            let (name, value, need) = ("batch of columns", 0.0, "must be at least 1");
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let total = squares(op);
        let other = squares(columns);
        // Two sums of the same mn squares, in another order: mn roundings each, at most.
        let rounding = 2.0 * T::EPSILON.as_f64() * m as f64 * n as f64;
        if (total - other).abs() > rounding.min(0.5) * total {
            let need = "as ‖Aᵀ‖² of the columns differs from that of the rows: not the transpose";
            return Err(ErrorKind::Parameter { name: "columns", value: other, need }.into());
        }
        let inner = Gram::new(op);
        let rows = Sampler::by_norm(&inner, s.min(m), seed)?;
        let outer = Gram::new(columns).with_scale(total.recip())?;
        let sampler = if s_columns < n {
            Some(Sampler::by_norm(&outer, s_columns, seed.wrapping_add(OTHER))?)
        } else {
            None
        };
        Ok(Self {
            op,
            rhs,
            outer,
            rows,
            columns: sampler,
            scale: T::of(total.recip()),
            theta: T::one(),
            row_batch: Batch::default(),
            column_batch: Batch::default(),
            residuals: vec![T::zero(); rhs.cols()],
            ticks: 0,
        })
    }

    /// θ, by which the steps of z are longer than those of x; 1 unless said otherwise.
    ///
    /// # Errors
    /// Unless it is finite and above 0.
    pub fn with_theta(mut self, theta: f64) -> Result<Self> {
        if !(theta.is_finite() && theta > 0.0) {
            let (name, need) = ("theta", "must be finite and above 0");
            return Err(ErrorKind::Parameter { name, value: theta, need }.into());
        }
        self.theta = T::of(theta);
        Ok(self)
    }

    /// The block $(b; 0)$ to start from.
    #[must_use]
    pub fn start(&self) -> Block<T> {
        let (m, cols) = self.rhs.shape();
        let entry = |i: usize, j: usize| if i < m { self.rhs.row(i)[j] } else { T::zero() };
        Block::from_fn(self.dim(), cols, entry)
    }

    /// $\sum_i w_i (a_i^T x - b_i + z_i)^2$ of the rows used last, for each right-hand side: its
    /// expectation is $\lVert A x - b + z \rVert^2$, zero at the solution.
    #[must_use]
    pub fn residuals(&self) -> &[T] {
        &self.residuals
    }

    /// The rows and the columns that were drawn last; no columns when all are used.
    #[must_use]
    pub fn drawn(&self) -> (&[usize], &[usize]) {
        (&self.row_batch.terms, &self.column_batch.terms)
    }

    /// How many rows and columns a tick takes.
    fn sizes(&self) -> (usize, usize) {
        let columns = self.columns.as_ref().map_or(self.op.shape().1, Sampler::batch_size);
        (self.rows.batch_size(), columns)
    }
}

/// The sum of the squared norms of the rows.
fn squares<T: Scalar>(op: &(impl RowOperator<T> + ?Sized)) -> f64 {
    (0..op.shape().0).map(|i| op.row_norm_squared(i).as_f64()).sum()
}

impl<T, A, C> StepMap<T> for ExtendedProjection<'_, T, A, C>
where
    T: Scalar,
    A: RowOperator<T> + ?Sized,
    C: RowOperator<T> + ?Sized,
{
    fn name(&self) -> &'static str {
        "extended projection"
    }

    fn dim(&self) -> usize {
        let (m, n) = self.op.shape();
        m + n
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
        self.rows.draw(tick, &mut self.row_batch);
        if let Some(columns) = &self.columns {
            columns.draw(tick, &mut self.column_batch);
        }
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
        let (m, dim) = (self.rhs.rows(), self.dim());
        check_dim("columns of the block", self.rhs.cols(), x.cols())?;
        check_dim("rows of the block", dim, x.rows())?;
        let (z, x) = (x.rows_range(0..m), x.rows_range(m..dim));
        // y_z ← α θ (1/s') Σ A_j A_jᵀ z / ‖A_j‖² + γ y_z
        let (factor, part) = (alpha * self.theta, y.reborrow().rows_range(0..m));
        if self.columns.is_some() {
            self.outer.apply_terms(&self.column_batch, factor, z, gamma, part, ws)?;
        } else {
            self.outer.apply(factor, z, gamma, part, ws)?;
        }
        // u ← w (A_S x − b_S + z_S)
        let Batch { terms, weights } = &self.row_batch;
        let mut u = ws.take(terms.len(), x.cols());
        self.op.apply_rows(terms, x, u.as_mut(), ws)?;
        self.residuals.fill(T::zero());
        for (i, (&row, &weight)) in terms.iter().zip(weights).enumerate() {
            let known = self.rhs.row(row).iter().zip(z.row(row));
            let sums = self.residuals.iter_mut().zip(known);
            for (u, (sum, (&b, &z))) in u.row_mut(i).iter_mut().zip(sums) {
                let residual = *u - b + z;
                *u = weight * residual;
                *sum += weight * residual * residual;
            }
        }
        // y_x ← α (1/‖A‖_F²) A_Sᵀ u + γ y_x
        let part = y.rows_range(m..dim);
        self.op.apply_rows_adjoint(terms, alpha * self.scale, u.as_ref(), gamma, part, ws)?;
        ws.give(u);
        self.ticks += 1;
        Ok(())
    }

    fn is_infallible(&self) -> bool {
        self.op.is_infallible() && self.outer.is_infallible()
    }

    /// Equations whose right-hand sides are zero stay there; others do not.
    fn stays_at_zero(&self) -> bool {
        false
    }

    fn cost(&self) -> Cost {
        let ((m, n), (s, s_columns)) = (self.op.shape(), self.sizes());
        let passes = s as f64 / m as f64 + s_columns as f64 / n as f64;
        Cost { applications: 2 * self.ticks, passes: self.ticks as f64 * passes }
    }

    fn seed(&self) -> Option<u64> {
        Some(self.rows.seed())
    }

    fn memory(&self) -> Memory<T> {
        let (s, s_columns) = self.sizes();
        let counters = [self.rows.seed(), s as u64, s_columns as u64];
        Memory::of(self.name()).scalars([self.scale, self.theta]).counters(counters)
    }

    fn restore(&mut self, memory: Memory<T>, _: u64, cost: Cost) -> favard_engine::Result<()> {
        memory.check_same(&self.memory())?;
        self.ticks = cost.applications / 2;
        Ok(())
    }
}

impl<T, A, C> Estimated<T> for ExtendedProjection<'_, T, A, C>
where
    T: Scalar,
    A: RowOperator<T> + ?Sized,
    C: RowOperator<T> + ?Sized,
{
    fn estimates(&self) -> Option<&[T]> {
        Some(self.residuals())
    }

    fn unknowns(&self) -> Range<usize> {
        self.rhs.rows()..self.dim()
    }
}
