//! The randomized extended Kaczmarz method: rows and columns, for inconsistent systems.

use std::ops::ControlFlow;

use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, Record, Stop};
use favard_operator::{Block, RowOperator, Scalar, Workspace, check_dim};

use super::{ExtendedProjection, KACZMARZ, Kaczmarz, Rows, in_parts};
use crate::Checkpoints;
use crate::checkpoint::Keeper;
use crate::error::Result;
use crate::least_squares::Solution;
use crate::least_squares::monitor::{Monitor, Watch};
use crate::least_squares::plan::{GAIN, Plan};
use crate::least_squares::problem::check_rhs;
use crate::least_squares::state::{Kept, Prelude};
use crate::least_squares::stochastic::{self, Ended};

impl Kaczmarz {
    /// Solves an inconsistent system by the extended method: projections of x onto rows, and of z
    /// onto the complements of columns, which takes the part of b outside of the range away
    /// ([`ExtendedProjection`]). The minimum-norm least-squares solution comes out.
    ///
    /// `columns` is $A^T$ by its rows: `Dense::new(array.t())` for an array, without a copy;
    /// [`Csr::transposed`](favard_operator::Csr::transposed) for a sparse matrix, which is a second
    /// copy of it, 12 bytes an entry in `f64` and 8 a column. No other method needs it, so none is
    /// made unless the caller does.
    ///
    /// A step uses [`batch`](Kaczmarz::batch) rows and as many columns, at most all. With z exact
    /// (few columns) a step takes a pass, and [`LeastSquares`](crate::LeastSquares) or
    /// [`inconsistent(true)`](Kaczmarz::inconsistent) is faster; the method is for matrices with
    /// many rows and many columns. Blocks are not projected onto here: `blocks(s)` is `batch(s)`.
    ///
    /// # Errors
    /// Those of [`solve`](Kaczmarz::solve), and `columns` that cannot be the transpose.
    ///
    /// # Example
    /// ```
    /// use favard_models::Kaczmarz;
    /// use favard_operator::{Block, Csr};
    /// // Every unknown is measured six times, with errors.
    /// let a = Csr::new((60, 10), (0..=60).collect::<Vec<_>>(), (0..60).map(|i| i % 10).collect::<Vec<_>>(), vec![1.0; 60])?;
    /// let b = Block::from_fn(60, 1, |i, _| (i % 10) as f64 + if i < 30 { 0.5 } else { -0.5 });
    /// let found = Kaczmarz::new().batch(4).solve_extended(&a, &a.transposed(), &b)?;
    /// assert!(found.is_certified());
    /// assert!((found.x.row(7)[0] - 7.0_f64).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_extended<T, A, C>(&self, a: &A, columns: &C, rhs: &Block<T>) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
        C: RowOperator<T>,
    {
        self.solve_extended_watched(a, columns, rhs, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`solve_extended`](Self::solve_extended), with a callback after every window of steps
    /// that can stop it; its residual is $\lVert A x - b + z \rVert / \lVert b \rVert$ estimated from
    /// the batches.
    ///
    /// # Errors
    /// Those of [`solve_extended`](Self::solve_extended).
    pub fn solve_extended_watched<T, A, C>(
        &self,
        a: &A,
        columns: &C,
        rhs: &Block<T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
        C: RowOperator<T>,
    {
        self.extend_kept(a, columns, rhs, Keeper::default(), watch)
    }

    /// As [`solve_extended_watched`](Self::solve_extended_watched), saved as it goes, or taken up
    /// where it was saved: see [`solve_saved`](Self::solve_saved).
    ///
    /// # Errors
    /// Those of [`solve_extended`](Self::solve_extended), and those of the files.
    pub fn solve_extended_saved<T, A, C>(
        &self,
        a: &A,
        columns: &C,
        rhs: &Block<T>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
        C: RowOperator<T>,
    {
        self.extend_kept(a, columns, rhs, Keeper::open::<T>(checkpoints, KACZMARZ)?, watch)
    }

    fn extend_kept<T, A, C>(
        &self,
        a: &A,
        columns: &C,
        rhs: &Block<T>,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
        C: RowOperator<T>,
    {
        self.check()?;
        check_rhs(a.shape(), rhs)?;
        check_dim("rows of the transpose", a.shape().1, columns.shape().0)?;
        check_dim("columns of the transpose", a.shape().0, columns.shape().1)?;
        let rows = Rows::look(a, rhs)?;
        self.mark("extended", &a, rhs, &rows, &mut keeper)?;
        if rows.total == 0.0 {
            return self.solve_zero(a, rhs, &rows, watch);
        }
        in_parts(a.shape().1, rhs, keeper, &mut |part, keeper| {
            self.extend((a, columns), part, &rows, keeper, watch)
        })
    }

    fn extend<T: Scalar>(
        &self,
        (op, columns): (&dyn RowOperator<T>, &dyn RowOperator<T>),
        rhs: &Block<T>,
        rows: &Rows,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let kept = Kept::of(&mut keeper)?;
        let (count, dim) = op.shape();
        let s = self.batch.min(count);
        let ones = vec![T::one(); dim];
        let (system, norm) = self.system(&op, rhs, &ones, rows);
        let mut ws = Workspace::new();
        let mut monitor = Monitor::new(&system, norm, watch, &mut ws)?;
        monitor.keeper = keeper;
        // The norms of the rows and of the columns take a pass each.
        monitor.count(0, 2.0);
        let ends = self.ends(op, rows, kept.as_ref(), &mut monitor)?;
        // Rows and columns of length one: R² = 1. Without noise (all columns) the step is Polyak's.
        let s_columns = s.min(dim);
        let noise = if s_columns < dim { s_columns } else { usize::MAX };
        let plan = Plan::new(self.momentum, &ends, 1.0, s, GAIN)?;
        let other = Plan::new(self.momentum, &ends, 1.0, noise, GAIN)?;
        let ball = HeavyBall::new(T::of(plan.step), T::of(plan.gamma))?;
        let map = ExtendedProjection::new(op, columns, rhs, (s, s_columns), self.seed)?
            .with_theta(other.step / plan.step)?;
        let start = map.start();
        let mut engine = Engine::new(map, ball, start)?;
        let prelude = Prelude { ends: Some(ends), reason: String::new() };
        let ended = stochastic::run(
            &mut engine,
            &mut monitor,
            (s, plan.warm_up()),
            (kept, &prelude),
            &mut ws,
        )?;
        let x = engine.block().as_ref().rows_range(rhs.rows()..rhs.rows() + dim).to_owned();
        let mut reason = format!(
            "extended Kaczmarz, batches of {s} rows and {s_columns} columns; {}",
            plan.remark(s)
        );
        if ended.diverged {
            reason.push_str("; it diverged: the bounds of the spectrum do not fit");
        }
        let Ended { stop, ticks, checked, .. } = ended;
        let intercept = vec![T::zero(); rhs.cols()];
        let why = ("Kaczmarz, extended", reason);
        let mut found = Solution::of_check(x, intercept, stop, checked, &mut monitor, why);
        (found.spectrum, found.info.seed) = (Some((ends.low, ends.high)), Some(self.seed));
        found.info.iterations = ticks;
        Ok(found)
    }
}
